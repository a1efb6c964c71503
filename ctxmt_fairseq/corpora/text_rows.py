"""Reads the rows of a parallel text with document ids in one pass, and checks them line by line."""

import itertools
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.text.documents import iterate_ids
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.text_lines import iterate_lines, parse_flag, tidy, together


@dataclass(frozen=True)
class Row:
    """A sentence pair: line (from 1), tidy texts, document id, ``current`` "0" or "1", metadata by field."""

    line: int
    source: str
    target: str
    document: str
    current: Optional[str] = None
    metadata: Dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextFiles:
    """The files of one split: PREFIX.SRC, PREFIX.TGT, PREFIX.docids and, if there, .current; metadata.
    Without ids a blank line on both sides ends a document (``blank_lines``), or every line is one, with its
    number as the id (``ids_optional``)."""

    prefix: str
    source_lang: str
    target_lang: str
    blank_lines: bool = False
    ids_optional: bool = False

    def __post_init__(self):
        if self.source_lang == self.target_lang:
            raise BadInput(f"expected two languages, found {self.source_lang} twice")
        ids = self.path("docids")
        if self.blank_lines and any(self.path(name).exists() for name in ("docids", "current")):
            raise BadInput(f"--blank-lines does not work with {ids.name} and .current", self.prefix)
        # A text that is not there is missed by its own name when it is read: PREFIX may be a file, train.en.
        if self.has(self.source_lang) and not (self.blank_lines or self.ids_optional or ids.is_file()):
            raise BadInput(
                "no such file; expected one document id per line (or --blank-lines, for text with a blank "
                "line between documents)",
                ids,
            )

    def path(self, suffix: str) -> Path:
        return Path(f"{self.prefix}.{suffix}")

    def has(self, suffix: str) -> bool:
        return self.path(suffix).is_file()

    @property
    def metadata(self) -> MetadataFiles:
        return MetadataFiles.beside(self.prefix)

    def rows(self) -> Iterator[Row]:
        """Yield the rows in order, and check everything on the way."""
        rows = self._blank_line_rows() if self.blank_lines else self._id_rows()
        if not self.metadata:
            return rows
        known = self.metadata.of_rows((row.line, row) for row in rows)
        return (replace(row, metadata=values) for row, values in known)

    def documents(self) -> Iterator[List[Pair]]:
        for name, rows in itertools.groupby(self.rows(), key=lambda row: row.document):
            yield [Pair(row.source, row.target, name, row.current != "0", row.metadata) for row in rows]

    def _aligned(self, *suffixes: str) -> Iterator[Tuple[int, List[str]]]:
        """Yield the line number and a line of each file; all must be of the same length."""
        readers = ((self.path(end), iterate_ids if end == "docids" else iterate_lines) for end in suffixes)
        columns = [(path, read(path)) for path, read in readers]
        number = 0
        for number, lines in enumerate(together(columns), 1):
            yield number, lines
        if not number:
            raise BadInput("expected text, found no line", columns[0][0])

    def _id_rows(self) -> Iterator[Row]:
        extra = [suffix for suffix in ("docids", "current") if self.has(suffix)]
        for number, (source, target, *more) in self._aligned(self.source_lang, self.target_lang, *extra):
            values = dict(zip(extra, more, strict=True))
            current, document = values.get("current"), values.get("docids", str(number))
            if current is not None:
                current = str(int(parse_flag(current, self.path("current"), number)))
            yield Row(number, tidy(source), tidy(target), document, current)

    def _blank_line_rows(self) -> Iterator[Row]:
        document, between = 0, True
        for number, (source, target) in self._aligned(self.source_lang, self.target_lang):
            source, target = tidy(source), tidy(target)
            if bool(source) != bool(target):
                sides = self.source_lang, self.target_lang
                suffix, other = reversed(sides) if source else sides
                raise BadInput(
                    f"blank, but {self.path(other).name} is not: a blank line ends a document on both sides "
                    "(empty sentences need document ids)",
                    self.path(suffix),
                    number,
                )
            if source:
                document += between
                yield Row(number, source, target, str(document))
            between = not source
        if not document:
            raise BadInput("expected text, found only blank lines", self.path(self.source_lang))
