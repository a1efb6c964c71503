"""Reads SCAT (Yin et al. 2021) and its filtered release (Sarti et al. 2024): sentences with an ambiguous
pronoun (<p>it</p>), the text before them, and the words that show how to translate it (<hon>plants<hoff>).

It comes as four files, line by line (PREFIX.en, PREFIX.fr, PREFIX.context.en, PREFIX.context.fr), or as JSON
with fields of these names: en, fr, context_en, context_fr, with _with_tags behind them or not.
"""

import re
from pathlib import Path
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.text.json_files import Place, get, json_lines, load_json
from ctxmt_fairseq.text.text_lines import PathLike, lines_together

LANGUAGES = ("en", "fr")
_TAGS = "_with_tags"
_MARK = re.compile(r"(</?(?:p|hon|hoff)>)")
_ADDED = re.compile(r"(?<=[\s'’]) (?=<hon>)|(?<=<hoff>) (?=[\s.,)…])")  # blanks around highlights
_FILE = re.compile(r"(.+?)(?:\.context)?\.(?:en|fr)")


class Marked(NamedTuple):
    """A text without its marks, and which of its words, between blanks, a mark is around."""

    text: str
    pronouns: List[int]
    support: List[int]

    @classmethod
    def read(cls, text: str) -> "Marked":
        """Read a text. What is not closed is no mark, nor a pronoun's within a word (s<p>it</p>ting)."""
        plain, opened = "", {"p": -1, "h": -1}
        found: List[Tuple[str, int, int]] = []
        for piece in _MARK.split(_ADDED.sub("", text)):
            if not _MARK.fullmatch(piece):
                plain += piece
            elif piece in ("<p>", "<hon>"):
                opened[piece[1]] = len(plain)
            else:
                kind = "p" if piece == "</p>" else "h"
                found += [(kind, opened[kind], len(plain))] if opened[kind] >= 0 else []
                opened[kind] = -1
        spans = [word.span() for word in re.finditer(r"\S+", plain)]
        words = {
            kind: [
                number for number, (a, b) in enumerate(spans)
                if any(mark == kind and a < end and start < b for mark, start, end in kept)
            ]
            for kind, kept in (("p", [each for each in found if _whole(plain, each)]), ("h", found))
        }  # fmt: skip
        return cls(plain, words["p"], words["h"])


class Example(NamedTuple):
    """An example: (context, current sentence) of both sides, and the wrong translation, if there is one."""

    place: Place
    source: Tuple[str, str]
    target: Tuple[str, str]
    contrast: Optional[str] = None


def is_scat(path: Path, content: Any) -> bool:
    """Whether a file is one of the four, or a JSON file with a list of such objects."""
    named = content is None and path.is_file() and _FILE.fullmatch(path.name)
    if named:
        return all(path.with_name(name).is_file() for name in _names(named[1], LANGUAGES))
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and "context_en" in {name.removesuffix(_TAGS) for name in first}


def read_scat(path: PathLike, languages: Sequence[str] = LANGUAGES) -> Iterator[Example]:
    """Read the examples; ``path`` is one of the four files, a JSON file, or JSON lines (.jsonl)."""
    path = Path(path)
    named = _FILE.fullmatch(path.name)
    if named:
        files = [path.with_name(name) for name in _names(named[1], languages)]
        for number, (here, there, before, before_there) in enumerate(lines_together(*files), 1):
            yield Example(Place(path, number), (before, here), (before_there, there))
        return
    lines = path.suffix == ".jsonl"
    records = json_lines(path) if lines else (
        (Place(path, part=f"example {number}"), record) for number, record in enumerate(load_json(path), 1)
    )  # fmt: skip
    for place, record in records:
        tags = _TAGS if isinstance(record, dict) and f"{languages[0]}{_TAGS}" in record else ""
        contexts, texts = (
            [get(place, record, f"{name}{language}{tags}", str) for language in languages]
            for name in ("context_", "")
        )
        contrast = f"contrast_{languages[1]}{tags}"
        wrong = get(place, record, contrast, str) if contrast in record else None
        yield Example(place, (contexts[0], texts[0]), (contexts[1], texts[1]), wrong)


def _names(prefix: str, languages: Sequence[str]) -> List[str]:
    return [f"{prefix}.{kind}{language}" for kind in ("", "context.") for language in languages]


def _whole(text: str, mark: Tuple[str, int, int]) -> bool:
    _, start, end = mark
    around = text[start - 1 : start] + text[end : end + 1] if start else text[end : end + 1]
    return not any(map(str.isalnum, around))
