"""Records: text in columns, JSON lines or Parquet, compressed or not, told by their content.

--fields says where source and target (or the languages by name), document and any metadata are. A column of
text has its number, from 1, or the name that the first line gives it; a value in JSON or Parquet has a name,
with dots into objects (refs.refA.ref). document=1+2 joins two values, and formality==formal is the same for
all. What is in source_context and target_context becomes lines before the record's that are only context;
records whose source_language or target_language is another one are left out; where languages (en-fr) has
both, the sides are exchanged as it says.

A document is a run of records with one id, which a blank line ends. Without document every record is one,
or, with --blank-lines, what is between blank lines. A record with lists of sentences is a document, too, and
so is one with several lines if --split-lines. links are objects with src and tgt, lists of source_ids and
target_ids that translate each other; sentences without links are context. With --beside every file is a
column of its own.

--preset gives options for a public corpus; those on the command line come first. It exchanges the sides of a
file in whose name the other language is the first (news.de-en.tsv).

Examples:
  ctxmt corpus records en-cs.raw.gz --fields document=1+2 source=3 target=4 --source-lang en \\
      --target-lang cs --out text/crawl
  ctxmt corpus records en-de_DE.jsonl --preset wmt24pp --source-lang en --target-lang de --out text/wmt24pp
"""

import itertools
import operator
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import yaml

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, skip_broken
from ctxmt_fairseq.corpora.formats.language_codes import matching
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.corpora.record_files import COLUMNS, Record, read_records, text_of, value_of
from ctxmt_fairseq.text.json_files import Place, get
from ctxmt_fairseq.text.metadata_text import single_spaces, texts_by_field
from ctxmt_fairseq.text.text_lines import is_text, iterate_lines, together

PRESETS: Dict[str, Dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("presets.yaml").read_bytes())
_SIDES = ("source", "target")
Found = Union[Record, BadInput]


class Row(NamedTuple):
    """A record's lines (source, target, whether it is more than context), or why it is left out; whether the
    document has no id but a number."""

    document: str
    lines: Sequence[Tuple[Any, ...]] = ()
    metadata: Mapping[str, str] = {}
    left_out: str = ""
    error: object = ""
    numbered: bool = False


