"""Reads sentences of OPUS XML as OPUS' programs write it, at the speed of regular expressions.

What a program wrote is regular: sentences (``<s id="1">``) hold words (``<w id="1.1">word</w>``) or text, and
marks of time. Patterns take such sentences out whole, and lxml reads what is left, the elements around them.
A document with anything else in it, such as a comment or a character that XML forbids, is left to lxml
altogether, which takes four times as long.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.formats.subtitle_times import Marks, Timed, sentence_times
from ctxmt_fairseq.corpora.xml import parse_xml
from ctxmt_fairseq.text.metadata_text import single_spaces

# These elements describe the sentences inside them, in the first of these attributes that they have.
_METADATA = {"chapter", "speaker"}
_LABELS = ("NAME", "name", "ID", "id")
_ABOUT = ("year", "genre", "country", "duration")  # what a document of subtitles says of itself
# Characters that XML forbids take the place of what was found: a mark of time, the end of a sentence.
_MARK, _END = "\x01", "\x02"
_FORBIDDEN = re.compile("[\x00\x03-\x08\x0b-\x1f]")  # and \r, which XML reads as \n
_OTHER_ENCODING = re.compile(rb"(?i)[^<]*<\?xml[^<>]*encoding=(?![\"']utf-8[\"'])")
_VALUE = r'[^"<&\x00-\x1f]'
_WORD = rf'<w (?:id="{_VALUE}*"|(?!id=)[a-z]+="{_VALUE}*" id="{_VALUE}*")>'  # alternative="..", of subtitles
_BETWEEN_WORDS = re.compile(rf"</w>[ \n\t]*{_WORD}")
_OPEN_WORD = re.compile(_WORD)
_TIME = re.compile(r'<time id="T[0-9]+([SE])" value="([0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3})" ?/>')
_RAW = re.compile(rf'<s id="({_VALUE}+)">([^<]*)</s>')
_BLANK = rf"[ \n\t{_MARK}]*"
_TOKENISED = re.compile(rf'<s id="({_VALUE}+)">({_BLANK}(?:{_WORD}[^<{_MARK}]*</w>{_BLANK})*)</s>')
_REFERENCES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}  # & comes last
_REFERENCE = re.compile("|".join(_REFERENCES))
# Milliseconds in each digit of 00:01:05,897.
_DIGITS = [0, 1, 3, 4, 6, 7, 9, 10, 11]
_SECONDS = np.array([36000, 3600, 600, 60, 10, 1])
_MILLISECONDS = np.array([100, 10, 1])


class Document(NamedTuple):
    """A document's sentences, in order: their words (``xml``) or text (``raw``), blanks folded; for each its
    chapter and speaker, by NAME or ID, and what is said of all; its ``lengths`` (N,) in characters, blanks
    not counted; the marks of time, and how many further ones cannot be read."""

    ids: List[str]
    texts: List[str]
    metadata: List[Dict[str, str]]
    lengths: np.ndarray
    marks: Marks
    unreadable_times: int = 0

    @property
    def times(self) -> Optional[Timed]:
        """Of the sentences in seconds, if there are any marks."""
        return sentence_times(self.lengths, self.marks) if len(self.marks.seconds) else None


def scan(content: bytes) -> Optional[Document]:
    """Find the sentences of a document; None if it is not regular."""
    if _OTHER_ENCODING.match(content):
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
    # A mark is a word of its own among words, and takes no blanks in a raw text.
    text = (f" {_MARK} " if tokenised else _MARK).join(pieces[::3])
    kinds, clocks = pieces[1::3], pieces[2::3]
    pieces = (_TOKENISED if tokenised else _RAW).split(text)
    ids, bodies = pieces[1::3], pieces[2::3]
    metadata = _metadata(pieces[::3]) if ids else None
    if metadata is None:
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
    return Document(ids, [line.strip() for line in texts.split(_END)[:-1]], metadata, lengths, marks)


def _metadata(around: List[str]) -> Optional[List[Dict[str, str]]]:
    """The metadata of each sentence, from the texts ``around`` the sentences; None if these have further
    sentences, or if a sentence that was found is none, because it is in a comment for example."""
    between = around[1:-1]
    siblings = not "".join(between).strip(" \n\t")  # as in subtitles
    kept = [around[0], around[-1]] if siblings else around
    # A comment may hold anything, and a document type may change what is read.
    if any("<!" in text for text in kept):
        return None
    try:
        root = parse_xml("<s/>".join(kept).encode(), "")
    except BadInput:
        return None
    found = list(root.iter("s"))
    if len(found) != len(kept) - 1 or any(sentence.attrib or len(sentence) for sentence in found):
        return None
    about = metadata_of(root)
    metadata = [{**about, **metadata_around(sentence)} for sentence in found]
    return metadata * (len(around) - 1) if siblings else metadata


def metadata_around(sentence: Any) -> Dict[str, str]:
    """The chapter and the speaker of a sentence, by NAME or else by ID; the innermost of each counts."""
    labels = {}
    for element in reversed(list(sentence.iterancestors())):
        name = element.tag.lower()
        label = next((element.get(key) for key in _LABELS if element.get(key)), None)
        if label and name in _METADATA:
            labels[name] = label
    return labels


def metadata_of(root: Any) -> Dict[str, str]:
    """Year, genre, country and duration of a document of subtitles, as far as it has them (``<meta>``)."""
    found = {name: [root.findtext(f"meta/{of}/{name}") for of in ("source", "subtitle")] for name in _ABOUT}
    texts = {name: single_spaces(next(filter(None, each), "")) for name, each in found.items()}
    return {name: re.sub(",(?=[^\\W\\d])", ", ", text) for name, text in texts.items() if text}


def _irregular(inside: str) -> bool:
    """Whether a text is not well-formed, or refers to another character than the five that XML names."""
    if _FORBIDDEN.search(inside) or "]]>" in inside:
        return True
    return "&" in inside and inside.count("&") != len(_REFERENCE.findall(inside))


def _marks(characters: str, kinds: List[str], clocks: List[str]) -> Tuple[np.ndarray, Marks]:
    """Count the characters of each sentence, without blanks, and find the marks of time among them."""
    signs = np.frombuffer(characters.encode("utf-32-le"), np.dtype("<u4"))
    at = np.flatnonzero(signs <= ord(_END))
    end = signs[at] == ord(_END)
    places = at - (np.cumsum(~end) - ~end)  # characters and ends before it; marks do not count
    begins = np.concatenate(([0], places[end] + 1))
    sentences = np.cumsum(end)[~end]
    digits = np.frombuffer("".join(clocks).encode(), np.uint8).reshape(-1, 12)[:, _DIGITS].astype(np.int64)
    digits -= ord("0")
    seconds = digits[:, :6] @ _SECONDS + digits[:, 6:] @ _MILLISECONDS / 1000
    ends = np.frombuffer("".join(kinds).encode(), np.uint8) == ord("E")
    return np.diff(begins) - 1, Marks(sentences, places[~end] - begins[sentences], ends, seconds)
