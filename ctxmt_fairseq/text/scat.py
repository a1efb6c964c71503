"""Reads SCAT (Yin et al. 2021) and its filtered release (Sarti et al. 2024): sentences with an ambiguous
pronoun (<p>it</p>), the text before them, and the words that show how to translate it (<hon>plants<hoff>).

It comes as four files, line by line (PREFIX.en, PREFIX.fr, PREFIX.context.en, PREFIX.context.fr), or as JSON
with fields of these names: en, fr, context_en, context_fr, with _with_tags behind them or not.
"""

import re
from pathlib import Path
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.text.json_files import Place, get, json_lines, json_list
from ctxmt_fairseq.text.text_lines import PathLike, lines_together

LANGUAGES = ("en", "fr")
PRONOUN = re.compile(r"(?<!\w)<p>([^<>]*)</p>(?!\w)")  # s<p>it</p>ting is an error of the release
_SUPPORT = re.compile(r"<hon>((?:[^<]|<(?!/?hoff>|hon>))*)</?hoff>")
_MARK = re.compile(r"</?(?:p|hon|hoff)>")
_ADDED = re.compile(r"(?<=[\s'’]) (?=<hon>)|(?<=<hoff>) (?=[\s.,)…])")  # blanks around what was marked
_FILE = re.compile(r"(.+?)(?:\.context)?\.(?:en|fr)")
_TAGS = "_with_tags"


class Marked(NamedTuple):
    """A text without its marks, and which of its words, between blanks, a mark is around."""

    text: str
    pronouns: List[int]
    support: List[int]

    @classmethod
    def read(cls, text: str) -> "Marked":
        """Read a text; what is not closed is no mark."""
        text = PRONOUN.sub("\1\\1", _ADDED.sub("", re.sub("[\1\2]", "", text)))
        text = _SUPPORT.sub(lambda marked: re.sub(r"(?<!\S)(?=\S)", "\2", marked[1]), text)
        text = _MARK.sub("", text)
        words = list(enumerate(text.split()))
        found = ([number for number, word in words if sign in word] for sign in "\1\2")
        return cls(re.sub("[\1\2]", "", text), *found)


class Example(NamedTuple):
    """An example: (context, current sentence) of both sides, and the wrong translation, if there is one."""

    place: Place
    source: Tuple[str, str]
    target: Tuple[str, str]
    contrast: Optional[str] = None


def is_scat(path: Path, content: Any) -> bool:
    """Whether a file is one of the four, or a JSON file with a list of such objects."""
    first = content[0] if isinstance(content, list) and content else {}
    if content is None and path.is_file() and (named := _FILE.fullmatch(path.name)):
        return all(path.with_name(name).is_file() for name in _names(named[1], LANGUAGES))
    return isinstance(first, dict) and ("context_en" in first or f"context_en{_TAGS}" in first)


def read_scat(path: PathLike, languages: Sequence[str] = LANGUAGES) -> Iterator[Example]:
    """Read the examples; ``path`` is one of the four files, a JSON file, or JSON lines (.jsonl)."""
    path = Path(path)
    if named := _FILE.fullmatch(path.name):
        files = [path.with_name(name) for name in _names(named[1], languages)]
        for number, (here, there, before, before_there) in enumerate(lines_together(*files), 1):
            yield Example(Place(path, number), (before, here), (before_there, there))
        return
    for place, record in json_lines(path) if path.suffix == ".jsonl" else json_list(path):
        tags = _TAGS if isinstance(record, dict) and languages[0] + _TAGS in record else ""
        names = [name + language + tags for name in ("", "context_") for language in languages]
        here, there, before, before_there = (get(place, record, name, str) for name in names)
        wrong = f"contrast_{languages[1]}{tags}"
        contrast = get(place, record, wrong, str) if wrong in record else None
        yield Example(place, (before, here), (before_there, there), contrast)


def _names(prefix: str, languages: Sequence[str]) -> List[str]:
    return [f"{prefix}.{kind}{language}" for kind in ("", "context.") for language in languages]
