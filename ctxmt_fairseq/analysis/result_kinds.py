"""Tells what a result of ``ctxmt`` is by the keys of its JSON, not by the name of its file."""

from typing import Any, Dict, Optional

KINDS: Dict[str, set] = {  # the first kind that fits counts
    "results": {"translations", "contrast"},
    "score": {"sentences", "scores"},
    "contrast": {"name", "convention", "phenomena", "distances"},
    "probe": {"contexts", "sizes", "top_words"},
    "control": {"system", "setting", "accuracy"},
    "comparison of translations": {"comparisons", "signatures"},
    "comparison of contrast": {"comparisons"},
    "lengths": {"metric", "buckets"},
    "attention share": {"models", "differences"},
    "chart": {"points"},
    "map": {"title", "sections", "values"},  # the numbers of a picture
}


def kind_of(content: Any) -> Optional[str]:
    """The kind of result in this JSON; None: none of these."""
    keys = set(content) if isinstance(content, dict) else set()
    return next((kind for kind, marks in KINDS.items() if marks <= keys), None)
