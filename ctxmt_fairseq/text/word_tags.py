"""Reads tags of the words of a text's target side, such as those of MuDA (Fernandes et al. 2023).

The file has a JSON object for each line of the text: ``{"tags": [[], ["pronouns"], ["formality"]]}`` gives a
list of tags for every word (``words_of``). If the object also has ``"words"``, the tags are those of these
words, which may split the line differently ("c'", "est", "elle", "."). A word then has the tags of all its
parts.
"""

import html
import unicodedata
from collections import Counter
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.text_lines import PathLike, one_each

Tags = List[Tuple[str, ...]]  # of each word
# What SentencePiece's rules of normalisation take for blanks or nothing: joiners, marks of direction, and
# what it writes for blanks.
_UNSEEN = dict.fromkeys([0x8F, 0x9F, 0x61C, *range(0x200B, 0x2010), 0x2581, 0xFEFF, 0xFFFD])


def overlaps(parts: Sequence[str], words: Sequence[str]) -> Optional[List[List[int]]]:
    """Find which parts each word shares a character with, where both are one text, cut in two ways.

    White space, case, compatible characters (NFKC) and invisible ones make no difference, nor what Moses'
    tokeniser has written otherwise in ``words``. None: they are not one text.
    """
    parts, words = ([plain(word) for word in cut] for cut in (parts, words))
    if "".join(parts) != "".join(words):
        words = [html.unescape(word.replace("@-@", "-")) for word in words]  # l&apos;, high @-@ speed
        if "".join(parts) != "".join(words):
            return None
    part = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    return [np.unique(part[end - len(word) : end]).tolist() for word, end in zip(words, ends, strict=True)]


def plain(word: str) -> str:
    """A word as ``overlaps`` compares it."""
    text = unicodedata.normalize("NFKC", word).casefold()
    return "".join((text if text.isascii() else text.translate(_UNSEEN)).split())


class LineTags(NamedTuple):
    """The tags of ``words``, or of ``words_of`` a line if that is None, and where they were read."""

    place: Place
    tags: Tags
    words: Optional[List[str]]

    def of(self, words: Sequence[str]) -> Tags:
        """The tags of the line's words, however they are split; other words are ``BadInput``."""
        if self.words is None:
            if len(self.tags) != len(words):
                wanted = f"tags of the line's {len(words)} words"
                raise self.place.error(f"expected {wanted}, found {len(self.tags)}")
            return self.tags
        found = tags_of_parts(self.tags, self.words, words)
        if found is None:
            raise self.place.error("expected 'words' to be the words of the line")
        return found


def tags_of_parts(tags: Tags, parts: Sequence[str], words: Sequence[str]) -> Optional[Tags]:
    """The tags of words, given those of the parts that the same text was cut into; None: ``overlaps``."""
    found = overlaps(parts, words)
    if found is None:
        return None
    return [tuple(dict.fromkeys(tag for part in each for tag in tags[part])) for each in found]


def iterate_tags(path: PathLike) -> Iterator[LineTags]:
    """Yield the tags of every line of a text."""
    return (_tags(place, record) for place, record in json_lines(path))


def read_tags(path: PathLike, lines: Sequence[str]) -> List[Tags]:
    """The tags of the words (``words_of``) of every line."""
    tags = one_each(iterate_tags(path), len(lines), path)
    return [each.of(words_of(line)) for each, line in zip(tags, lines, strict=False)]


def check_tags(wanted: Iterable[str], found: "Counter[str]", path: PathLike, option: str) -> None:
    """Refuse a tag of ``option`` that no word has."""
    for name in wanted:
        if not found[name]:
            known = ", ".join(name for name, _ in found.most_common(10)) or "none"
            raise BadInput(f"{option} {name}: no line has this tag; the most frequent ones: {known}", path)


def _tags(place: Place, record: Any) -> LineTags:
    entries = get(place, record, "tags", list)
    for entry in entries:
        if not isinstance(entry, list) or not all(isinstance(name, str) for name in entry):
            raise place.error("expected 'tags' to be a list with a list of strings for every word")
    tags = [tuple(dict.fromkeys(entry)) for entry in entries]
    if "words" not in record:
        return LineTags(place, tags, None)
    words = get(place, record, "words", list)
    if len(words) != len(entries) or not all(isinstance(word, str) for word in words):
        raise place.error(f"expected 'words' to be {len(entries)} strings, as many as there are tags")
    return LineTags(place, tags, words)
