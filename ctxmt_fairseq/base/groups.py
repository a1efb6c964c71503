"""Values by their keys."""

from typing import Dict, Iterable, List, Tuple, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(pairs: Iterable[Tuple[Key, Value]]) -> Dict[Key, List[Value]]:
    """Key -> its values; both stay in their order."""
    found: Dict[Key, List[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
