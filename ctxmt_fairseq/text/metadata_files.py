"""The files with the metadata of a text's lines: PREFIX.meta.jsonl, and files PREFIX.meta.FIELD.

The first has a JSON object per line, the others a value per line; blank is no value. All metadata of texts is
read here, so both layouts count everywhere, also side by side.
"""

import glob
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.metadata_text import parse_metadata
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, lines_together

_JSON = "jsonl"
T = TypeVar("T")


def metadata_line(fields: Mapping[str, str]) -> str:
    """A line of PREFIX.meta.jsonl, as all that write one write it."""
    return json.dumps(dict(fields), ensure_ascii=False)


@dataclass(frozen=True)
class MetadataFiles:
    """A text's metadata: a file of JSON objects, and one for each field, sorted; false without any."""

    objects: Optional[Path]
    fields: Mapping[str, Path]

    @classmethod
    def beside(cls, prefix: PathLike) -> "MetadataFiles":
        """Find those of the text PREFIX; a name that ends with ~ is an editor's backup."""
        start = f"{prefix}.meta."
        found = sorted(path for path in glob.glob(glob.escape(start) + "*") if not path.endswith("~"))
        paths = {path[len(start) :]: Path(path) for path in found}
        for name in paths:
            if name.startswith(f"{_JSON}."):  # its lines would be the texts of a field
                raise BadInput(f"call it {start}{_JSON} (it may be compressed), or otherwise", paths[name])
        return cls(paths.pop(_JSON, None), paths)

    @classmethod
    def named(cls, name: PathLike) -> "MetadataFiles":
        """Find those of the text PREFIX, or one file of JSON objects by its own name."""
        files = cls(Path(name), {}) if Path(name).is_file() else cls.beside(name)
        if not files:
            raise BadInput(f"no metadata: expected {name}.meta.{_JSON} or files {name}.meta.FIELD", name)
        return files

    def __bool__(self) -> bool:
        return self.objects is not None or bool(self.fields)

    @property
    def paths(self) -> List[Path]:
        return [*([] if self.objects is None else [self.objects]), *self.fields.values()]

    def lines(self) -> Iterator[Dict[str, str]]:
        """Yield every line's metadata, value by field, without blank values."""
        for number, lines in enumerate(lines_together(*self.paths), 1):
            yield self._values(number, lines)

    def of_rows(self, rows: Iterable[Tuple[int, T]]) -> Iterator[Tuple[T, Dict[str, str]]]:
        """Yield a text's rows, each with its metadata as in ``lines``. The files must have as many lines as
        the text; lines (from 1 and increasing) may be skipped."""
        columns = [iterate_lines(path) for path in self.paths]
        read = 0
        for number, row in rows:
            lines = [next(itertools.islice(column, number - read - 1, None), None) for column in columns]
            if None in lines:
                raise BadInput("ends before the text does", self.paths[lines.index(None)], number)
            read = number
            yield row, self._values(number, lines)  # type: ignore[arg-type]
        for path, column in zip(self.paths, columns, strict=True):
            if any(line.strip() for line in column):
                raise BadInput(f"goes on after the {read} lines of the text", path)

    def of_lines(self, count: int) -> List[Dict[str, str]]:
        """The metadata of a text of so many lines, as in ``of_rows``."""
        return [values for _, values in self.of_rows((line, None) for line in range(1, count + 1))]

    def _values(self, number: int, lines: Sequence[str]) -> Dict[str, str]:
        """The values of a line, given the line of each of ``paths``."""
        values: Dict[str, str] = {}
        if self.objects is not None and lines[0].strip():
            values = parse_metadata(lines[0], self.objects, number)
        own = lines[self.objects is not None :]
        for (field, path), value in zip(self.fields.items(), own, strict=True):
            if field in values:
                name = self.objects.name if self.objects else ""
                raise BadInput(f"the field {field} is in {name} too", path, number)
            values[field] = value
        return {field: value for field, value in values.items() if value.strip()}
