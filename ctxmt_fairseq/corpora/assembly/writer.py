"""Writes a corpus as its pairs come: text, document ids, marks, metadata, and the account, all or nothing."""

import itertools
import json
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Dict, Iterable, Optional, Sequence

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_files import open_outputs

Route = Callable[[str], int]  # a document id -> the place of the corpus that it goes to

_LINES = 10_000  # that are written together


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

    def write(self, pairs: Sequence[Pair]) -> None:
        """Lines, some thousands at a time."""
        for start in range(0, len(pairs), _LINES):
            self._write(pairs[start : start + _LINES])

    def _write(self, pairs: Sequence[Pair]) -> None:
        columns = {
            "source": [pair.source for pair in pairs],
            "target": [pair.target for pair in pairs],
            "docids": [pair.document for pair in pairs],
            "current": ["1" if pair.current else "0" for pair in pairs],
            "meta.jsonl": [
                json.dumps(dict(pair.metadata), ensure_ascii=False) if pair.metadata else "{}"
                for pair in pairs
            ],
        }
        for column, lines in columns.items():
            self.streams[column].write("\n".join([*lines, ""]).encode())
        self.sentences += len(pairs)
        self.context_only += columns["current"].count("0")
        self.with_metadata += sum(1 for pair in pairs if pair.metadata)
        for document, _ in itertools.groupby(columns["docids"]):
            self.documents += document != self.last
            self.last = document

    def counts(self) -> Dict[str, Any]:
        return {"documents": self.documents, "sentences": self.sentences, "context_only": self.context_only}


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
        BadInput: an output cannot be written, or no line is left. Then nothing is.
    """
    account = Account()
    suffixes = {"source": languages[0], "target": languages[1], "docids": "docids"}
    suffixes |= {"current": "current", "meta.jsonl": "meta.jsonl", "counts": "counts.json"}
    names = [[f"{prefix}.{suffix}" for suffix in suffixes.values()] for prefix in prefixes]
    with open_outputs([name for each in names for name in each]) as outputs:
        corpora = [
            _Corpus(prefix, {key: outputs[name] for key, name in zip(suffixes, each, strict=True)})
            for prefix, each in zip(prefixes, names, strict=True)
        ]
        for part in parts:
            account.add(part.account)
            if route is None:
                corpora[0].write(part.pairs)
                continue
            for document, run in itertools.groupby(part.pairs, key=lambda pair: pair.document):
                corpora[route(document)].write(list(run))
        if not account.balanced or account.kept != sum(corpus.sentences for corpus in corpora):
            raise RuntimeError(f"the account does not add up: {account.as_dict()}")
        if not account.kept:
            raise BadInput(f"no line is left of {account.read}: {json.dumps(account.as_dict()['left_out'])}")
        counts = {corpus.prefix: corpus.counts() for corpus in corpora}
        record = {**description, **account.as_dict(), "corpora": counts}
        for corpus in corpora:
            corpus.streams["counts"].write(json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n")
            for column, wanted in (("current", corpus.context_only), ("meta.jsonl", corpus.with_metadata)):
                if not wanted:
                    outputs.leave_out(f"{corpus.prefix}.{column}")
    return record
