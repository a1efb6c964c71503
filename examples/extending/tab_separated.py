"""One file of documents: lines of a document's id, a sentence and its translation, separated by tabs.

Example: ctxmt corpus tab-separated --file talks.tsv --source-lang en --target-lang de --out text/train
"""

import itertools
from typing import Iterator, List

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import iterate_lines


class TabSeparated(NewCorpus):  # has --source-lang, --target-lang, --out
    file: Input = option("the documents")

    def parts(self) -> Iterator[Part]:
        """A part for each document."""
        for name, lines in itertools.groupby(_fields(self.file), key=lambda fields: fields[0]):
            document = DocumentBuilder(name, Account())
            for _, source, target in lines:
                document.add(source, target)  # or leaves it out, and counts it: a side is empty
            yield document.part()


def _fields(path: str) -> Iterator[List[str]]:
    for number, line in enumerate(iterate_lines(path), 1):
        fields = line.split("\t")
        if len(fields) != 3:
            message = f"expected an id, a sentence and its translation, found {len(fields)} fields"
            raise BadInput(message, path, number)
        yield fields
