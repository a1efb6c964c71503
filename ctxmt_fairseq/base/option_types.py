"""What options take, as argparse's types: whole numbers, probabilities, names. Each says what it expects."""

import argparse
import math
import numbers
import os
import re
from typing import Any, Callable

_MOST = 2**31 - 1  # sizes and counts end up in 32-bit integers here and there in torch and fairseq


def whole_number(least: int, most: int = _MOST) -> Callable[[str], int]:
    """The type of whole numbers within bounds, both included."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or not least <= int(text) <= most:
            bounds = f"from {least} to {most}" if most != _MOST else f"of at least {least}"
            raise argparse.ArgumentTypeError(f"expected a whole number {bounds}, found {text[:40]!r}")
        return int(text)

    return parse


positive_int = whole_number(1)
non_negative_int = whole_number(0)
workers = whole_number(1, 256)
seed = whole_number(0, 2**32 - 1)  # what NumPy's generators take


def plain_number(value: Any) -> Any:
    """A number of NumPy, or of another library, as Python's own; anything else as it is."""
    if type(value) is bool or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def finite_float(text: str) -> float:
    """A number that is neither infinite nor NaN."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, found {text[:40]!r}")
    return value


def number(least: float, most: float) -> Callable[[str], float]:
    """The type of numbers within bounds, both included."""

    def parse(text: str) -> float:
        value = finite_float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, found {text[:40]!r}")
        return value

    return parse


def share(text: str) -> float:
    """A number above 0, at most 1."""
    value = finite_float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, at most 1, found {text[:40]!r}")
    return value


def text_that(fits: Callable[[str], object], expected: str) -> Callable[[str], str]:
    """The type of texts for which ``fits`` is true."""

    def parse(text: str) -> str:
        if not fits(text):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {text[:40]!r}")
        return text

    return parse


def name(text: str) -> str:
    """The name of a file or folder, not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a name, found nothing")
    return text


# A language as the end of a file's name, and by its code in ISO 639; names that are joined; how names begin.
language = text_that(re.compile(r"\w[\w.@+-]*").fullmatch, "a language, such as en")
language_code = text_that(re.compile("[a-z]{2,3}").fullmatch, "a code of a language, such as cs")
names = text_that(lambda text: all(map(str.strip, text.split(os.pathsep))), f"names joined by {os.pathsep!r}")
prefix = text_that(lambda text: os.path.basename(name(text)) not in ("", ".", ".."), "how files' names begin")
