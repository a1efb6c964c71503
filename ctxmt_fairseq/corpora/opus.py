"""Corpora of OPUS, subtitles among them: aligned XML to documents without holes (MTCue, appendix A)."""

import functools
import re
from collections import Counter
from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.raw.archives import Archives
from ctxmt_fairseq.corpora.raw.opus_document import Document, read_opus_document
from ctxmt_fairseq.corpora.raw.opus_links import Link, LinkedDocuments
from ctxmt_fairseq.errors import BadInput

_NAME = re.compile(r"(?P<language>[^/]+)/(?P<id>(?:[^/]+/)*[^/]+?)(?:\.xml)?(?:\.gz)?")
METADATA = ("chapter", "speaker")  # elements around sentences that say something about them
_NOTHING: Mapping[str, str] = {}


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
        source, target = (
            _Side(read_opus_document(archives.read(name), name), name, self.max_gap)
            for name in (linked.source, linked.target)
        )
        builder = DocumentBuilder(document_id(linked.source), Account())
        remarks = builder.account.remarks
        if self.max_gap is not None:
            source.remark_times(remarks)
            target.remark_times(remarks)
        links = linked.links()
        sources = source.taken(link.source for link in links)
        targets = target.taken(link.target for link in links)
        for link, (here, goes_on), (there, there_too) in zip(links, sources, targets, strict=True):
            if not (goes_on and there_too):
                builder.hole()
            reason = self._unwanted(link)
            if reason is not None:
                builder.leave_out(reason)
                continue
            text, translation = source.text(here), target.text(there)
            if self.cleaning:
                text = clean(text, self.source_lang, self.cleaning, remarks)
                translation = clean(translation, self.target_lang, self.cleaning, remarks)
            if here and there:
                builder.add_folded(text, translation, source.metadata(here))
            else:
                builder.add_context(text, translation)
        return builder.part()

    def _unwanted(self, link: Link) -> Optional[str]:
        """Why a link is left out; None if it is not."""
        if not (link.source and link.target):
            return None if self.keep_unaligned else "unaligned"
        if self.min_overlap is not None and (link.overlap is None or link.overlap < self.min_overlap):
            return "overlap"
        return None


class _Side:
    """One side's document."""

    def __init__(self, document: Document, name: str, max_gap: Optional[float]):
        self.document, self.name = document, name
        self._index: Dict[str, int] = {number: place for place, number in enumerate(document.ids)}
        self._pauses: Sequence[bool] = [False] * len(document.ids)  # after each sentence
        if document.times is not None and max_gap is not None:
            starts, ends = document.times.starts, document.times.ends
            self._pauses = (starts[1:] - ends[:-1] > max_gap).tolist()

    def taken(self, links: Iterable[Sequence[str]]) -> Iterator[Tuple[List[int], bool]]:
        """Where the sentences of each link stand, from 0, and whether they follow those before them at once,
        without a pause; none at all always do.

        Raises:
            BadInput: there is no such sentence.
        """
        find, pauses, last = self._index.__getitem__, self._pauses, None
        for ids in links:
            try:
                places = list(map(find, ids))
            except KeyError as error:
                message = f"the alignment names sentence {error.args[0]}, which is not there"
                raise BadInput(message, self.name) from None
            if places:
                goes_on = last is None or (places[0] == last + 1 and not pauses[last])
                last = places[-1]
                yield places, goes_on
            else:
                yield places, True

    def text(self, places: Sequence[int]) -> str:
        texts = self.document.texts
        return texts[places[0]] if len(places) == 1 else " ".join([texts[place] for place in places])

    def metadata(self, places: Sequence[int]) -> Mapping[str, str]:
        """What is known of the first of these sentences."""
        around = self.document.places[places[0]]
        return {name: label for name, label in around if name in METADATA} if around else _NOTHING

    def remark_times(self, remarks: Counter) -> None:
        """What is to be said of subtitles' times."""
        times = self.document.times
        remarks["subtitles without times"] += times is None
        remarks["sentences with interpolated times"] += times.interpolated if times else 0
        remarks["unreadable times"] += self.document.unreadable_times


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
    return linked.sources.count("\n")
