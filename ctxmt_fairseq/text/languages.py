"""What the project knows of languages: how BLEU counts their words, and what a word is where there are no
blanks between them."""

import importlib.util
import re
import unicodedata
from typing import Iterable, List, Optional

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
# With the mark of long vowels, which Unicode counts to no script.
_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\uff70\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_UNSPACED = regex.compile(f"[{_SCRIPTS}]")
_MARK_OR_WORD = regex.compile(rf"(?=[{_SCRIPTS}])\X|[\w--[{_SCRIPTS}]]+|\S", regex.V1)
_WORD = regex.compile(rf"(?=[{_SCRIPTS}])\X|[^\s{_SCRIPTS}]+")
_BESIDE = regex.compile(rf"(?<=[{_SCRIPTS}])\s+|\s+(?=[{_SCRIPTS}])")
_JOINED = 4  # characters of such a script between blanks, on average, of a text that was not cut into words


def unspaced(text: str) -> bool:
    """Whether a text has a character of a script that puts no blanks between words."""
    return _UNSPACED.search(text) is not None


def words_of(text: str) -> List[str]:
    """The words of a text: what stands between white space; in a script that has none, each character with
    its marks (grapheme cluster), which needs no dictionary and counts alike everywhere."""
    return _WORD.findall(text) if unspaced(text) else text.split()


def lacks_words(lines: Iterable[str]) -> bool:
    """Whether most of a text is in a script without blanks between words, and was not cut into words."""
    lines = list(filter(None, lines))
    such = [line for line in lines if unspaced(line)]
    characters, parts = sum(len(words_of(line)) for line in such), sum(len(line.split()) for line in such)
    return 2 * len(such) > len(lines) and characters > _JOINED * parts


def without_loose_blanks(text: str) -> str:
    """A text without blanks beside characters of a script that puts none between words."""
    return _BESIDE.sub("", text)


def blank_behind(text: str) -> str:
    """What stands between a text and the next one: a blank, or nothing behind a script that has none, and
    behind its signs."""
    end = text[-1:]
    wide = end and unicodedata.east_asian_width(end) in "WF" and unicodedata.category(end).startswith("P")
    return "" if not end or wide or unspaced(end) else " "


def joined_text(parts: Iterable[str]) -> str:
    """Parts of a text as one."""
    return "".join(part + blank_behind(part) for part in parts).strip()


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
