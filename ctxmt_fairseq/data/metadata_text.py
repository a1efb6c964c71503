"""Metadata as files have it, and the text that is embedded for a value (MTCue, section 3.1 and table 2)."""

import re
from typing import Any, Dict, Optional

from ctxmt_fairseq.data.json_files import parse_json
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput

NON_VALUES = frozenset(
    ["", "-", "--", "?", "n/a", "none", "null", "nan", "unknown", "undefined", "unspecified", "not specified"]
    + ["not available", "not applicable", "not rated", "unrated"]
)
# Fields whose values say too little by themselves, as they are called in film databases.
PREFIXES = {
    **dict.fromkeys(["rating", "rated", "pgrating", "pg"], "PG rating:"),
    **dict.fromkeys(["year", "released", "releaseyear", "releasedate", "yearofrelease"], "Released in"),
    **dict.fromkeys(["writer", "writers", "writtenby"], "Writers:"),
    **dict.fromkeys(["director", "directors", "directedby"], "Directors:"),
    **dict.fromkeys(["actor", "actors", "cast", "starring"], "Actors:"),
}
# What such a value begins with where a corpus has a prefix of its own; it may stand there twice.
OWN_PREFIXES = {
    "PG rating:": r"(?:pg )?rating\s*:|rated\b:?",
    "Released in": r"released in\b:?|(?:released|release year|year(?: of release)?)\s*:",
    "Writers:": r"writers?\s*:|written by\b:?",
    "Directors:": r"directors?\s*:|directed by\b:?",
    "Actors:": r"(?:actors?|cast)\s*:|starring\b:?",
}


def single_spaces(text: str) -> str:
    """The text on one line, with single spaces between its words."""
    return " ".join(text.split())


def parse_metadata(line: str, path: PathLike, number: int) -> Dict[str, str]:
    """A line of a ``.meta.jsonl``: value by field.

    Values are strings; or lists of them, as a record of the Open Movie Database has (see ``texts_by_field``).

    Args:
        path, number: where the line stands, for the error.

    Raises:
        BadInput: no such JSON object.
    """
    texts = texts_by_field(parse_json(line, path, number))
    if texts is None:
        raise BadInput("expected a JSON object of strings", path, number)
    return texts


def texts_by_field(fields: Any) -> Optional[Dict[str, str]]:
    """The values of a JSON object as texts; None if it is none, or has other values.

    A list of strings is joined by commas, and so is a list such as ``[{"Source": "Metacritic", "Value":
    "66/100"}, ...]``, the ratings in a record of the Open Movie Database.
    """
    if not isinstance(fields, dict):
        return None
    texts = {}
    for field, value in fields.items():
        parts = [_rating(part) for part in value] if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in parts):
            return None
        texts[field] = ", ".join(parts)
    return texts


def _rating(part: Any) -> Any:
    """An object with a source and a value as a text; anything else as it is."""
    if isinstance(part, dict) and all(isinstance(part.get(key), str) for key in ("Source", "Value")):
        return f"{part['Source']} {part['Value']}"
    return part


def metadata_text(field: str, value: str) -> Optional[str]:
    """What is embedded for a field's value; None if the value says nothing.

    ``metadata_text("pg_rating", "R")`` is "PG rating: R", and so is that of "Rated R": a value's own prefix
    gives way. The value of the field "" is a text for itself, and taken as it is.
    """
    text = single_spaces(value)
    if not field:
        return text or None
    prefix = PREFIXES.get(re.sub(r"[\s_-]", "", field.casefold()), "")
    if prefix:
        text = re.sub(rf"^(?:(?:{OWN_PREFIXES[prefix]})\s*)+", "", text, flags=re.IGNORECASE)
    if text.casefold().rstrip(".") in NON_VALUES:
        return None
    return f"{prefix} {text}" if prefix else text


def is_prompt(field: str) -> bool:
    """Whether a field's text is addressed to the model, such as "Formal conversation", instead of being the
    corpus': the fields "", "prompt", "prompt 2", ... A choice of fields does not concern it."""
    return not field or field.startswith("prompt")
