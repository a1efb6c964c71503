"""Documents in OPUS XML: sentences with their text and, in subtitles, their time."""

from typing import List, NamedTuple, Optional

from ctxmt_fairseq.corpora.raw.opus_reader import OpusReader, Place
from ctxmt_fairseq.corpora.raw.opus_scanner import scan
from ctxmt_fairseq.corpora.raw.subtitle_times import Timed, sentence_times
from ctxmt_fairseq.errors import BadInput


class Document(NamedTuple):
    """A document's sentences, in order.

    Attributes:
        ids: of the sentences.
        texts: their words (``xml``) or the text as it stands (``raw``), blanks folded.
        times: in seconds; None for a document without times.
        unreadable_times: time marks that are no time.
        places: what stands around each sentence, by the names of its elements (see ``read_opus_document``).
    """

    ids: List[str]
    texts: List[str]
    times: Optional[Timed]
    unreadable_times: int
    places: List[Place]


def read_opus_document(content: bytes, name: str) -> Document:
    """Read a document of OPUS, tokenised (``<w>``) or raw.

    Chapters, speakers, paragraphs and the like (``<CHAPTER ID="2">``, ``<SPEAKER NAME="...">``) are kept as
    the ``places`` of the sentences inside: (element, its NAME or ID).

    Raises:
        BadInput: broken XML, no sentences, a sentence without an id, or an id that stands there twice.
    """
    found = scan(content)
    if found is None:
        reader = OpusReader(name)
        reader.parse(content)
        found = reader.sentences()
    if not found.ids:
        raise BadInput("expected a document of OPUS, found no sentences (<s>)", name)
    if len(set(found.ids)) != len(found.ids):
        raise BadInput("expected ids of sentences that differ", name)
    times = sentence_times(found.lengths, found.marks) if len(found.marks.seconds) else None
    return Document(found.ids, found.texts, times, found.unreadable_times, found.places)
