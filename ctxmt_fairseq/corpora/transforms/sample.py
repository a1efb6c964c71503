"""Sentences that are drawn from a corpus, each equally likely, and around each the lines of its context.

What is drawn is marked 1 in PREFIX.current, and what stays as context 0; lines that serve as context only are
not drawn. Lines that do not follow those before in their document are a document of their own, NAME#2, .. The
triples of Voita et al. (2018) are --context 1 --context-after 1.

Example: ctxmt corpus sample text/films --size 10000 --source-lang en --target-lang de --out text/dev
"""

import random
from typing import Any, Iterator

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.pairs import Part, part_of, runs
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.option_types import non_negative_int, positive_int, seed


def add_arguments(parser: Any) -> None:
    options.add_prefix(parser)
    parser.add_argument("--size", type=positive_int, required=True, metavar="N", help="sentences to draw")
    parser.add_argument("--context", type=non_negative_int, default=5, metavar="K",
                        help="sentences before each that stay as context (default: 5)")  # fmt: skip
    parser.add_argument("--context-after", type=non_negative_int, default=0, metavar="K",
                        help="sentences after each (default: 0)")  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: 1)")
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    return sample(options.text_files(args), args.size, args.context, args.context_after, args.seed)


def sample(files: TextFiles, size: int, before: int = 5, after: int = 0, seed: int = 1) -> Iterator[Part]:
    """Selection sampling (Knuth, The Art of Computer Programming 2, section 3.4.2, algorithm S): a pass to
    count, one to draw, and nothing in memory but a document."""
    left = sum(row.current != "0" for row in files.rows())
    short = max(0, size - left)
    draw = random.Random(seed)
    for document in files.documents():
        drawn = set()
        for place, pair in enumerate(document):
            if pair.current:
                if draw.random() * left < size - short:
                    drawn.add(place)
                    size -= 1
                left -= 1
        near = {at for place in drawn for at in range(place - before, place + after + 1)}
        marked = [pair._replace(current=place in drawn) for place, pair in enumerate(document)]
        kept = runs(marked, near.intersection(range(len(document))))
        yield part_of(len(document), kept, "not sampled")
    part = part_of(0, [])
    part.account.remarks["sentences fewer than --size asks for"] += short
    yield part


run = options.writes("sample", "lines", parts)
