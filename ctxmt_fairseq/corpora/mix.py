"""One corpus from several, in proportions: small ones are repeated, none is cut."""

import itertools
from fractions import Fraction
from typing import Iterator, List, Sequence

from ctxmt_fairseq.corpora.assembly.pairs import Part
from ctxmt_fairseq.corpora.text_parts import part_of, read_documents
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.errors import BadInput


def repetitions(corpora: Sequence[TextFiles], ratios: Sequence[Fraction]) -> List[Fraction]:
    """How often each corpus is taken, so that its sentences are to the others' as the ratios.

    The smallest is 1: that corpus is taken as it is. Lines that serve as context only do not count.

    Raises:
        BadInput: as ``TextFiles.rows``; or a corpus without sentences.
    """
    weights = []
    for files, ratio in zip(corpora, ratios, strict=True):
        sentences = sum(row.current != "0" for row in files.rows())
        if not sentences:
            raise BadInput("expected sentences, found context only", files.prefix)
        weights.append(ratio / sentences)
    return [weight / min(weights) for weight in weights]


def mix(corpora: Sequence[TextFiles], times: Sequence[Fraction]) -> Iterator[Part]:
    """The lines of all corpora, one corpus after the other, each as often as asked for.

    Of the last repetition, if it is not whole, documents are taken at even distances. Documents get the
    number of their corpus and of the repetition before their ids, ``2.1/NAME``, so that all differ.

    Raises:
        BadInput: as ``TextFiles.rows``.
    """
    for number, (files, often) in enumerate(zip(corpora, times, strict=True), 1):
        for repetition in itertools.count(1):
            share = min(Fraction(1), often - repetition + 1)
            if share <= 0:
                break
            for part in _share(files, share, f"{number}.{repetition}/"):
                part.account.remarks[f"lines of {files.prefix}"] += len(part.pairs)
                yield part


def _share(files: TextFiles, share: Fraction, before: str) -> Iterator[Part]:
    seen = taken = 0
    for document in read_documents(files):
        seen += len(document)
        if taken + Fraction(len(document), 2) > share * seen:
            continue
        taken += len(document)
        pairs = [pair._replace(document=before + pair.document) for pair in document]
        yield part_of(len(pairs), pairs)
