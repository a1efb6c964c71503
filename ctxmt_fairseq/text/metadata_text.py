"""Turns metadata, as files have it, into the texts that are embedded (MTCue, section 3.1 and table 2)."""

import re
from typing import Any, Dict, Optional

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import parse_json
from ctxmt_fairseq.text.text_lines import PathLike

NON_VALUES = frozenset(
    ["", "-", "--", "?", "n/a", "none", "null", "nan", "unknown", "undefined", "unspecified", "not specified"]
    + ["not available", "not applicable", "not rated", "unrated"]
)
# The names, in film databases, of fields whose values say too little by themselves.
PREFIXES = {
    **dict.fromkeys(["rating", "rated", "pgrating", "pg"], "PG rating:"),
    **dict.fromkeys(["year", "released", "releaseyear", "releasedate", "yearofrelease"], "Released in"),
    **dict.fromkeys(["writer", "writers", "writtenby"], "Writers:"),
    **dict.fromkeys(["director", "directors", "directedby"], "Directors:"),
    **dict.fromkeys(["actor", "actors", "cast", "starring"], "Actors:"),
}
# The prefixes that corpora give such values themselves; a value may have one twice.
OWN_PREFIXES = {
    "PG rating:": r"(?:pg )?rating\s*:|rated\b:?",
    "Released in": r"released in\b:?|(?:released|release year|year(?: of release)?)\s*:",
    "Writers:": r"writers?\s*:|written by\b:?",
    "Directors:": r"directors?\s*:|directed by\b:?",
    "Actors:": r"(?:actors?|cast)\s*:|starring\b:?",
}


def single_spaces(text: str) -> str:
    """Put a text on one line, with single spaces between its words."""
    return " ".join(text.split())


def parse_metadata(line: str, path: PathLike, number: int) -> Dict[str, str]:
    """Read a line of a ``.meta.jsonl``: value by field.

    Values are strings, or lists of strings as in a record of the Open Movie Database (see
    ``texts_by_field``).

    Args:
        path, number: where the line is, for the error.
    """
    texts = texts_by_field(parse_json(line, path, number))
    if texts is None:
        raise BadInput("expected a JSON object of strings", path, number)
    return texts


def texts_by_field(fields: Any) -> Optional[Dict[str, str]]:
    """Turn the values of a JSON object into texts; None: it is no such object, or has other values.

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
    """Turn an object with a source and a value into a text; anything else stays as it is."""
    if isinstance(part, dict) and all(isinstance(part.get(key), str) for key in ("Source", "Value")):
        return f"{part['Source']} {part['Value']}"
    return part


def metadata_text(field: str, value: str) -> Optional[str]:
    """The text that is embedded for a field's value; None: the value says nothing.

    ``metadata_text("pg_rating", "R")`` is "PG rating: R", and "Rated R" gives the same, because a value's own
    prefix is replaced. The value of the field "" is taken as it is.
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
    """Whether a field's text is not the corpus's but says something to the model, such as "Formal
    conversation": the fields "", "prompt", "prompt 2", ... They stay, whatever fields are chosen."""
    return not field or field.startswith("prompt")
