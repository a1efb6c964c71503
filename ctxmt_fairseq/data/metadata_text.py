"""Metadata as files have it, and the text that is embedded for a value (MTCue, section 3.1 and table 2)."""

import re
from typing import Dict, Optional

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import parse_json
from ctxmt_fairseq.errors import BadInput

NON_VALUES = frozenset(
    ["", "-", "--", "?", "n/a", "none", "null", "nan", "unknown", "undefined", "unspecified", "not specified"]
    + ["not available", "not applicable", "not rated", "unrated"]
)
# Fields whose values say too little by themselves, as they are called in film databases.
PREFIXES = {
    **dict.fromkeys(["rating", "rated", "pgrating", "pg"], "PG rating:"),
    **dict.fromkeys(["year", "released", "releaseyear", "releasedate"], "Released in"),
    **dict.fromkeys(["writer", "writers"], "Writers:"),
    **dict.fromkeys(["director", "directors"], "Directors:"),
    **dict.fromkeys(["actor", "actors", "cast"], "Actors:"),
}


def single_spaces(text: str) -> str:
    """The text on one line, with single spaces between its words."""
    return " ".join(text.split())


def parse_metadata(line: str, path: PathLike, number: int) -> Dict[str, str]:
    """A line of a ``.meta.jsonl``: value by field.

    Args:
        path, number: where the line stands, for the error.

    Raises:
        BadInput: no JSON object of strings.
    """
    fields = parse_json(line, path, number)
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise BadInput("expected a JSON object of strings", path, number)
    return fields


def metadata_text(field: str, value: str) -> Optional[str]:
    """What is embedded for a field's value; None if the value says nothing.

    ``metadata_text("pg_rating", "R")`` is "PG rating: R"; a value that has its prefix keeps it. The value of
    the field "" is a text for itself, and taken as it is.
    """
    text = single_spaces(value)
    if not field:
        return text or None
    prefix = PREFIXES.get(re.sub(r"[\s_-]", "", field.casefold()), "")
    if prefix and text[: len(prefix)].casefold() == prefix.casefold():
        text = text[len(prefix) :].strip()
    if text.casefold().rstrip(".") in NON_VALUES:
        return None
    return f"{prefix} {text}" if prefix else text


def is_prompt(field: str) -> bool:
    """Whether a field's text is addressed to the model, such as "Formal conversation", instead of being the
    corpus': the fields "", "prompt", "prompt 2", ... A choice of fields does not concern it."""
    return not field or field.startswith("prompt")
