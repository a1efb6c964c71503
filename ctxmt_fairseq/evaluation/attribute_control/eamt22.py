"""The public sets of the EAMT 2022 task on attributes of dialogue participants (Vincent et al. 2022).

One JSON array of objects; ``context_csv`` has four fields, each a mark or empty, ``polish`` the reference::

    {"english": "I hear you.", "polish": "Zrozumiałem.", "context_csv": "<sp:masculine>,,,", "marking": ...}
"""

from typing import Any, Dict, List

from ctxmt_fairseq.data.documents import PathLike, read_bytes
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import (
    AttributeExample,
    one_line,
    read_attribute_set,
)

# Field of context_csv -> its marks -> value.
MARKS: Dict[str, Dict[str, str]] = {
    "speaker": {f"<sp:{value}>": value for value in ("feminine", "masculine")},
    "addressee": {f"<il:{value}>": value for value in ("feminine", "masculine", "mixed")},
    "number": {f"<{value}>": value for value in ("singular", "plural")},
    "formality": {f"<{value}>": value for value in ("formal", "informal")},
}
KEYS = ("english", "polish", "context_csv")


def read_any_set(path: PathLike) -> List[AttributeExample]:
    """A set of this kind if the file is a JSON array, else one of JSON lines (``read_attribute_set``)."""
    is_array = read_bytes(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return read_eamt22(path) if is_array else read_attribute_set(path)


def read_eamt22(path: PathLike) -> List[AttributeExample]:
    """The examples with their attributes and references; without phrases, for the set has none.

    Raises:
        BadInput: no such array, or a mark that is unknown or in another field.
    """
    records = load_json(path)
    place = Place(path)
    if not isinstance(records, list) or not records:
        raise place.error("expected a JSON array of examples")
    return [_example(Place(path, part=f"example {number}"), each) for number, each in enumerate(records, 1)]


def _example(place: Place, record: Any) -> AttributeExample:
    english, polish, marks = (get(place, record, key, str) for key in KEYS)
    fields = [field.strip() for field in marks.split(",")]
    if len(fields) != len(MARKS):
        raise place.error(f"expected {len(MARKS)} fields at the key 'context_csv', found {marks!r}")
    attributes = {}
    for (name, values), mark in zip(MARKS.items(), fields, strict=True):
        if mark and mark not in values:
            raise place.error(f"expected {', '.join(values)} or nothing for the {name}, found {mark!r}")
        if mark:
            attributes[name] = values[mark]
    return AttributeExample(
        one_line(place, english, "english"), attributes, {}, {}, None, one_line(place, polish, "polish")
    )
