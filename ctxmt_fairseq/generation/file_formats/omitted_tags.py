"""End tags that HTML may leave out: which elements end where another begins, or where their parent ends."""

from typing import Dict, FrozenSet, Iterable

_BEFORE_BLOCKS = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section table ul"
)
# Of these elements; beside each, those at whose start it ends.
_ENDED_BY: Dict[str, FrozenSet[str]] = {
    name: frozenset(starts.split())
    for names, starts in {
        "p": _BEFORE_BLOCKS,
        "li": "li",
        "dt dd": "dt dd",
        "td th": "td th tr tbody tfoot",
        "tr": "tr tbody tfoot",
        "thead tbody tfoot": "tbody tfoot",
        "option": "option optgroup",
        "optgroup": "optgroup",
        "head": "body",
        "body html": "",
    }.items()
    for name in names.split()
}
OMITTABLE = frozenset(_ENDED_BY)


def ended_by_start(open_elements: Iterable[str], tag: str) -> int:
    """Count the elements, of those open from the innermost, that end because one with this tag begins."""
    ended = 0
    for count, name in enumerate(open_elements, 1):
        if name not in _ENDED_BY:
            break
        if tag in _ENDED_BY[name]:
            ended = count
    return ended


def ended_by_end(open_elements: Iterable[str], tag: str = "") -> int:
    """Count those that end because one around them ends; without a tag, because the page does."""
    count = 0
    for name in open_elements:
        if name == tag:
            return count
        if name not in _ENDED_BY:
            break
        count += 1
    return 0 if tag else count
