"""Reads JSON files, JSON lines and their entries, with errors that name the place. All JSON is read here.

These are refused in one line, where Python's own reader would accept them or stop in its own words: deep
nesting, numbers that no float or 64-bit integer holds, NaN and infinity, and half characters (lone
surrogates), which could not be written again.
"""

import itertools
import json
import logging
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, read_text

logger = logging.getLogger(__name__)

KINDS = {
    str: "a string", int: "a whole number", float: "a number", list: "a list", dict: "an object",
    bool: "true or false",
}  # fmt: skip
_KEYS = 20  # of an object in a message
_DEPTH = 64  # brackets within brackets; the public formats have 6
_TOO_DEEP = f"expected at most {_DEPTH} brackets within each other"


@dataclass(frozen=True)
class Place:
    """A place in a file, to be named in an error."""

    path: object
    line: Optional[int] = None
    part: str = ""

    def error(self, message: str) -> BadInput:
        """Make the ``BadInput`` to raise."""
        return BadInput(f"{self.part}: {message}" if self.part else message, self.path, self.line)


def load_json(path: PathLike, large: bool = False) -> Any:
    """Read the value in a UTF-8 JSON file. Of a repeated key the last value counts, and a warning says so. A
    whole number of more than 64 bits is refused, or becomes a float if it may be ``large``."""
    try:
        text = read_text(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"expected UTF-8, found byte 0x{error.object[error.start]:02x}", path, line) from None
    return parse_json(text, path, large=large)


def json_lines(path: PathLike) -> Iterator[Tuple[Place, Any]]:
    """Yield the value on each line of a file, and its place."""
    for number, line in enumerate(iterate_lines(path), 1):
        yield Place(path, number), parse_json(line, path, number)


def json_list(path: PathLike) -> List[Tuple[Place, Any]]:
    """The entries of a list in a JSON file, each with its place for messages."""
    records = load_json(path)
    if not isinstance(records, list) or not records:
        raise BadInput("expected a list of objects", path)
    return [(Place(path, part=f"example {number}"), record) for number, record in enumerate(records, 1)]


def parse_json(text: str, path: PathLike, line: Optional[int] = None, large: bool = False) -> Any:
    """Read the value of JSON text, on a line of a file or in the whole of it, as ``load_json`` does."""

    def unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated = next(key for key, count in counts.items() if count > 1)
            logger.warning("%s: the key %r is repeated; its last value counts", path, repeated)
        return value

    whole = _int_or_float if large else _int
    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_int=whole, parse_float=_float, parse_constant=_constant
        )
        if text.count("[") + text.count("{") > _DEPTH:
            _check_depth(value, _DEPTH)
        if "\\u" in text:  # only this can mean half a character
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        alone = "; each line is to be JSON by itself" if line else ""
        raise BadInput(f"expected JSON: {error.msg}{alone}", path, line or error.lineno) from None
    except RecursionError:
        raise BadInput(_TOO_DEEP, path, line) from None
    except UnicodeEncodeError:
        raise BadInput("expected text, found half a character", path, line) from None
    except _Refused as error:
        raise BadInput(str(error), path, line) from None
    return value


class _Refused(Exception):
    pass


def _int(digits: str) -> int:
    value = int(digits) if len(digits) <= 20 else 2**64
    if not -(2**63) <= value < 2**63:
        raise _Refused(f"expected a number of 64 bits, found {digits[:20]}")
    return value


def _int_or_float(digits: str) -> float:
    return _int(digits) if len(digits) < 19 else _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _Refused(f"expected a number, found {digits[:20]}, which is beyond any")
    return value


def _constant(name: str) -> Any:
    raise _Refused(f"expected a number, found {name}")


def _check_depth(value: Any, left: int) -> None:
    if isinstance(value, (dict, list)):
        if not left:
            raise _Refused(_TOO_DEEP)
        for inner in value.values() if isinstance(value, dict) else value:
            _check_depth(inner, left - 1)


def get(place: Place, record: Any, key: str, kind: type, null: bool = False) -> Any:
    """Check that ``record[key]`` is there and of this kind (or null), and return it; 1 is a float, too."""
    if not isinstance(record, dict):
        raise place.error(f"expected an object with the key {key!r}")
    if key not in record:
        found = [repr(name)[:60] for name in itertools.islice(record, _KEYS)]
        more = ["..."] if len(record) > _KEYS else []
        raise place.error(f"expected the key {key!r}, found {', '.join(found + more) or 'none'}")
    value = record[key]
    if null and value is None:
        return None
    if kind is float and type(value) is int:
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise place.error(f"expected {KINDS[kind]} at the key {key!r}, found {json.dumps(value)[:60]}")
    return value


def get_sentences(place: Place, record: Any, key: str) -> List[str]:
    """Read ``record[key]`` as a non-empty list of strings, and remove blanks at their ends."""
    return sentences(place, get(place, record, key, list), key)


def sentences(place: Place, value: Any, what: str) -> List[str]:
    """Read ``value`` as a non-empty list of strings, and remove blanks at their ends."""
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise place.error(f"expected {what!r} to be a list of sentences")
    return [item.strip() for item in value]
