"""OpenSubtitles: OPUS subtitles and their alignment to documents without holes (MTCue, appendix A)."""

import functools
import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.raw.archives import Archives
from ctxmt_fairseq.corpora.raw.opus_document import Document, read_opus_document
from ctxmt_fairseq.corpora.raw.opus_links import LinkedDocuments
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
        subtitles, ``YEAR/IMDB/FILE``; further documents in them have a number behind it.

        Raises:
            BadInput: a document is missing, broken, or has no sentence that a link names.
        """
        archives = _archives(self.archives)
        source = _Side(read_opus_document(archives.read(linked.source), linked.source), linked.source)
        target = _Side(read_opus_document(archives.read(linked.target), linked.target), linked.target)
        builder = DocumentBuilder(document_id(linked.source), Account())
        for side in (source, target):
            side.remark(builder.account)
        previous: Optional[Sequence[List[int]]] = None
        for link in linked.links:
            here = source.places(link.source), target.places(link.target)
            if not all(here):
                builder.leave_out("unaligned")
            elif link.overlap is None or link.overlap < self.min_overlap:
                builder.leave_out("overlap")
            else:
                if previous and not self._goes_on((source, target), previous, here):
                    builder.hole()
                builder.add(
                    self._clean(source, here[0], self.source_lang, builder.account),
                    self._clean(target, here[1], self.target_lang, builder.account),
                )
                previous = here
        return builder.part()

    def _goes_on(
        self, sides: "Sequence[_Side]", previous: Sequence[List[int]], here: Sequence[List[int]]
    ) -> bool:
        return all(
            side.goes_on(before, after, self.max_gap)
            for side, before, after in zip(sides, previous, here, strict=True)
        )

    def _clean(self, side: "_Side", places: Sequence[int], language: str, account: Account) -> str:
        return clean(side.text(places), language, self.cleaning, account.remarks)


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
