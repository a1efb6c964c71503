"""Tokens as readers of a map want to see them."""

from typing import Any, List, NamedTuple

from torch import Tensor

from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR


class Token(NamedTuple):
    """A token's name, and whether it is (part of) a word: no punctuation, no ``<bos>`` or ``<eos>``."""

    label: str
    word: bool


def describe(dictionary: Any, tokens: Tensor) -> List[Token]:
    """The real tokens of a sentence (L,), which may have pads anywhere, in their order."""
    names = {dictionary.bos(): "<bos>", dictionary.eos(): "<eos>"}
    symbols = {*names, dictionary.index(SEPARATOR), dictionary.index(MASK)}
    return [
        Token(names.get(token, dictionary[token]), token not in symbols and has_letters(dictionary[token]))
        for token in tokens[tokens.ne(dictionary.pad())].tolist()
    ]
