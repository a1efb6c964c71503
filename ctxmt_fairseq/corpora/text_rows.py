"""Reads the pairs of a parallel text with document ids in one pass, and checks them line by line."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, List, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.text.documents import iterate_ids
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.text_lines import iterate_lines, parse_flag, tidy, together


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
                "no such file; expected one document id per line (ctxmt corpus records --blank-lines writes "
                "them for text with blank lines between documents; preprocess and embed take --blank-lines)",
                ids,
            )

    def path(self, suffix: str) -> Path:
        return Path(f"{self.prefix}.{suffix}")

    def has(self, suffix: str) -> bool:
        return self.path(suffix).is_file()

    @property
    def metadata(self) -> MetadataFiles:
        return MetadataFiles.beside(self.prefix)

    def sentences(self, language: str) -> Iterator[str]:
        """Yield one side of ``pairs``, without a look at the other files."""
        lines = map(tidy, iterate_lines(self.path(language)))
        return filter(None, lines) if self.blank_lines else lines

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs in order, with tidy texts, and check everything on the way."""
        pairs = self._blank_line_pairs() if self.blank_lines else self._id_pairs()
        if not self.metadata:
            return pairs
        known = self.metadata.of_rows((pair.line, pair) for pair in pairs)
        return (pair._replace(metadata=values) for pair, values in known)

    def documents(self) -> Iterator[List[Pair]]:
        return (list(pairs) for _, pairs in itertools.groupby(self.pairs(), key=lambda pair: pair.document))

    def _aligned(self, *suffixes: str) -> Iterator[Tuple[int, List[str]]]:
        """Yield the line number and a line of each file; all must be of the same length."""
        readers = ((self.path(end), iterate_ids if end == "docids" else iterate_lines) for end in suffixes)
        columns = [(path, read(path)) for path, read in readers]
        number = 0
        for number, lines in enumerate(together(columns), 1):
            yield number, lines
        if not number:
            raise BadInput("expected text, found no line", columns[0][0])

    def _id_pairs(self) -> Iterator[Pair]:
        extra = [suffix for suffix in ("docids", "current") if self.has(suffix)]
        for number, (source, target, *more) in self._aligned(self.source_lang, self.target_lang, *extra):
            values = dict(zip(extra, more, strict=True))
            current = parse_flag(values.get("current", "1"), self.path("current"), number)
            document = values.get("docids", str(number))
            yield Pair(tidy(source), tidy(target), document, current, line=number)

    def _blank_line_pairs(self) -> Iterator[Pair]:
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
                yield Pair(source, target, str(document), line=number)
            between = not source
        if not document:
            raise BadInput("expected text, found only blank lines", self.path(self.source_lang))
