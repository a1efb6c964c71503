"""OPUS' Moses format: two files of aligned lines, and the .ids file that says where they come from.

This format has no sentences without a counterpart, so a document ends where the numbers of the sentences
jump on either side; "ctxmt corpus opus", which reads the XML, can keep such sentences as context. --clean
works as in "ctxmt corpus opensubtitles".

Example: ctxmt corpus moses --source TED2020.de-en.en --target TED2020.de-en.de --ids TED2020.de-en.ids \\
             --source-lang en --target-lang de --out text/train
"""

import itertools
import re
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, cleaning, skip_broken
from ctxmt_fairseq.corpora.formats.opus_names import document_id, order_of
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part, distinct
from ctxmt_fairseq.text.text_lines import check_not_same, is_text, lines_together

_NUMBER = re.compile(r"(.*?)(\d{1,18})")


class Line(NamedTuple):
    """A line of both sides; ``sentences`` are the ids of the sentences that each side is made of. A broken
    line has an error, no sentences, and the documents of the line before it."""

    texts: Sequence[str]
    documents: Sequence[str]
    sentences: Sequence[List[str]]
    error: str = ""


class Moses(NewCorpus):
    source: Input = option("text of the source side")
    target: Input = option("text of the target side")
    ids: Input = option("documents and sentences of each line")
    clean: Sequence[str] = cleaning()
    skip_broken: bool = skip_broken()

    def parts(self) -> Iterator[Part]:
        """A part for each document of the source side; ids are as in ``opus_names``."""
        check_not_same(self.source, self.target)
        groups = itertools.groupby(self._lines(), key=lambda line: line.documents)
        return distinct(self._document(documents[0], lines) for documents, lines in groups)

    def _lines(self) -> Iterator[Line]:
        """Read the three files together; a line of ids is DOCUMENT, DOCUMENT, numbers, numbers between tabs,
        and if the target language comes first (``order_of``), its sides are exchanged."""
        last: Sequence[str] = ("", "")
        lines = lines_together(self.source, self.target, self.ids, lenient=self.skip_broken)
        for number, (*texts, ids) in enumerate(lines, 1):
            try:
                last, sentences = self._ids(ids, number)
            except BadInput as error:
                if not self.skip_broken:
                    raise
                yield Line(texts, last, (), str(error))
            else:
                yield Line(texts, last, sentences)

    def _ids(self, line: str, number: int) -> Tuple[Sequence[str], Sequence[List[str]]]:
        columns = line.split("\t")
        if len(columns) != 4 or not all(map(str.strip, columns)) or not is_text(line):
            message = "expected two documents and the numbers of their sentences, with tabs between them"
            raise BadInput(message, self.ids, number)
        documents, sentences = tuple(columns[:2]), tuple(side.split() for side in columns[2:])
        order = order_of(documents, self.languages, self.ids, number)
        return documents[::order], sentences[::order]

    def _document(self, name: str, lines: Iterator[Line]) -> Part:
        builder = DocumentBuilder(document_id(name), Account())
        remarks = builder.account.remarks
        last: Optional[Line] = None
        for line in lines:
            if line.error:
                builder.leave_out("broken lines", error=line.error)
                continue
            if last and not all(
                follows(a[-1], b[0]) for a, b in zip(last.sentences, line.sentences, strict=True)
            ):
                builder.hole()
            last = line
            texts = zip(line.texts, self.languages, strict=True)
            here, there = (clean(text, language, self.clean, remarks) for text, language in texts)
            builder.add(here, there)
        return builder.part()


def follows(before: str, after: str) -> bool:
    """Whether a sentence comes right after another by their ids: 5 and 6, s1.5 and s1.6.

    2.1 does not follow 1.7, because the ids do not say whether 1.7 is the last of its paragraph.
    """
    first, second = _NUMBER.fullmatch(before), _NUMBER.fullmatch(after)
    if first is None or second is None:
        return False
    return first[1] == second[1] and int(first[2]) + 1 == int(second[2])
