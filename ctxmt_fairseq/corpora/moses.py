"""OPUS' Moses format: two files of aligned lines, and one that says where they come from."""

import itertools
from pathlib import Path
from typing import Iterator, Optional, Sequence, Union

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.opus import document_id
from ctxmt_fairseq.corpora.raw.line_files import together
from ctxmt_fairseq.corpora.raw.moses_ids import Origin, follows, read_origins
from ctxmt_fairseq.data.documents import iterate_lines

PathLike = Union[str, Path]


def moses_documents(
    source: PathLike,
    target: PathLike,
    ids: PathLike,
    languages: Sequence[str],
    cleaning: Sequence[str] = (),
) -> Iterator[Part]:
    """The pairs of each document of the source side.

    Sentences without a counterpart are not in this format: a document ends where the numbers of the sentences
    do not go on, on either side, and at lines that are left out. Ids are as in ``corpora.opus``.

    Args:
        languages: source and target.
        cleaning: names of steps (``corpora.cleaning``).

    Raises:
        BadInput: as ``together`` and ``read_origins``.
    """
    origins = read_origins(ids, languages[0], languages[1])
    lines = together([(source, iterate_lines(source)), (target, iterate_lines(target)), (ids, origins)])
    for documents, group in itertools.groupby(lines, key=lambda line: line[2].documents):
        builder = DocumentBuilder(document_id(documents[0]), Account())
        previous: Optional[Origin] = None
        for *texts, origin in group:
            if previous and not _goes_on(previous, origin):
                builder.hole()
            previous = origin
            here, there = (
                clean(text, language, cleaning, builder.account.remarks)
                for text, language in zip(texts, languages, strict=True)
            )
            builder.add(here, there)
        yield builder.part()


def _goes_on(before: Origin, after: Origin) -> bool:
    return all(
        follows(there[-1], here[0]) for there, here in zip(before.sentences, after.sentences, strict=True)
    )
