"""Reads how much each word of a training text's target side counts in the loss.

Weights come from one of three files:

- numbers: for each line of the text one for every word, 0 or more, with blanks between them;
- tags (``word_tags``): a tagged word weighs W, or what its tag weighs; any other 1;
- bits, which ``ctxmt probe --words`` wrote: W for a word of which context saves a bit or more, 1 where it
  saves nothing or costs something, and between 1 and W in between.

Words are those that the subword model reads, which are ``words_of`` the text unless it was tokenised, too.
All subwords of a word have its weight.
"""

import math
from collections import Counter
from typing import Any, Iterator, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, one_each
from ctxmt_fairseq.text.word_tags import check_tags, iterate_tags, overlaps, plain

TAGS, CXMI = "tags", "cxmi"


class LineWeights(NamedTuple):
    """The weights of the words of a line (from 0), where they were read, and the words, if known."""

    place: Place
    line: int
    weights: Sequence[float]
    words: Optional[List[str]] = None

    def of(self, words: Sequence[str]) -> np.ndarray:
        """The weights (W,) of the words that the subword model reads, "" for an unknown one; one that is
        several words of the file has the largest weight of these, 1 if all are nan. Other words are
        ``BadInput``, unless they are as many and mostly as long: written otherwise, not cut otherwise."""
        weights = np.array(self.weights, np.float32)
        alike = len(weights) == len(words)
        if not alike or self.words not in (None, words):
            own = self.words or [each for word in words for each in words_of(word)]
            parts = overlaps(own, words) if len(own) == len(weights) else None
            if parts is not None:
                largest = [np.fmax.reduce(weights[part], initial=np.nan) for part in parts]
                weights = np.array(largest, np.float32)
            elif not alike or not _cut_alike(own, words):
                wanted = f"{len(words)} words, as the subword model reads them"
                raise self.place.error(f"expected {wanted}, found {len(weights)}")
        return np.nan_to_num(weights, nan=1)


def _cut_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether most of as many words are as long as the others, of which an unknown one is empty."""
    pairs = zip(words, others, strict=True)
    return 2 * sum(len(plain(word)) == len(plain(other)) or not other for word, other in pairs) >= len(words)


def written_weights(path: PathLike, sentences: int) -> Iterator[LineWeights]:
    """Yield the weights of a file of numbers."""
    for number, text in enumerate(one_each(iterate_lines(path), sentences, path)):
        place = Place(path, number + 1)
        yield LineWeights(place, number, [_weight(place, word) for word in text.split()])


def tag_weights(
    path: PathLike, sentences: int, weight: float, by_tag: Mapping[str, float]
) -> Iterator[LineWeights]:
    """Yield the weights of a file of tags; ``weight`` is W, unless ``by_tag`` says what each tag weighs: of a
    word with several, the largest. One of these that no word has is ``BadInput``."""
    seen = Counter[str]()
    for number, line in enumerate(one_each(iterate_tags(path), sentences, path)):
        seen.update(tag for tags in line.tags for tag in tags)
        named = [[tag for tag in tags if not by_tag or tag in by_tag] for tags in line.tags]
        found = [[by_tag.get(tag, weight) for tag in tags] for tags in named]
        yield LineWeights(line.place, number, [max(each, default=math.nan) for each in found], line.words)
    check_tags(by_tag, seen, path, "--token-weights")


def cxmi_weights(path: PathLike, sentences: int, weight: float) -> Iterator[LineWeights]:
    """Yield the weights of a file of bits, which need not have every line; ``weight`` is W."""
    seen = np.zeros(sentences, bool)
    for place, record in json_lines(path):
        line = get(place, record, "line", int) - 1
        if not 0 <= line < sentences or seen[line]:
            raise place.error(f"expected lines from 1 to {sentences}, each once, found {line + 1}")
        seen[line] = True
        bits = _numbers(place, record)
        yield LineWeights(place, line, 1 + (weight - 1) * bits.clip(0, 1), get(place, record, "words", list))
    if not seen.any():
        raise BadInput("expected the output of ctxmt probe --words, found an empty file", path)


def _numbers(place: Place, record: Any) -> np.ndarray:
    bits, words = (get(place, record, key, list) for key in ("bits", "words"))
    if not all(type(value) in (int, float) for value in bits) or len(bits) != len(words):
        raise place.error("expected 'bits' to be a list with a number for each of 'words'")
    if not all(isinstance(word, str) for word in words):
        raise place.error("expected 'words' to be a list of strings")
    return np.array(bits, np.float64)


def _weight(place: Place, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e6:
        raise place.error(f"expected weights from 0 to a million, found {text[:20]!r}")
    return value
