"""Reading JSON with errors that name the file, the line or the example, and the expectation."""

import json
import logging
from typing import Any, Dict, List, Tuple

from ctxmt_fairseq.data.documents import PathLike, iterate_lines
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import Place

logger = logging.getLogger(__name__)

KINDS = {str: "a string", int: "a whole number", list: "a list", dict: "an object", bool: "true or false"}


def load_json(path: PathLike) -> Any:
    """The value in a UTF-8 JSON file. Of a repeated key the last value counts, with a warning.

    Raises:
        BadInput: no such file, invalid UTF-8, or invalid JSON.
    """

    def unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for key in keys if keys.count(key) > 1)
            logger.warning("%s: the key %r is repeated; its last value counts", path, repeated)
        return value

    try:
        return json.loads("\n".join(iterate_lines(path)), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise BadInput(f"expected JSON: {error.msg}", path, error.lineno) from None


def get(place: Place, record: Any, key: str, kind: type) -> Any:
    """``record[key]``, checked to be there and of the kind.

    Raises:
        BadInput: at ``place``, naming the key and what was expected.
    """
    if not isinstance(record, dict):
        raise place.error(f"expected an object with the key {key!r}")
    if key not in record:
        raise place.error(f"expected the key {key!r}, found {', '.join(map(repr, record)) or 'none'}")
    value = record[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise place.error(f"expected {KINDS[kind]} at the key {key!r}, found {json.dumps(value)[:60]}")
    return value


def get_sentences(place: Place, record: Any, key: str) -> List[str]:
    """``record[key]`` as a non-empty list of strings, blanks at their ends removed."""
    return sentences(place, get(place, record, key, list), key)


def sentences(place: Place, value: Any, what: str) -> List[str]:
    """``value`` as a non-empty list of strings, blanks at their ends removed."""
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise place.error(f"expected {what!r} to be a list of sentences")
    return [item.strip() for item in value]
