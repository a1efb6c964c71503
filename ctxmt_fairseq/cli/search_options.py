"""The options of beam search, of every command that translates documents."""

import argparse
from typing import Any

SEARCH = ("beam", "lenpen", "max_len_a", "max_len_b", "min_len", "unkpen", "no_repeat_ngram_size")


def add_search_options(parser: Any) -> Any:
    """``--beam`` and its like; returns their group."""
    from ctxmt_fairseq.cli.option_types import beam, non_negative_int, number

    search = parser.add_argument_group("search")
    search.add_argument("--beam", type=beam, default=5)
    search.add_argument("--lenpen", type=number(-100, 100), default=1.0, help="length penalty")
    search.add_argument(
        "--max-len-a", type=number(0, 1000), default=0, help="at most a x + b tokens for x in the source"
    )
    search.add_argument("--max-len-b", type=non_negative_int, default=200)
    search.add_argument("--min-len", type=non_negative_int, default=1)
    search.add_argument("--unkpen", type=number(-1e6, 1e6), default=0)
    search.add_argument("--no-repeat-ngram-size", type=non_negative_int, default=0)
    return search


def search_options(args: Any) -> argparse.Namespace:
    """What fairseq's generator takes of them."""
    return argparse.Namespace(**{name: getattr(args, name) for name in SEARCH})
