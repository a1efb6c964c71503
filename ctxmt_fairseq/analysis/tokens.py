"""The names of tokens for readers of a map."""

from typing import Any, List, NamedTuple, Sequence

from torch import Tensor

from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR


class Token(NamedTuple):
    """A token's name, and whether it is (part of) a word: not punctuation, ``<bos>`` or ``<eos>``."""

    label: str
    word: bool


def describe(dictionary: Any, tokens: Tensor, languages: Sequence[str] = ()) -> List[Token]:
    """The tokens of a sentence (L,) in their order, without pads, which may be anywhere; those of
    ``languages`` (``Subwords.token``) are no words either."""
    names = {dictionary.bos(): "<bos>", dictionary.eos(): "<eos>"}
    symbols = {*names, *map(dictionary.index, (SEPARATOR, MASK, *filter(None, languages)))}
    return [
        Token(names.get(token, dictionary[token]), token not in symbols and has_letters(dictionary[token]))
        for token in tokens[tokens.ne(dictionary.pad())].tolist()
    ]
