"""Sentences of OPUS XML as OPUS' programs write it, at the speed of regular expressions.

What a machine wrote is regular: sentences (``<s id="1">``) that hold words (``<w id="1.1">word</w>``) or
text, and marks of time. Patterns take such sentences out whole; what is left, the declaration and the
elements around sentences, is still read by expat. Whatever does not fit, from a comment to a character that
XML forbids, leaves the document to expat altogether.
"""

import re
from typing import List, Optional

import numpy as np

from ctxmt_fairseq.corpora.raw.opus_reader import OpusReader, Sentences
from ctxmt_fairseq.corpora.raw.subtitle_times import Marks
from ctxmt_fairseq.corpora.raw.xml import in_utf8
from ctxmt_fairseq.errors import BadInput

# Characters that XML forbids stand for what was found: a mark of time, the end of a sentence.
_MARK, _END = "\x01", "\x02"
_FORBIDDEN = re.compile("[\x00\x03-\x08\x0b-\x1f]")  # and \r, which XML reads as \n
_VALUE = r'[^"<&\x00-\x1f]'
_WORD = rf'<w (?:id="{_VALUE}*"|(?!id=)[a-z]+="{_VALUE}*" id="{_VALUE}*")>'  # alternative="..", of subtitles
_BETWEEN_WORDS = re.compile(rf"</w>[ \n\t]*{_WORD}")
_OPEN_WORD = re.compile(_WORD)
_TIME = re.compile(r'<time id="T[0-9]+([SE])" value="([0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3})" ?/>')
_RAW = re.compile(rf'<s id="({_VALUE}+)">([^<]*)</s>')
_BLANK = rf"[ \n\t{_MARK}]*"
_TOKENISED = re.compile(rf'<s id="({_VALUE}+)">({_BLANK}(?:{_WORD}[^<{_MARK}]*</w>{_BLANK})*)</s>')
_ANY_SENTENCE = re.compile(r"<s[\s/>]")
_REFERENCES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}  # & comes last
_REFERENCE = re.compile("|".join(_REFERENCES))
# Milliseconds in each digit of 00:01:05,897.
_DIGITS = [0, 1, 3, 4, 6, 7, 9, 10, 11]
_SECONDS = np.array([36000, 3600, 600, 60, 10, 1])
_MILLISECONDS = np.array([100, 10, 1])


def scan(content: bytes) -> Optional[Sentences]:
    """The sentences of a document, as ``OpusReader`` finds them; None if expat has to read it."""
    if not in_utf8(content):
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    if "\ufffe" in text or "\uffff" in text:
        return None
    tokenised = "<w " in text
    text = _BETWEEN_WORDS.sub(" ", text) if tokenised else text
    pieces = _TIME.split(text)
    # Marks are words of their own among words, and nothing in a text as it stands.
    text = (f" {_MARK} " if tokenised else _MARK).join(pieces[::3])
    kinds, clocks = pieces[1::3], pieces[2::3]
    pieces = (_TOKENISED if tokenised else _RAW).split(text)
    around, ids, bodies = pieces[::3], pieces[1::3], pieces[2::3]
    places = _places(around) if ids else None
    if places is None:
        return None
    inside = _END.join([*bodies, ""])
    if tokenised:
        inside = _OPEN_WORD.sub(" ", inside).replace("</w>", " ")
    if _irregular(inside) or inside.count(_MARK) != len(kinds) or inside.count(_END) != len(ids):
        return None
    if "&" in inside:
        for reference, character in _REFERENCES.items():
            inside = inside.replace(reference, character)
    folded = " ".join(inside.split())
    texts = folded.replace(f"{_MARK} ", "") if tokenised else " ".join(inside.replace(_MARK, "").split())
    lengths, marks = _marks(folded.replace(" ", ""), kinds, clocks)
    return Sentences(ids, [line.strip() for line in texts.split(_END)[:-1]], lengths, marks, 0, places)


def _places(around: List[str]) -> Optional[list]:
    """What stands around each sentence, read by expat from what stands between them."""
    between = around[1:-1]
    blank = not "".join(between).strip(" \n\t")
    kept = [around[0], around[-1]] if blank else around
    # A comment, CDATA or a document type may hold anything, and so may a sentence that did not fit.
    if any("<!" in text or _ANY_SENTENCE.search(text) for text in kept):
        return None
    reader = OpusReader("")
    try:
        reader.parse('<s id="0"/>'.join(kept).encode())
    except BadInput:
        return None
    places = reader.places * len(around[1:]) if blank else reader.places
    return places if len(places) == len(around) - 1 else None


def _irregular(inside: str) -> bool:
    """Whether text is not well-formed, or refers to another character than the five that XML names."""
    return bool(
        _FORBIDDEN.search(inside)
        or "]]>" in inside
        or ("&" in inside and inside.count("&") != len(_REFERENCE.findall(inside)))
    )


def _marks(characters: str, kinds: List[str], clocks: List[str]) -> "tuple[np.ndarray, Marks]":
    """Characters of each sentence, blanks not counted, and the marks of time among them."""
    signs = np.frombuffer(characters.encode("utf-32-le"), np.dtype("<u4"))
    at = np.flatnonzero(signs <= ord(_END))
    end = signs[at] == ord(_END)
    places = at - (np.cumsum(~end) - ~end)  # characters and ends before: marks take no place
    begins = np.concatenate(([0], places[end] + 1))
    sentences = np.cumsum(end)[~end]
    digits = np.frombuffer("".join(clocks).encode(), np.uint8).reshape(-1, 12)[:, _DIGITS].astype(np.int64)
    digits -= ord("0")
    seconds = digits[:, :6] @ _SECONDS + digits[:, 6:] @ _MILLISECONDS / 1000
    ends = np.frombuffer("".join(kinds).encode(), np.uint8) == ord("E")
    marks = Marks(sentences, places[~end] - begins[sentences], ends, seconds)
    return np.diff(begins) - 1, marks
