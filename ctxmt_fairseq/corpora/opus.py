"""Corpora of OPUS, subtitles among them: aligned XML to documents without holes (MTCue, appendix A)."""

import functools
import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.raw.archives import Archives
from ctxmt_fairseq.corpora.raw.opus_document import Document, read_opus_document
from ctxmt_fairseq.corpora.raw.opus_links import Link, LinkedDocuments
from ctxmt_fairseq.errors import BadInput

_NAME = re.compile(r"(?P<language>[^/]+)/(?P<id>(?:[^/]+/)*[^/]+?)(?:\.xml)?(?:\.gz)?")
METADATA = ("chapter", "speaker")  # elements around sentences that say something about them


@dataclass(frozen=True)
class Opus:
    """How aligned documents become documents of pairs.

    Attributes:
        archives: folders and zip files with the documents of both languages.
        source_lang, target_lang: as OPUS writes them.
        cleaning: names of steps (``corpora.cleaning``).
        min_overlap: of subtitles: links with less are left out, and end a document; None: all are taken.
        max_gap: of subtitles: seconds of pause, on either side, that end a document; None: none does.
        keep_unaligned: sentences without a counterpart stay as context, instead of ending the document.
    """

    archives: Tuple[str, ...]
    source_lang: str
    target_lang: str
    cleaning: Tuple[str, ...] = ()
    min_overlap: Optional[float] = None
    max_gap: Optional[float] = None
    keep_unaligned: bool = False

    def part(self, linked: LinkedDocuments) -> Part:
        """The pairs of two aligned documents.

        A document ends at a link that is left out (unaligned, with too little overlap, or empty after
        cleaning), at sentences that no link names, and at a pause. Its id is the source side's name
        without language and ending, of subtitles ``YEAR/IMDB/FILE``; further documents in them have a number
        behind it. Chapter and speaker, where the source side has them, become metadata.

        Raises:
            BadInput: a document is missing, broken, or has no sentence that a link names.
        """
        archives = _archives(self.archives)
        sides = tuple(
            _Side(read_opus_document(archives.read(name), name), name, language)
            for name, language in ((linked.source, self.source_lang), (linked.target, self.target_lang))
        )
        builder = DocumentBuilder(document_id(linked.source), Account())
        if self.max_gap is not None:
            for side in sides:
                side.remark_times(builder.account)
        previous: Optional[Sequence[List[int]]] = None
        for link in linked.links:
            here = [side.places(ids) for side, ids in zip(sides, link[:2], strict=True)]
            if previous and not self._goes_on(sides, previous, here):
                builder.hole()
            previous = [places or before for places, before in zip(here, previous or here, strict=True)]
            reason = self._unwanted(link)
            if reason is not None:
                builder.leave_out(reason)
                continue
            source, target = (
                clean(side.text(places), side.language, self.cleaning, builder.account.remarks)
                for side, places in zip(sides, here, strict=True)
            )
            if all(here):
                builder.add(source, target, sides[0].metadata(here[0]))
            else:
                builder.add_context(source, target)
        return builder.part()

    def _unwanted(self, link: Link) -> Optional[str]:
        """Why a link is left out; None if it is not."""
        if not (link.source and link.target):
            return None if self.keep_unaligned else "unaligned"
        if self.min_overlap is not None and (link.overlap is None or link.overlap < self.min_overlap):
            return "overlap"
        return None

    def _goes_on(
        self, sides: "Sequence[_Side]", previous: Sequence[List[int]], here: Sequence[List[int]]
    ) -> bool:
        return all(
            side.goes_on(before, after, self.max_gap)
            for side, before, after in zip(sides, previous, here, strict=True)
        )


class _Side:
    """One side's document."""

    def __init__(self, document: Document, name: str, language: str):
        self.document, self.name, self.language = document, name, language
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

    def metadata(self, places: Sequence[int]) -> Dict[str, str]:
        """What is known of the first of these sentences."""
        return {name: label for name, label in self.document.places[places[0]] if name in METADATA}

    def goes_on(self, before: Sequence[int], here: Sequence[int], max_gap: Optional[float]) -> bool:
        """Whether these sentences follow those at once, without a pause; none at all always do."""
        if not before or not here:
            return True
        if here[0] != before[-1] + 1:
            return False
        times = self.document.times
        if times is None or max_gap is None:
            return True
        return float(times.starts[here[0]] - times.ends[before[-1]]) <= max_gap

    def remark_times(self, account: Account) -> None:
        """What is to be said of subtitles' times."""
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
