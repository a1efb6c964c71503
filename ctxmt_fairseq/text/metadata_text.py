"""Turns metadata, as files have it, into the texts that are embedded (MTCue, section 3.1 and table 2)."""

import re
from typing import Any, Callable, Dict, Iterable, Optional

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, parse_json
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
    """Read a line of a ``.meta.jsonl``: value by field (``texts_by_field``)."""
    return texts_by_field(parse_json(line, path, number), Place(path, number).error)


def texts_by_field(fields: Any, error: Callable[[str], BadInput] = BadInput) -> Dict[str, str]:
    """Turn the values of a JSON object into texts: strings, numbers, and null, which is no value.

    A list of them is joined by commas, and so is a list such as ``[{"Source": "Metacritic", "Value":
    "66/100"}, ...]``, the ratings in a record of the Open Movie Database.

    Args:
        error: makes the error for anything else.
    """
    if not isinstance(fields, dict):
        raise error("expected a JSON object of strings")
    texts = {}
    for field, value in fields.items():
        parts = [_text(part) for part in (value if isinstance(value, list) else [value]) if part is not None]
        if None in parts:
            raise error(f"expected a JSON object of strings, found another value of the field {field!r}")
        if value is not None:
            texts[field] = ", ".join(map(str, parts))
    return texts


def _text(part: Any) -> Optional[str]:
    """The text of a string, a number, or an object with a source and a value; None for anything else."""
    if isinstance(part, dict) and all(isinstance(part.get(key), str) for key in ("Source", "Value")):
        return f"{part['Source']} {part['Value']}"
    return str(part) if isinstance(part, (str, int, float)) and not isinstance(part, bool) else None


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


def prompts(texts: Iterable[str]) -> Dict[str, str]:
    """The fields of texts that have none, in their order."""
    return {f"prompt {number}": text for number, text in enumerate(texts, 1)}


def is_prompt(field: str) -> bool:
    """Whether a field's text is not the corpus's but says something to the model, such as "Formal
    conversation": the fields "", "prompt", "prompt 2", ... They stay, whatever fields are chosen."""
    return re.fullmatch(r"|prompt( \d+)?", field) is not None
