"""Tags the words of documents, line by line; memory holds few lines, and what one document repeats."""

import itertools
from collections import deque
from dataclasses import dataclass
from typing import Deque, Iterator, List, NamedTuple, Optional, Tuple

from ctxmt_fairseq.corpora.linguistics.align import aligned_text
from ctxmt_fairseq.corpora.linguistics.annotate import annotated_text
from ctxmt_fairseq.corpora.phenomena.cohesion import Cohesion
from ctxmt_fairseq.corpora.phenomena.genders import Genders
from ctxmt_fairseq.corpora.phenomena.lines import Hit, Line, Words, linked
from ctxmt_fairseq.corpora.phenomena.rules import Rules
from ctxmt_fairseq.corpora.text_rows import Row, TextFiles
from ctxmt_fairseq.text.alignment import iterate_alignment
from ctxmt_fairseq.text.annotation import iterate_annotation
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, together
from ctxmt_fairseq.text.word_tags import Tags


class TaggedLine(NamedTuple):
    """A line and its hits; ``before`` are the lines before it in its document, the nearest first."""

    row: Row
    line: Line
    hits: List[Hit]
    before: List[Tuple[Row, Line]]

    def parts(self) -> Tuple[List[str], Tags]:
        """The words of the target with their tags, and whatever its annotation has left out."""
        names = [tuple(hit.tag for hit in self.hits if hit.word == at) for at in range(len(self.line.target))]
        words: List[str] = []
        tags: Tags = []
        end = 0
        for word, found in zip(self.line.target, names, strict=True):
            for text, its in ((self.line.text[end : word.start].strip(), ()), (word.text, found)):
                if text:
                    words.append(text)
                    tags.append(its)
            end = word.end
        rest = self.line.text[end:].strip()
        return [*words, *filter(None, [rest])], [*tags, *([()] if rest else [])]


@dataclass(frozen=True)
class Tagger:
    """Tags corpora.

    Attributes:
        annotation, alignment: files that other tools wrote; what is None is made here.
        context: how many lines before a line are looked at.
        workers: processes of annotation.
    """

    annotation: Tuple[Optional[PathLike], Optional[PathLike]] = (None, None)
    alignment: Optional[PathLike] = None
    context: int = 5
    workers: int = 1

    def tagged(self, files: TextFiles) -> Iterator[TaggedLine]:
        """Tag the lines of a corpus in their order."""
        rules = Rules(files.source_lang, files.target_lang)
        for _, document in itertools.groupby(self._lines(files, rules), key=lambda pair: pair[0].document):
            cohesion = Cohesion()
            before: Deque[Tuple[Row, Line]] = deque(maxlen=self.context)
            for row, line in document:
                hits = [*rules.hits(line, [each for _, each in before]), *cohesion.hits(line)]
                yield TaggedLine(row, line, hits, list(before))
                before.appendleft((row, line))

    def _lines(self, files: TextFiles, rules: Rules) -> Iterator[Tuple[Row, Line]]:
        paths = [files.path(language) for language in (files.source_lang, files.target_lang)]
        genders = Genders(rules.target.determiners, iterate_lines(paths[1]))
        columns = [
            (paths[1], files.rows()),
            *((path, map(str.strip, iterate_lines(path))) for path in paths),
            *((path, self._words(files, side)) for side, path in enumerate(paths)),
            (paths[1], self._pairs(*paths)),
        ]
        for row, source, target, source_words, target_words, pairs in together(columns):
            yield row, linked((source, target), (source_words, genders.filled_in(target_words)), pairs)

    def _words(self, files: TextFiles, side: int) -> Iterator[Words]:
        language = (files.source_lang, files.target_lang)[side]
        path, given = files.path(language), self.annotation[side]
        return (
            iterate_annotation(given, path) if given else annotated_text(path, language, workers=self.workers)
        )

    def _pairs(self, source: PathLike, target: PathLike) -> Iterator[List[Tuple[int, int]]]:
        if self.alignment is None:
            return (line.pairs for line in aligned_text((source, target)))
        lines = iterate_alignment(self.alignment, source, target)
        return ([(i, j) for i, words in line.items() for j in words] for line in lines)
