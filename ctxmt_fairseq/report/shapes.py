"""What the commands' JSON looks like, as far as the page shows it, and the check that a file does."""

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional

from ctxmt_fairseq.data.json_files import KINDS, Place

LARGEST = 1e9  # number that is shown
NAMES = {**KINDS, float: "a number"}


@dataclass(frozen=True)
class Maybe:
    """The shape, or null, or no such key."""

    shape: Any


TALLY = {"accuracy": float, "examples": int, "ties": int}
CONTRAST = {
    "name": str,
    "convention": str,
    **TALLY,
    "phenomena": {str: TALLY},
    "distances": {str: TALLY},
    "disc": Maybe(float),
    "disc_avg": Maybe(float),
    "disc_all_d": Maybe(float),
}
SCORES = {
    "sentences": int,
    "scores": [
        {"name": str, "level": str, "score": float, "signature": str, "digits": Maybe(int),
         "confidence": Maybe(float)}
    ],
}  # fmt: skip
TEST = {"a": str, "b": str, "p_holm": float, "stars": str}
CONTEXT = {
    "context": str,
    "cxmi": float,
    "bits_per_sentence": float,
    "bleu": Maybe(float),
    "chrf2": Maybe(float),
}
SHAPES: Dict[str, Any] = {
    "results": {"translations": {str: SCORES}, "contrast": {str: CONTRAST}},
    "score": SCORES,
    "contrast": CONTRAST,
    "probe": {
        "text": str,
        "contexts": [CONTEXT],
        "comparisons": [{**TEST, "metric": str}],
        "sizes": [{**CONTEXT, "size": int}],
        "top_words": [{"word": str, "n": int, "bits_per_word": float}],
    },
    "comparison of translations": {
        "comparisons": [
            {**TEST, "metric": str, "unit": str, "units": int, "score_a": float, "score_b": float,
             "difference": float, "low": float, "high": float, "randomization_p": float}
        ],
        "signatures": {str: str},
    },
    "comparison of contrast": {
        "comparisons": [
            {**TEST, "group": str, "examples": int, "only_a": int, "only_b": int, "correct_a": int,
             "correct_b": int, "test": str, "p": float}
        ]
    },
    "lengths": {
        "metric": str,
        "buckets": [
            {"least": int, "most": Maybe(int), "sentences": int, "system": str, "score": float, "low": float,
             "high": float}
        ],
    },
    "attention share": {
        "models": [{"name": str, "means": {str: Maybe(float)}}],
        "differences": [{**TEST, "measure": str, "difference": float, "p": float}],
    },
    "chart": {
        "points": [
            {"measure": str, "value": float, "low": Maybe(float), "high": Maybe(float)}
        ]
    },
    "map": {"title": str, "sections": list, "values": list},
}  # fmt: skip
# What tells one kind from the others; of several that fit the first counts.
MARKS: Dict[str, Any] = {kind: set(shape) for kind, shape in SHAPES.items()}
MARKS["contrast"] = {"name", "convention", "phenomena", "distances"}
MADE_BY = {"command": str, "versions": {str: str}}


def kind_of(content: Any) -> Optional[str]:
    """The kind of result that JSON holds; None: none that the page shows."""
    if not isinstance(content, dict):
        return None
    for kind, marks in MARKS.items():
        if marks <= set(content) and _has_rows(kind, content):
            return kind
    return None


def _has_rows(kind: str, content: Mapping[str, Any]) -> bool:
    """Comparisons of either kind are told apart by their rows."""
    if not kind.startswith("comparison"):
        return True
    rows = content["comparisons"]
    key = "metric" if kind.endswith("translations") else "group"
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and key in rows[0]


def check_shape(place: Place, value: Any, shape: Any, name: str = "the whole") -> None:
    """Raises BadInput: a value is not of the shape, which is a type, [the shape of all entries], {key: the
    shape of its value}, or {str: the shape of all values}."""
    if isinstance(shape, Maybe):
        if value is not None:
            check_shape(place, value, shape.shape, name)
    elif isinstance(shape, list):
        check_shape(place, value, list, name)
        for number, entry in enumerate(value, 1):
            check_shape(place, entry, shape[0], f"{name}, entry {number}")
    elif isinstance(shape, dict):
        check_shape(place, value, dict, name)
        for key in value if str in shape else shape:
            inner = shape.get(str, shape.get(key))
            if key not in value and not isinstance(inner, Maybe):
                raise place.error(f"expected the key {key!r} in {name}")
            check_shape(place, value.get(key), inner, repr(key))
    elif shape is float and isinstance(value, (int, float)) and abs(value) > LARGEST:
        raise place.error(f"expected a number of a result as {name}, found {value}")
    elif isinstance(value, bool) or not isinstance(value, (int, float) if shape is float else shape):
        raise place.error(f"expected {NAMES[shape]} as {name}, found {type(value).__name__}")
