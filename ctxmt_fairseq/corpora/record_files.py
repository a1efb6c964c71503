"""Reads records, values by name, from text in columns, JSON lines or Parquet, told by their content."""

import itertools
from typing import Any, Dict, Iterator, Sequence, Tuple, Union

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.file_kinds import hint
from ctxmt_fairseq.text.compressed import as_damage
from ctxmt_fairseq.text.json_files import Place, parse_json
from ctxmt_fairseq.text.text_lines import PathLike, is_text, open_text, stream_lines

Record = Dict[str, Any]  # {}: the line is blank
COLUMNS = [str(number) for number in range(1, 1000)]
_LARGEST_GROUP = 2**31  # bytes of Parquet's rows that are decompressed together


def read_records(
    path: PathLike, names: Sequence[str], skip: bool = False
) -> Iterator[Tuple[Place, Union[Record, BadInput]]]:
    """Yield each record with its place, or what is wrong with it; ``skip`` reads on behind a line that is no
    text. If the names of what is read (``value_of``) are numbers, the columns of text are counted from 1;
    otherwise its first line names them."""
    with open_text(path) as stream:
        try:
            head = stream.peek(1000)[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()  # type: ignore[attr-defined]
        except Exception as error:
            raise as_damage(error, path) from None
        if head.startswith(b"PAR1"):
            yield from _parquet(stream, path, names)
            return
        if found := hint(head, "records"):
            raise BadInput(found, path)
        lines = enumerate(stream_lines(stream, path, skip), 1)
        counted = all(name.replace("+", "").isdecimal() or name.startswith("=") for name in names)
        objects = head.startswith((b"{", b"[")) and not counted
        columns = COLUMNS if counted or objects else next(lines, (1, ""))[1].split("\t")
        for name in itertools.chain(names, *(each.split("+") for each in names)):
            if columns.count(name) > 1:
                raise BadInput(f"two columns have the name {name!r}", path, 1)
        for number, line in lines:
            place = Place(path, number)
            if not is_text(line):
                yield place, place.error("expected UTF-8 text")
            elif not line.strip():
                yield place, {}
            elif objects:
                yield place, _object(line, place)
            else:
                values = line.split("\t")
                many = not counted and any(map(str.strip, values[len(columns) :]))
                message = f"expected the {len(columns)} columns of the first line, found {len(values)}"
                yield place, place.error(message) if many else dict(zip(columns, values))  # noqa: B905


def _object(line: str, place: Place) -> Union[Record, BadInput]:
    try:
        record = parse_json(line, str(place.path), place.line)
    except BadInput as error:
        return error
    return record if isinstance(record, dict) and record else place.error("expected a JSON object with names")


def _parquet(stream: Any, path: PathLike, names: Sequence[str]) -> Iterator[Tuple[Place, Record]]:
    parquet = import_of_extra("pyarrow.parquet", "corpora", f"{path}: Parquet needs the package pyarrow")
    try:
        file = parquet.ParquetFile(stream)
        found, groups = file.schema_arrow.names, range(file.metadata.num_row_groups)
        parts = {part for name in names for part in (name, *name.split("+"))}
        used = {*parts, *(part.partition(".")[0] for part in parts)} & set(found)
        large = max((file.metadata.row_group(group).total_byte_size for group in groups), default=0)
        if large > _LARGEST_GROUP or not used:
            few = f"expected some of {', '.join(names)}, found {', '.join(found)}"
            raise BadInput(few if not used else f"expected groups of at most {_LARGEST_GROUP} bytes", path)
        batches = file.iter_batches(1000, columns=sorted(used))
        for number, record in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            yield Place(path, number), record
    except BadInput:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError, KeyError) as error:  # pyarrow's, and UTF-8
        raise BadInput(f"damaged: {error}", path) from None


def value_of(record: Record, name: str, place: Place) -> Any:
    """The value of a name, which must be there; None: it is null. ``A+B`` joins the texts of two, ``A.B``
    leads into objects, in which nothing need be, and ``=TEXT`` is the text itself."""
    if name in record or name.startswith("="):
        return record.get(name, name[1:])
    if "+" in name:
        return " ".join(text_of(value_of(record, part, place), place) for part in name.split("+"))
    first, *inner = name.split(".")
    if not inner:
        found = ", ".join(repr(each)[:60] for each in itertools.islice(record, 20))
        raise place.error(f"expected {name!r}, found {found}")
    value = record.get(first)
    for key in inner:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_of(value: Any, place: Place) -> str:
    """The text of a value, on one or several lines; that of null is empty."""
    if not isinstance(value, (str, int, float, type(None))):
        raise place.error(f"expected text, found {str(value)[:60]}")
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