class Records(NewCorpus):
    files: List[Input] = argument("FILE", "read one after the other")
    beside: List[Input] = option("files whose lines stand beside those of FILE", [])
    preset: Optional[str] = option(f"a public corpus: {', '.join(PRESETS)}", metavar="NAME")
    fields: List[str] = option("where what is", [], metavar="NAME=PLACE")
    blank_lines: bool = option("a blank line ends a document")
    split_lines: bool = option("the lines of a text are sentences, and its record is a document")
    separator: Optional[str] = option("what stands behind each sentence of context within a text")
    alternatives: Optional[str] = option("what stands between several contexts, of which the first is taken")
    leave_out: List[str] = option("leave out records with these values", [], metavar="PLACE=VALUE")
    skip_broken: bool = skip_broken("records")

    def parts(self) -> Iterator[Part]:
        if self.preset is not None and self.preset not in PRESETS:
            raise BadInput(f"--preset: expected one of {', '.join(PRESETS)}, found {self.preset}")
        if self.beside and len(self.files) > 1:
            raise BadInput(f"--beside: expected one FILE, found {len(self.files)}")
        for each in self.leave_out:
            if "=" not in each:
                raise BadInput(f"--leave-out: expected PLACE=VALUE, found {each}")
        preset = {**PRESETS.get(self.preset or "", {})}
        fields = _by_name(preset.pop("fields", "").format(*self.languages).split())
        known = self.changed(**{name: value for name, value in preset.items() if not getattr(self, name)})
        by = operator.attrgetter("document", "numbered")
        for (name, _), group in itertools.groupby(known._rows(fields), key=by):
            builder = DocumentBuilder(name, Account())
            for row in group:
                for source, target, current in row.lines:
                    builder.add(source, target, row.metadata, current)
                if row.left_out:
                    builder.leave_out(row.left_out, error=row.error)
            yield builder.part()

    def _rows(self, preset: Dict[str, str]) -> Iterator[Row]:
        reverse = re.compile(rf"(?<![a-z]){re.escape('-'.join(reversed(self.languages)))}(?![a-z])")
        exchanged = {re.sub("^(source|target)", _other, name): place for name, place in preset.items()}
        named = dict(zip(self.languages, _SIDES, strict=True))
        given = {named.get(name, name): place for name, place in _by_name(self.fields).items()}
        numbers, last = map(str, itertools.count(1)), Row("")
        for path in self.files:
            fields = {**(exchanged if reverse.search(Path(path).name) else preset), **given}
            for side in _SIDES:
                if side not in fields:
                    raise BadInput(f"--fields: expected {side}=PLACE, found {' '.join(fields) or 'nothing'}")
            inside = ""  # the number of a document without id
            for place, record in self._records(path, fields):
                if record == {}:
                    row, inside = last._replace(lines=(), left_out="blank lines", error=""), ""
                else:
                    try:
                        row = self._row(record, fields, place)
                    except BadInput as error:
                        if not self.skip_broken:
                            raise
                        row = last._replace(lines=(), left_out="broken records", error=error)
                    if not row.document:
                        inside = inside if inside and self.blank_lines else next(numbers)
                        row = row._replace(document=inside, numbered=True)
                    last = row
                yield row

    def _records(self, path: str, fields: Dict[str, str]) -> Iterator[Tuple[Place, Found]]:
        if not self.beside:
            used = [*fields.values(), *(each.partition("=")[0] for each in self.leave_out)]
            yield from read_records(path, used, self.skip_broken)
            return
        columns = [(name, iterate_lines(name, self.skip_broken)) for name in (path, *self.beside)]
        for number, lines in enumerate(together(columns), 1):
            broken = [name for (name, _), line in zip(columns, lines, strict=True) if not is_text(line)]
            record = dict(zip(COLUMNS, lines)) if "".join(lines).strip() else {}  # noqa: B905
            blank = [side for side in _SIDES if not record.get(fields[side], side).strip()]
            if broken:
                yield Place(path, number), BadInput("expected UTF-8 text", broken[0], number)
            elif self.blank_lines and len(blank) == 1:
                wanted = "with --blank-lines a blank line ends a document on both sides"
                yield Place(path, number), BadInput(f"the {blank[0]} alone is blank; {wanted}", path, number)
            else:
                yield Place(path, number), record

    def _row(self, record: Found, fields: Dict[str, str], place: Place) -> Row:
        if isinstance(record, BadInput):
            raise record
        found = {name: _whole(value_of(record, where, place)) for name, where in fields.items()}
        document = single_spaces(text_of(found.pop("document", None), place))
        if not is_text(document):
            raise place.error(f"expected text as a document's id, found {document[:60]!r}")
        for where, _, value in (each.partition("=") for each in self.leave_out):
            if text_of(value_of(record, where, place), place) == value:
                return Row(document, left_out=f"{where}={value}")
        for side, language in zip(_SIDES, self.languages, strict=True):
            code = text_of(found.pop(f"{side}_language", None), place)
            if code and not matching([code], language):
                return Row(document, left_out="in other languages")
        order = 1
        if "languages" in found:
            pair = text_of(found.pop("languages"), place)
            order = -1 if pair == "-".join(reversed(self.languages)) else 1
            if pair != "-".join(self.languages[::order]):
                return Row(document, left_out="in other languages")
            if order < 0:
                found = {re.sub("^(source|target)", _other, name): value for name, value in found.items()}
        if None in (found["source"], found["target"]):
            return Row(document, left_out="without source or target")
        lines = _linked(found, place, order) if "links" in found else self._lines(found, place)
        found.update(
            (name, text_of(value, place)) for name, value in found.items() if isinstance(value, bool)
        )
        metadata = texts_by_field(found, place.error).items()
        return Row(document, lines, {name: single_spaces(text) for name, text in metadata if text.strip()})

    def _lines(self, found: Record, place: Place) -> List[Tuple[Any, ...]]:
        """Take the texts of a record, and the context before them."""
        listed = isinstance(found["source"], list)
        sides: List[List[str]] = []
        before: List[List[str]] = []
        for side in _SIDES:
            text, context = found.pop(side), found.pop(f"{side}_context", "")
            if self.alternatives and isinstance(context, str):
                context = context.partition(self.alternatives)[0]
            before.append(_texts(context, place, self.separator or "\n"))
            if self.separator and isinstance(text, str):
                *earlier, text = text.split(self.separator)
                before[-1] += earlier
            sides.append(_texts(text, place, "\n" if self.split_lines else ""))
        context = [*itertools.zip_longest(*map(reversed, before), fillvalue="")][::-1]
        lines = [(*texts, False) for texts in context if "".join(texts).strip()]
        return lines + [(*texts, True) for texts in _paired(sides, listed, place)]


