"""Warns of text that a vocabulary hardly knows, and says what it probably is."""

import itertools
import logging
import unicodedata
from collections import Counter
from typing import Any, Callable, Iterable, Iterator, Optional, Set, Tuple

from ctxmt_fairseq.corpora.bpe_codes import SEPARATOR
from ctxmt_fairseq.corpora.data_folder import PathLike
from ctxmt_fairseq.corpora.subwords import WORD_START, Subwords

logger = logging.getLogger(__name__)
TOLERATED = 0.05  # up to this share of unknown subwords there is no warning
_KINDS = 1000  # so many unknown subwords, the most frequent ones, tell the cause
_SCRIPT_SHARE = 0.01  # of the vocabulary's letters; rarer scripts are those of stray foreign words

CAPITALS = (
    "capitals, where the vocabulary is lower-cased (lower-case the text, or make the data folder with "
    "ctxmt preprocess --lowercase, which does it everywhere)"
)
SCRIPT = "another script than the vocabulary's (are the languages exchanged?)"
UNTOKENISED = "untokenised text, where the vocabulary has punctuation as words of its own"
UNCUT = (
    "whole words, where the vocabulary has pieces: cut the text as the model's was, or make the data folder "
    "with its subwords (preprocess --bpe-codes or --spm), which does it everywhere"
)
LANGUAGE = "another language or subject than the training text's"
CUT = (
    "BPE codes that the model had with a vocabulary (preprocess --bpe-vocabulary; if that is lost, give "
    f"the dictionary), or {LANGUAGE}"
)


def count_unknown(texts: Iterable[str], subwords: Subwords, dictionary: Any) -> Tuple[int, Counter]:
    """Count the subwords of sentences, and how often each one occurs that ``dictionary`` lacks."""
    total = 0
    unknown: Counter = Counter()
    for text in texts:
        pieces = subwords.encode(text).split()
        total += len(pieces)
        unknown.update(piece for piece in pieces if piece not in dictionary)
    return total, unknown


def warn_of_unknown(
    name: PathLike, total: int, unknown: Counter, subwords: Subwords, dictionary: Any
) -> bool:
    """Warn if more than 5 % of a text's subwords are unknown (``count_unknown``), and say whether."""
    share = unknown.total() / max(total, 1)
    if share > TOLERATED:
        kind = "subwords" if subwords.cuts_words else "words"
        pieces = (piece.strip(WORD_START).removesuffix(SEPARATOR) for piece, _ in unknown.most_common(5))
        examples = ", ".join(f'"{piece}"' for piece in pieces)
        logger.warning(
            "%s: %.1f %% of the %s are unknown to the vocabulary (%d of %d: %s); the likely cause: %s",
            name, 100 * share, kind, unknown.total(), total, examples,
            likely_cause(unknown, subwords, dictionary),
        )  # fmt: skip
    return share > TOLERATED


def likely_cause(unknown: Counter, subwords: Subwords, dictionary: Any) -> str:
    """Find the cause that explains most of the unknown subwords."""
    pieces = sum(map(_is_piece, dictionary.symbols))
    if not subwords.cuts_words and pieces > len(dictionary) // 100 and not any(map(_is_piece, unknown)):
        return UNCUT
    scripts = _scripts_of(dictionary)
    known = _knows(subwords, dictionary)
    cased = any(symbol != symbol.lower() for symbol in _symbols(dictionary))
    causes: Counter = Counter()
    for piece, count in unknown.most_common(_KINDS):
        text = piece.replace(WORD_START, " ").removesuffix(SEPARATOR).strip()
        if text and not known(text):
            causes[_cause(text, scripts, known, cased)] += count
        elif text and subwords.steps.separator:  # SentencePiece cuts so next to an unknown character
            causes[CUT] += count
    return max(causes, key=causes.__getitem__, default=LANGUAGE)


def _is_piece(symbol: str) -> bool:
    return symbol.startswith(WORD_START) or symbol.endswith(SEPARATOR)


def _cause(text: str, scripts: Set[str], known: Callable[[str], bool], cased: bool) -> str:
    bare = text.strip("".join(character for character in text if not character.isalnum()))
    if not cased and known(text.lower()):
        return CAPITALS
    if {script(character) for character in text} - scripts - {None}:
        return SCRIPT
    if bare != text and (known(bare) or known(bare.lower())):
        return UNTOKENISED
    return LANGUAGE


def _knows(subwords: Subwords, dictionary: Any) -> Callable[[str], bool]:
    """Make what tells whether the vocabulary has a word or, if words are cut, all its characters."""
    characters = set(itertools.chain.from_iterable(dictionary.symbols))

    def known(text: str) -> bool:
        if not subwords.cuts_words:
            pieces = subwords.encode(text).split()
            return bool(pieces) and all(piece in dictionary for piece in pieces)
        return bool(text) and characters.issuperset(text)

    return known


def script(character: str) -> Optional[str]:
    """The script of a letter, which is the first word of its Unicode name; None: it is no letter."""
    if not character.isalpha():
        return None
    return unicodedata.name(character, "UNNAMED").split()[0]


def _symbols(dictionary: Any) -> Iterator[str]:
    return (x for x in dictionary.symbols if not x.startswith(("<", "madeupword")))  # none of the fillers


def _scripts_of(dictionary: Any) -> Set[str]:
    letters = Counter(map(script, itertools.chain.from_iterable(_symbols(dictionary))))
    del letters[None]
    return {name for name, count in letters.items() if name and count >= _SCRIPT_SHARE * letters.total()}
