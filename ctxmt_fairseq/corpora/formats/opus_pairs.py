"""Makes documents of pairs from documents of OPUS and their alignment."""

import functools
from collections import Counter
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.archives import Archives
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.formats.opus_names import document_id
from ctxmt_fairseq.corpora.formats.opus_scanner import Document
from ctxmt_fairseq.corpora.formats.opus_xml import Link, LinkedDocuments, read_opus_document
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part

_archives = functools.lru_cache(maxsize=4)(Archives)  # opened once per process


@dataclass(frozen=True)
class Pairing:
    """How the documents of both languages, in folders and zip files, are paired. Of subtitles links with less
    overlap are left out, and a longer pause in seconds, on either side, ends the document; ``films``: the
    names begin with the film's year. ``described``: there is metadata."""

    archives: Tuple[str, ...]
    source_lang: str
    target_lang: str
    cleaning: Tuple[str, ...] = ()
    min_overlap: Optional[float] = None
    max_gap: Optional[float] = None
    keep_unaligned: bool = False
    films: bool = False
    described: bool = True

    def part(self, linked: LinkedDocuments) -> Part:
        """Pair two aligned documents.

        A document ends at a link that is left out (unaligned, with too little overlap, or empty after
        cleaning), at sentences that no link names, and at a pause. Its id is the source side's name without
        language and ending; from the second document of a file on, a number follows it. Metadata that both
        sides have is the source side's.
        """
        builder = DocumentBuilder(document_id(linked.source), Account())
        remarks = builder.account.remarks
        source, target = (
            _Side(read_opus_document(_archives(self.archives).read(name), name), name, self.max_gap, remarks)
            for name in (linked.source, linked.target)
        )
        year = document_id(linked.source).partition("/")[0] if self.films else ""
        about = {"year": year} if year.isdecimal() and int(year) else {}
        for link in linked.links:
            here, there = source.places(link.source), target.places(link.target)
            if not (source.goes_on and target.goes_on):
                builder.hole()
            reason = self._unwanted(link)
            if reason is not None:
                builder.leave_out(reason)
                continue
            text = clean(source.text(here), self.source_lang, self.cleaning, remarks)
            translation = clean(target.text(there), self.target_lang, self.cleaning, remarks)
            if here and there:
                known = {**about, **target.document.metadata[there[0]], **source.document.metadata[here[0]]}
                builder.add(text, translation, known if self.described else {})
            else:
                builder.add(text, translation, current=False)
        return builder.part()

    def _unwanted(self, link: Link) -> Optional[str]:
        """Why a link is left out; None if it is not."""
        if not (link.source and link.target):
            return None if self.keep_unaligned else "unaligned"
        if self.min_overlap is None or (link.overlap is not None and link.overlap >= self.min_overlap):
            return None
        return "overlap"


class _Side:
    """One side's document, whose sentences are taken in order.

    Attributes:
        goes_on: whether the sentences taken last follow those before them directly and without a pause.
    """

    def __init__(self, document: Document, name: str, max_gap: Optional[float], remarks: Counter):
        self.document, self.name, self.goes_on = document, name, True
        self._index = {number: place for place, number in enumerate(document.ids)}
        self._pauses = [False] * len(document.ids)  # after each sentence
        self._last: Optional[int] = None
        if max_gap is not None:
            times = document.times
            if times is not None:
                self._pauses = (times.starts[1:] - times.ends[:-1] > max_gap).tolist()
            remarks["subtitles without times"] += times is None
            remarks["sentences with interpolated times"] += times.interpolated if times else 0
            remarks["unreadable times"] += document.unreadable_times

    def places(self, ids: Sequence[str]) -> List[int]:
        """The places of a link's sentences, from 0."""
        try:
            places = [self._index[number] for number in ids]
        except KeyError as error:
            message = f"has no sentence {error.args[0]}, which the alignment names"
            raise BadInput(message, self.name) from None
        last = self._last
        self.goes_on = not places or last is None or (places[0] == last + 1 and not self._pauses[last])
        self._last = places[-1] if places else last
        return places

    def text(self, places: Sequence[int]) -> str:
        return " ".join(self.document.texts[place] for place in places)


def links_of(linked: LinkedDocuments) -> int:
    return len(linked.links)
