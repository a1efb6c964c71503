"""Writes a corpus as its pairs come: text, document ids, marks, metadata, and the account, all or nothing."""

import itertools
import json
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.pairs import Account, Lines, Pairs, Part
from ctxmt_fairseq.data.metadata_files import MetadataFiles
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_files import open_outputs

Route = Callable[[str], int]  # a document id -> the place of the corpus that it goes to

_STREAMS = ("source", "target", "docids", "current", "meta.jsonl", "counts")
_LINES = 10_000  # that are held beside the pairs that they are made of


@dataclass
class _Corpus:
    """The streams of one corpus, and what went into them."""

    prefix: str
    streams: Dict[str, BinaryIO]
    documents: int = 0
    sentences: int = 0
    context_only: int = 0
    with_metadata: int = 0
    last: Optional[str] = None

    def write(self, lines: Lines) -> None:
        """Raises BadInput: a document id of several lines, which would shift all ids behind it."""
        for name, _ in lines.documents:
            if "\n" in name:
                raise BadInput(f"document id {name!r}: expected no line break")
        self.streams["source"].write(lines.source)
        self.streams["target"].write(lines.target)
        self.streams["docids"].write("".join([f"{name}\n" * size for name, size in lines.documents]).encode())
        self.streams["current"].write(lines.current)
        self.streams["meta.jsonl"].write(lines.metadata)
        self.sentences += len(lines)
        self.context_only += lines.current.count(b"0")
        self.with_metadata += len(lines) - lines.metadata.count(b"{}\n")
        for document, _ in lines.documents:
            self.documents += document != self.last
            self.last = document

    def counts(self) -> Dict[str, Any]:
        return {"documents": self.documents, "sentences": self.sentences, "context_only": self.context_only}


def corpus_files(prefix: str, languages: Sequence[str]) -> List[str]:
    """The files of a corpus, in the order of its streams."""
    return [f"{prefix}.{suffix}" for suffix in (*languages, *_STREAMS[2:-1], "counts.json")]


def check_no_metadata(prefix: str) -> None:
    """Raises BadInput: there is a PREFIX.meta.FIELD, which would count as metadata of a new corpus."""
    for path in MetadataFiles.beside(prefix).fields.values():
        raise BadInput(f"belongs to another corpus {prefix}: remove it, or choose another name", path)


def write_corpus(
    parts: Iterable[Part],
    prefixes: Sequence[str],
    languages: Sequence[str],
    description: Dict[str, Any],
    route: Optional[Route] = None,
) -> Dict[str, Any]:
    """Write PREFIX.SRC, PREFIX.TGT, PREFIX.docids and PREFIX.counts.json; PREFIX.current where a line is
    context only, PREFIX.meta.jsonl where one has metadata.

    Args:
        parts: in order; read as they are written, so that memory stays small.
        prefixes: of one corpus or several, which ``route`` chooses from by document.
        languages: source and target.
        description: goes into the counts: what was read, and how.

    Returns:
        what PREFIX.counts.json holds, for the first prefix.

    Raises:
        BadInput: an output cannot be written, PREFIX.meta.FIELD would count as metadata of the new corpus, or
            no line is left for one of the corpora. Then nothing is written.
    """
    account = Account()
    names = [corpus_files(prefix, languages) for prefix in prefixes]
    for prefix in prefixes:
        check_no_metadata(prefix)
    with open_outputs([name for each in names for name in each]) as outputs:
        corpora = [
            _Corpus(prefix, {key: outputs[name] for key, name in zip(_STREAMS, each, strict=True)})
            for prefix, each in zip(prefixes, names, strict=True)
        ]
        for part in parts:
            account.add(part.account)
            for lines in _blocks(part.pairs):
                for place, block in _routed(lines, route):
                    corpora[place].write(block)
        if not account.balanced or account.kept != sum(corpus.sentences for corpus in corpora):
            raise RuntimeError(f"the account does not add up: {account.as_dict()}")
        if not account.kept:
            raise BadInput(f"no line is left of {account.read}: {json.dumps(account.as_dict()['left_out'])}")
        for corpus in corpora:
            if not corpus.sentences:
                raise BadInput("no document goes there", corpus.prefix)
        counts = {corpus.prefix: corpus.counts() for corpus in corpora}
        record = {**description, **account.as_dict(), "corpora": counts}
        for corpus in corpora:
            corpus.streams["counts"].write(json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n")
            for column, wanted in (("current", corpus.context_only), ("meta.jsonl", corpus.with_metadata)):
                if not wanted:
                    outputs.leave_out(f"{corpus.prefix}.{column}")
    return record


def _blocks(pairs: Pairs) -> Iterator[Lines]:
    """Pairs as lines, some thousands at a time."""
    if isinstance(pairs, Lines):
        yield pairs
        return
    left = iter(pairs)
    while block := list(itertools.islice(left, _LINES)):
        yield Lines.of(block)


def _routed(lines: Lines, route: Optional[Route]) -> Iterator[Tuple[int, Lines]]:
    """Lines by the corpus that they go to: in one piece if it is the same for all, else by document."""
    places = [0 if route is None else route(name) for name, _ in lines.documents]
    if len(set(places)) == 1:
        yield places[0], lines
        return
    pairs = iter(lines)
    for place, (_, size) in zip(places, lines.documents, strict=True):
        yield place, Lines.of(list(itertools.islice(pairs, size)))
