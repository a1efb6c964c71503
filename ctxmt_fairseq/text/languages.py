"""What the project knows of languages: how BLEU counts their words, and what a word is where there are no
blanks between them."""

import importlib.util
import re
from typing import List, Optional

import regex

# Of sacrebleu's tokenizers, for languages that have no blanks between words, or where a better one exists.
_TOKENIZERS = {
    **dict.fromkeys(("zh", "yue", "zho", "cmn"), "zh"),
    **dict.fromkeys(("ja", "jpn"), "ja-mecab"),
    **dict.fromkeys(("ko", "kor"), "ko-mecab"),
    **dict.fromkeys(("th", "tha", "km", "khm", "lo", "lao", "my", "mya", "bo", "bod", "dz", "dzo"), "char"),
}
# What these need beside sacrebleu, and what counts where that is missing.
_NEEDS = {"ja-mecab": ("MeCab", "char"), "ko-mecab": ("mecab_ko", None)}
_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_UNSPACED = regex.compile(f"[{_SCRIPTS}]")
_MARK_OR_WORD = regex.compile(rf"(?=[{_SCRIPTS}])\X|[\w--[{_SCRIPTS}]]+|\S", regex.V1)
_WORD = regex.compile(rf"(?=[{_SCRIPTS}])\X|[^\s{_SCRIPTS}]+")


def unspaced(text: str) -> bool:
    """Whether a text has a character of a script that puts no blanks between words."""
    return _UNSPACED.search(text) is not None


def words_of(text: str) -> List[str]:
    """The words of a text: what stands between white space; in a script that has none, each character with
    its marks (grapheme cluster), which needs no dictionary and counts alike everywhere."""
    return _WORD.findall(text) if unspaced(text) else text.split()


def marks_and_words(text: str) -> List[str]:
    """The words of a text as ``words_of`` finds them, and each sign of punctuation for itself."""
    return _MARK_OR_WORD.findall(text)


def primary(language: str) -> str:
    """The language of a code that may have a script or a region: ``zh`` of ``zh-Hans`` and ``zh_CN``."""
    return re.split("[-_]", language.lower())[0]


def bleu_tokenizer(language: str) -> Optional[str]:
    """The tokenizer of sacrebleu by which BLEU counts a language's words; None: sacrebleu's default, 13a.

    None is downloaded. Japanese and Korean have MeCab's where ``sacrebleu[ja]`` or ``sacrebleu[ko]`` is
    installed.
    """
    name = _TOKENIZERS.get(primary(language))
    module, instead = _NEEDS.get(name or "", ("", name))
    return name if not module or importlib.util.find_spec(module) else instead
