"""Cleans subtitles, in named steps that can be chosen and counted."""

import argparse
import functools
import html
import re
from collections import Counter
from typing import Callable, Dict, List, Sequence, Tuple

Step = Callable[[str, str], str]  # a line and its language -> the line

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,40}>|\{\\?[^{}]{1,40}\}")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\*[^*]+\*")
_SPEAKER = re.compile(r"\s*(?P<name>[^:]{2,40}?)\s?:(?!\d)\s*")
_DASH = re.compile(r"^(?:\s*[-‐-―−])+(?=\s|[^\W\d]|[¡¿\"'«„“.…])\s*")
_MUSIC = re.compile(r"[♪♫♬♩]+|(?:^|(?<=\s))#+(?=\s|$)")
# Scanners take a small L for a capital i, a capital i for a small L, and a bar for either.
_SLIPS: Dict[str, List[Tuple[re.Pattern, str]]] = {
    "": [(re.compile(r"(?<!\S)\|(?=[\s'’]|$)"), "I"), (re.compile(r"(?<=[a-zà-ÿ])II(?=\b|[a-z])"), "ll")],
    "en": [
        (re.compile(r"(?<![\w'’])l(?=(?:['’](?:m|ll|ve|d))?(?:[\s,.!?]|$))"), "I"),
        (re.compile(r"(?<=\bI['’])II\b"), "ll"),
        (re.compile(r"\bln(?=\s)"), "In"),
        (re.compile(r"\blt(?=['’]s\b|\s)"), "It"),
        (re.compile(r"\bls(?=\s)"), "Is"),
        (re.compile(r"\blf(?=\s)"), "If"),
    ],
    "fr": [
        (re.compile(r"(?<!\w)I(?=['’][a-zà-ÿ])"), "l"),
        (re.compile(r"\biI(?=s?\b)"), "il"),
        (re.compile(r"\bII(?=s?\b)"), "Il"),
    ],
    "de": [(re.compile(r"\bl(?=(?:ch|hm|hn|hnen|hr|m|n|st)\b(?![(\[]))"), "I")],  # but ln(x)
}


def _entities(line: str, language: str) -> str:
    """Resolve character references, also those that were escaped twice."""
    return html.unescape(html.unescape(line)).replace("\0", "")


def _speakers(line: str, language: str) -> str:
    """Remove a name in capitals and a colon before what is said."""
    found = _SPEAKER.match(line)
    if found and found["name"].isupper() and len(found["name"].split()) <= 4:
        return line[found.end() :]
    return line


def _ocr(line: str, language: str) -> str:
    for pattern, letter in (*_SLIPS[""], *_SLIPS.get(language, ())):
        line = pattern.sub(letter, line)
    return line


@functools.cache
def _primary(language: str) -> str:
    from ctxmt_fairseq.text.languages import primary

    return primary(language)


@functools.cache
def _normalizer(language: str) -> Tuple[re.Pattern, Callable[[str], str]]:
    """Where one of its rules matches, and what applies them all, which takes seven times as long."""
    from sacremoses import MosesPunctNormalizer

    normalizer = MosesPunctNormalizer(lang=language)
    # One of them writes a single blank for a single blank.
    rules = ("  +" if rule == " +" else rule for rule, _ in normalizer.substitutions)
    return re.compile("|".join(f"(?:{rule})" for rule in rules)), normalizer.normalize


def _punctuation(line: str, language: str) -> str:
    """As Moses' normalize-punctuation writes it."""
    any_rule, normalize = _normalizer(language)
    return normalize(line) if any_rule.search(line) else line.strip()


# They are applied in this order.
STEPS: Dict[str, Step] = {
    "entities": _entities,
    "markup": lambda line, _: _TAG.sub(" ", line),  # tags such as <i> and styles such as {\\an8}
    "music": lambda line, _: _MUSIC.sub(" ", line),  # notes around lyrics, or # instead of them
    "brackets": lambda line, _: _BRACKETS.sub(" ", line),  # heard but not said: (laughs), [slam], *sighs*
    "dashes": lambda line, _: _DASH.sub("", line),  # before a turn of a dialogue
    "speakers": _speakers,
    "ocr": _ocr,
    "punctuation": _punctuation,
}


def chosen_steps(names: str) -> Tuple[str, ...]:
    """Read the steps of ``--clean``: all, none, or names joined by commas; ``-NAME`` leaves one out."""
    if names == "none":
        return ()
    given = [] if names == "all" else [name.strip() for name in names.split(",")]
    for name in given:
        if name.removeprefix("-") not in STEPS:
            raise argparse.ArgumentTypeError(f"{name}: expected all, none, or names from {', '.join(STEPS)}")
    without = {name[1:] for name in given if name.startswith("-")}
    wanted = {name for name in given if not name.startswith("-")} or set(STEPS)
    return tuple(name for name in STEPS if name in wanted - without)


def clean(line: str, language: str, steps: Sequence[str], changed: Counter) -> str:
    """Clean a line; ``changed`` counts as ``cleaned: STEP`` the lines that a step changed.

    Blanks stay as they are, because ``pairs.DocumentBuilder`` folds them.
    """
    for name in steps:
        after = STEPS[name](line, _primary(language))
        if after != line:
            changed[f"cleaned: {name}"] += 1
            line = after
    return line
