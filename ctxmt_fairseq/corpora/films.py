"""Tells which films or documents are held out, by a list of ids or by a share of all."""

import hashlib
import os
import re
from collections import Counter
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.pairs import whole_document
from ctxmt_fairseq.text.documents import document_id
from ctxmt_fairseq.text.text_lines import iterate_lines

_FILM = re.compile(r"(?:^|/)(\d{1,4})/((?:tt)?\d+)/")
_IMDB = re.compile(r"(?:tt)?0*(\d+)|(?:\D[^/]*/)?\d{1,4}/0*(\d+)/[^/]+")


class Film(NamedTuple):
    """The film of a document: IMDb's id without tt and zeros, and the year in the document's id, if any."""

    id: str
    year: Optional[int]


def film_of_document(document: str) -> Optional[Film]:
    """The film in an id ``YEAR/IMDB/FILE``; None: it names none."""
    found = _FILM.search(document)
    return Film(normal_id(found[2]), int(found[1]) or None) if found else None


def _film_or_document(document: str) -> str:
    film = film_of_document(document)
    return film.id if film else whole_document(document)


def normal_id(text: str) -> str:
    """The IMDb id as OPUS writes it: ``tt0133093`` and ``de/1999/133093/4567.xml`` are ``133093``."""
    found = _IMDB.fullmatch(text.strip())
    return found[1] or found[2] if found else text.strip()


def _share(text: str) -> Optional[float]:
    """Read a share of the documents; None: it is the name of a file."""
    try:
        share = float(text)
    except ValueError:
        return None
    if os.path.exists(text):
        return None
    if not 0 < share < 1:
        raise BadInput(f"--held-out: expected a file or a share between 0 and 1, found {text}")
    return share


class HeldOut:
    """Sends documents to corpora.

    Args:
        selections: for each held-out corpus ``PREFIX=FILE`` (a list of IMDb ids, one per line) or
            ``PREFIX=SHARE`` (of all films, drawn by a hash of the id, so the same in every language). A FILE
            that several name is divided among them in its order, as MTCue's lists are.
        by: whose ids these are, of a ``film`` or a ``document``, with which its runs go (``NAME#2``) and what
            stands behind a hole in it (``NAME/2``, where ``follow`` has seen it behind ``NAME``).

    Attributes:
        prefixes: those of the held-out corpora.
        key: turns a document's id into what the selections name.
        listed: all that a list names -> the number of its corpus.
    """

    def __init__(self, selections: Sequence[str], by: str = "film"):
        self.key: Callable[[str], str] = _film_or_document if by == "film" else whole_document
        normal = normal_id if by == "film" else lambda text: whole_document(document_id(text))
        self.prefixes: List[str] = []
        self.listed: Dict[str, int] = {}
        self._shares: List[Tuple[int, float]] = []
        self._begun: Dict[str, str] = {}  # NAME/2 -> NAME
        self._last = ""
        named = Counter(selection.rpartition("=")[2] for selection in selections)
        seen: Counter = Counter()
        for number, selection in enumerate(selections, 1):
            prefix, _, which = selection.rpartition("=")
            if not prefix or not which:
                raise BadInput(f"--held-out {selection}: expected PREFIX=FILE or PREFIX=SHARE")
            self.prefixes.append(prefix)
            share = _share(which)
            if share is not None:
                self._shares.append((number, share))
            else:
                listed = list(filter(str.strip, iterate_lines(which)))
                start, end = (len(listed) * (seen[which] + more) // named[which] for more in (0, 1))
                seen[which] += 1
                self.listed = dict.fromkeys(map(normal, listed[start:end]), number) | self.listed
        if sum(share for _, share in self._shares) > 1:
            raise BadInput("--held-out: the shares are more than 1 together")

    def follow(self, document: str) -> None:
        """Be told of the next document of a corpus, which may be the rest of those before it."""
        name = whole_document(document)
        stem, _, number = name.rpartition("/")
        if number.isdecimal() and int(number) > 1 and stem in (self._last, self._begun.get(self._last)):
            self._begun[name] = stem
        self._last = name

    def __call__(self, document: str) -> int:
        """The number of a document's held-out corpus, or 0 for the main corpus."""
        film = self.key(document)
        if film not in self.listed:
            film = self.key(self._begun.get(whole_document(document), document))
        if film in self.listed:
            return self.listed[film]
        place = int.from_bytes(hashlib.sha256(film.encode()).digest()[:8], "big") / 2**64
        for number, share in self._shares:
            if place < share:
                return number
            place -= share
        return 0
