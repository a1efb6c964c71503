"""OpenSubtitles: OPUS subtitles and their alignment to documents without holes (MTCue, appendix A)."""

import functools
import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.raw.archives import Archives
from ctxmt_fairseq.corpora.raw.opus_document import Document, read_opus_document
from ctxmt_fairseq.corpora.raw.opus_links import Link, LinkedDocuments
from ctxmt_fairseq.data.symbols import SEPARATOR
from ctxmt_fairseq.errors import BadInput

_NAME = re.compile(r"(?P<language>[^/]+)/(?P<id>(?:[^/]+/)*[^/]+?)(?:\.xml)?(?:\.gz)?")


@dataclass(frozen=True)
class Subtitles:
    """How subtitles become documents.

    Attributes:
        archives: folders and zip files with the documents of both languages.
        source_lang, target_lang: as OPUS writes them.
        min_overlap: links with less are left out, and end a document.
        max_gap: seconds of pause, on either side, that end a document.
        cleaning: names of steps (``corpora.cleaning``).
    """

    archives: Tuple[str, ...]
    source_lang: str
    target_lang: str
    min_overlap: float = 0.9
    max_gap: float = 7.0
    cleaning: Tuple[str, ...] = ()

    def part(self, linked: LinkedDocuments) -> Part:
        """The pairs of two subtitles of a film.

        A document ends at a link that is left out (unaligned, with too little overlap, or empty after
        cleaning), at sentences that no link names, and at a pause. Its id is that of the source side's
        subtitles, ``YEAR/IMDB/FILE``, and the number of the document in them.

        Raises:
            BadInput: a document is missing, broken, or has no sentence that a link names.
        """
        archives = _archives(self.archives)
        source = _Side(read_opus_document(archives.read(linked.source), linked.source), linked.source)
        target = _Side(read_opus_document(archives.read(linked.target), linked.target), linked.target)
        account = Account(read=len(linked.links))
        for side in (source, target):
            side.remark(account)
        pairs: List[Pair] = []
        name, number, previous = document_id(linked.source), 0, None
        for link in linked.links:
            places = source.places(link.source), target.places(link.target)
            reason, texts = self._text(link, (source, target), places, account)
            if reason is not None:
                account.left_out[reason] += 1
                previous = None
                continue
            if previous is None or not all(
                side.goes_on(before, here, self.max_gap)
                for side, before, here in zip((source, target), previous, places, strict=True)
            ):
                number += 1
            previous = places
            pairs.append(Pair(texts[0], texts[1], f"{name}/{number}"))
        account.kept = len(pairs)
        return Part(pairs, account)

    def _text(
        self, link: Link, sides: "Tuple[_Side, _Side]", places: Sequence[List[int]], account: Account
    ) -> Tuple[Optional[str], Tuple[str, str]]:
        """A link's text on both sides, or why it is left out."""
        if not all(places):
            return "unaligned", ("", "")
        if link.overlap is None or link.overlap < self.min_overlap:
            return "overlap", ("", "")
        source, target = (
            clean(side.text(each), language, self.cleaning, account.remarks)
            for side, each, language in zip(sides, places, (self.source_lang, self.target_lang), strict=True)
        )
        if not (source and target):
            return "empty", ("", "")
        if SEPARATOR in source or SEPARATOR in target:
            return f"with the symbol {SEPARATOR}", ("", "")
        return None, (source, target)


class _Side:
    """One side's subtitles."""

    def __init__(self, document: Document, name: str):
        self.document, self.name = document, name
        self._index: Dict[str, int] = {number: place for place, number in enumerate(document.ids)}

    def places(self, ids: Sequence[str]) -> List[int]:
        """Where sentences stand, from 0.

        Raises:
            BadInput: there is no such sentence.
        """
        try:
            return [self._index[number] for number in ids]
        except KeyError as error:
            raise BadInput(
                f"the alignment names sentence {error.args[0]}, which is not there", self.name
            ) from None

    def text(self, places: Sequence[int]) -> str:
        return " ".join(self.document.texts[place] for place in places)

    def goes_on(self, before: Sequence[int], here: Sequence[int], max_gap: float) -> bool:
        """Whether these sentences follow those at once, without a pause."""
        if here[0] != before[-1] + 1:
            return False
        times = self.document.times
        return times is None or float(times.starts[here[0]] - times.ends[before[-1]]) <= max_gap

    def remark(self, account: Account) -> None:
        times = self.document.times
        account.remarks["subtitles without times"] += times is None
        account.remarks["sentences with interpolated times"] += times.interpolated if times else 0
        account.remarks["unreadable times"] += self.document.unreadable_times


@functools.lru_cache(maxsize=4)
def _archives(paths: Tuple[str, ...]) -> Archives:
    """Opened once per process: the index of a large zip file takes seconds."""
    return Archives(paths)


def document_id(name: str) -> str:
    """``en/2009/1218838/4681542.xml.gz`` -> ``2009/1218838/4681542``."""
    found = _NAME.fullmatch(name)
    return found["id"] if found else name


def links_of(linked: LinkedDocuments) -> int:
    """How many units of the input are in one piece of work."""
    return len(linked.links)
