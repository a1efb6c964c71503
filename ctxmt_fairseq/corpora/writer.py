"""Writes a corpus as its pairs come: text, document ids, marks, metadata and the account, all or nothing."""

import functools
import itertools
import json
from typing import Any, BinaryIO, Callable, Dict, Iterable, List, Optional, Sequence

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import open_outputs
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part
from ctxmt_fairseq.text.metadata_files import MetadataFiles, metadata_line
from ctxmt_fairseq.text.text_lines import is_text

Route = Callable[[str], int]  # a document id -> the place of the corpus that it goes to
_ENDS = ("docids", "current", "meta.jsonl", "counts.json")


class _Corpus:
    """The streams of one corpus, and what went into them."""

    def __init__(self, prefix: str, streams: Sequence[BinaryIO]):
        self.prefix = prefix
        *self.columns, self.counts_file = streams
        self.counts = {"documents": 0, "sentences": 0, "context_only": 0}
        self.with_metadata = 0
        self._last: Optional[str] = None

    def write(self, pairs: List[Pair]) -> None:
        """Write pairs of whole documents. Their ids must be lines, because others would shift or damage all
        behind them; a document that returns, with nothing left of what was between, gets another one."""
        sources, targets, ids, current, metadata, _ = zip(*pairs, strict=True)
        for name in dict.fromkeys(ids):
            if not name.strip() or "\n" in name or not is_text(name):
                raise BadInput(f"expected a document id on one line, found {name!r}")
        if ids[0] == self._last:
            ids = tuple(f"{name}#2" for name in ids)
        marks = ["1" if one else "0" for one in current]
        objects = [metadata_line(one) if one else "{}" for one in metadata]
        for stream, column in zip(self.columns, (sources, targets, ids, marks, objects), strict=True):
            stream.write("\n".join([*column, ""]).encode())
        for name, _ in itertools.groupby(ids):
            self.counts["documents"] += name != self._last
            self._last = name
        self.counts["sentences"] += len(pairs)
        self.counts["context_only"] += marks.count("0")
        self.with_metadata += sum(map(bool, metadata))


def corpus_files(prefix: str, languages: Sequence[str]) -> List[str]:
    return [f"{prefix}.{end}" for end in (*languages, *_ENDS)]


def check_no_metadata(prefix: str) -> None:
    """Refuse a name for a new corpus if there is a PREFIX.meta.FIELD, which would count as its metadata."""
    for path in MetadataFiles.beside(prefix).fields.values():
        raise BadInput(f"belongs to another corpus {prefix}: remove it, or choose another name", path)


def write_corpus(
    parts: Iterable[Part],
    prefixes: Sequence[str],
    languages: Sequence[str],
    description: Dict[str, Any],
    route: Route = lambda document: 0,
) -> Dict[str, Any]:
    """Write PREFIX.SRC, PREFIX.TGT, PREFIX.docids and PREFIX.counts.json; PREFIX.current if a line is only
    context, PREFIX.meta.jsonl if one has metadata; returns the counts of the first prefix, with the
    description. Parts are read as they are written, so that memory stays small. ``route`` chooses among the
    prefixes by document, and none may be empty."""
    account = Account()
    route = functools.lru_cache(maxsize=1)(route)  # all lines of a document go one way
    names = [corpus_files(prefix, languages) for prefix in prefixes]
    for prefix in prefixes:
        check_no_metadata(prefix)
    with open_outputs([name for each in names for name in each]) as outputs:
        streams = ([outputs[name] for name in each] for each in names)
        corpora = list(map(_Corpus, prefixes, streams))
        for part in tqdm(parts, unit=" documents", disable=None):
            account.add(part.account)
            for place, pairs in itertools.groupby(part.pairs, key=lambda pair: route(pair.document)):
                corpora[place].write(list(pairs))
        if not account.balanced or account.kept != sum(corpus.counts["sentences"] for corpus in corpora):
            raise RuntimeError(f"the account does not add up: {account.as_dict()}")
        if not account.kept:
            raise BadInput(f"no line is left of {account.read}: {json.dumps(account.as_dict()['left_out'])}")
        counts = {corpus.prefix: corpus.counts for corpus in corpora}
        record = {**description, **account.as_dict(), "corpora": counts}
        for corpus in corpora:
            if not corpus.counts["sentences"]:
                raise BadInput("would be empty: no document goes there", corpus.prefix)
            corpus.counts_file.write(json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n")
            if not corpus.counts["context_only"]:
                outputs.pop(f"{corpus.prefix}.current")
            if not corpus.with_metadata:
                outputs.pop(f"{corpus.prefix}.meta.jsonl")
    return record
