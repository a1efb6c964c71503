"""Two files with the same documents, line by line: talks, test sets."""

from pathlib import Path
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.raw.segments import read_segments
from ctxmt_fairseq.corpora.raw.tagged_talks import read_tagged_talks
from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]


class Side(NamedTuple):
    """One side's documents.

    Attributes:
        path: for messages.
        documents: id -> segments by their id, in order.
        numbered: a test set, whose lines all stay, also the empty ones.
    """

    path: PathLike
    documents: Mapping[str, Mapping[str, str]]
    numbered: bool


def read_side(path: PathLike, kind: str, by: Optional[str] = None) -> Side:
    """Read talks (``train.tags.*``) or a test set (SGM, XML).

    Args:
        kind: of a test set: ``src``, ``ref``, or ``hyp`` (what a system translated).
        by: of several translations this translator's or system's; default: the first's.

    Raises:
        BadInput: the file cannot be read, or has nothing of this kind.
    """
    if not any("<seg" in line for line in iterate_lines(path)):
        talks = read_tagged_talks(path)
        return Side(path, {name: _numbered(lines) for name, lines in talks.items()}, numbered=False)
    found = [side for side in read_segments(path) if side.kind == kind]
    names = list(dict.fromkeys(side.by for side in found if side.by)) if kind != "src" else []
    if by is not None and by not in names:
        raise BadInput(f"expected a translation by {by}, found {', '.join(names) or 'no names'}", path)
    documents: Dict[str, Mapping[str, str]] = {}
    for side in found:
        if names and side.by and side.by != (by or names[0]):
            continue
        name = f"{side.collection}/{side.document}" if side.collection else side.document
        if name in documents:
            raise BadInput(f"the document {name} stands there twice", path)
        documents[name] = side.texts
    if not documents:
        raise BadInput(f"expected documents with <{kind}> or a set of them, found none", path)
    return Side(path, documents, numbered=True)


def _numbered(lines: Iterable[str]) -> Dict[str, str]:
    return {str(number): line for number, line in enumerate(lines, 1)}


def pair_documents(source: Side, target: Side) -> Part:
    """The pairs of all documents, in the order of the source side.

    Raises:
        BadInput: a document or a segment that only one side has.
    """
    account = Account()
    pairs: List[Pair] = []
    for here, there in ((source, target), (target, source)):
        for name in here.documents:
            if name not in there.documents:
                raise BadInput(f"expected the document {name}, which is in {here.path}", there.path)
    for name, texts in source.documents.items():
        others = target.documents[name]
        if list(texts) != list(others):
            raise BadInput(
                f"{name}: expected the {len(texts)} segments of {source.path}, found {len(others)}",
                target.path,
            )
        builder = DocumentBuilder(name, account, keep_empty=source.numbered)
        for number, text in texts.items():
            builder.add(text, others[number])
        pairs += builder.pairs
    return Part(pairs, account)
