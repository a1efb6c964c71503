"""The options of beam search, of every command that translates documents."""

from typing import Any, Dict, Sequence

HELP = {"lenpen": "length penalty", "max_len_a": "at most a x + b tokens for x in the source"}


def add_search_options(parser: Any, names: Sequence[str] = ()) -> Any:
    """``--beam`` and its like; returns their group.

    Args:
        names: settings of the search; default: all.
    """
    from ctxmt_fairseq.option_types import number, whole_number
    from ctxmt_fairseq.search.search_settings import BOUNDS, SearchSettings

    search = parser.add_argument_group("search")
    for name in names or BOUNDS:
        whole = SearchSettings.__annotations__[name] is int
        least, most = BOUNDS[name]
        search.add_argument(
            f"--{name.replace('_', '-')}",
            type=whole_number(int(least), int(most)) if whole else number(least, most),
            default=getattr(SearchSettings, name),
            help=HELP.get(name),
        )
    return search


def search_options(args: Any) -> Dict[str, Any]:
    """Those that the command has, by name."""
    from ctxmt_fairseq.search.search_settings import BOUNDS

    return {name: getattr(args, name) for name in BOUNDS if hasattr(args, name)}