def _whole(value: Any) -> Any:
    """A year, of which pandas makes 1999.0 where one of its column is missing."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _linked(found: Record, place: Place, order: int) -> List[Tuple[Any, ...]]:
    """Take the sentences of a record, in the order of its links, with those between them as context."""
    texts, ids = ([_texts(found.pop(side + end, []), place, "") for side in _SIDES] for end in ("", "_ids"))
    if [*map(len, ids)] != [*map(len, texts)]:
        raise place.error("expected source_ids and target_ids, one for each sentence")
    places = [dict(zip(side, range(len(side)), strict=True)) for side in ids]
    links = [_places(link, places, place, order) for link in found.pop("links") or []]
    linked = [{at for link in links for at in link[side]} for side in (0, 1)]
    done, lines = [0, 0], []
    for link in [*filter(all, links), None]:
        for side, sentences in enumerate(texts):
            until = min(link[side]) if link else len(sentences)
            between = [sentences[at] for at in range(done[side], until) if at not in linked[side]]
            lines += [("", text, False) if side else (text, "", False) for text in between if text.strip()]
            done[side] = max(done[side], 1 + max(link[side])) if link else until
        if link:
            source, target = (" ".join(side[at] for at in ats) for side, ats in zip(texts, link, strict=True))
            lines.append((source, target, True))
    return lines or [("", "", True)]


def _places(link: Any, places: Sequence[Dict[str, int]], place: Place, order: int) -> List[List[int]]:
    named = [_texts(get(place, link, key, list), place, "") for key in ("src", "tgt")[::order]]
    for side, names in zip(places, named, strict=True):
        for name in names:
            if name not in side:
                raise place.error(f"expected links between its sentences, found {name[:60]!r}")
    return [[side[name] for name in names] for side, names in zip(places, named, strict=True)]


def _texts(value: Any, place: Place, separator: str) -> List[str]:
    """The sentences of a list, or of a text between separators."""
    if isinstance(value, list):
        return [text_of(each, place) for each in value]
    text = text_of(value, place)
    return text.split(separator) if separator else [text]


def _other(side: "re.Match[str]") -> str:
    return _SIDES[1 - _SIDES.index(side[0])]


def _paired(sides: Sequence[List[str]], listed: bool, place: Place) -> List[Tuple[str, str]]:
    """The sentences of both sides: of lists by their places, of texts those that are not blank."""
    filled = [[text for text in side if text.strip()] for side in sides]
    if not any(filled):
        return [("", "")]  # which is counted as empty
    paragraphs = [re.split(r"\n\s*\n", "\n".join(side).strip()) for side in sides]
    for here, there in (sides, filled, paragraphs) if listed else (filled, sides, paragraphs):
        if len(here) == len(there) and (here is not paragraphs[0] or len(here) > 1):
            return [pair for pair in zip(here, there, strict=True) if "".join(pair).strip()]
    counts = " and ".join(str(len(side)) for side in filled)
    raise place.error(f"expected as many sentences on both sides, found {counts}")


def _by_name(fields: Sequence[str]) -> Dict[str, str]:
    for field in fields:
        if not re.fullmatch("[^=]+=.+", field):
            raise BadInput(f"--fields: expected NAME=PLACE, found {field}")
    return {field.partition("=")[0]: field.partition("=")[2] for field in fields}
