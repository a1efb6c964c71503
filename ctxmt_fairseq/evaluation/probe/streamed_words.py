"""What the document's own context adds to every word of a long text, piece by piece.

Memory holds one piece of the text, whatever its length: each piece is read with the lines around it that are
its context, and scored with its context and without, or with another.
"""

import itertools
import logging
from dataclasses import replace
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple, TypeVar

import numpy as np

from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.evaluation.probe.conditions import ABSENT, DOCUMENT
from ctxmt_fairseq.evaluation.probe.cxmi import token_bits
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText, probed_text
from ctxmt_fairseq.evaluation.probe.word_report import SentenceWords, sentence_words
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.text_lines import PathLike, together
from ctxmt_fairseq.text.word_tags import Tags, iterate_tags

logger = logging.getLogger(__name__)
PIECE = 1 << 14  # lines: enough to make batches of sentences of one length
T = TypeVar("T")


class _Line(NamedTuple):
    pair: Pair
    tags: Optional[Tags]


def overlapping(items: Iterable[T], size: int, reach: int) -> Iterator[Tuple[List[T], slice]]:
    """Cut items into pieces of ``size``, and yield each with up to ``reach`` of the items before and after
    it, and which of them are the piece."""
    items = iter(items)
    before: List[T] = []
    ahead = list(itertools.islice(items, size + reach))
    while ahead:
        yield before + ahead, slice(len(before), len(before) + min(size, len(ahead)))
        before = (before + ahead[:size])[-reach:] if reach else []
        ahead = [*ahead[size:], *itertools.islice(items, size)]


def streamed_words(
    loaded: LoadedModels,
    prefix: PathLike,
    tags: Optional[PathLike],
    max_tokens: int,
    against: str = ABSENT,
    piece: int = PIECE,
) -> Iterator[Optional[SentenceWords]]:
    """Yield for every line of a text the words of its reference and the bits that context saves for each,
    ``against`` another selection of context. None: the line is context only, or longer than the models read.
    ``tags`` is a file with the tags of the references' words."""
    conditions = [loaded.with_options(context_selection=name) for name in (DOCUMENT, against)]
    reach = loaded.task.context_options().reach
    too_long, spare = 0, None  # a line of another document, which a piece of one needs for random context
    for number, (lines, own) in enumerate(overlapping(_lines(prefix, loaded, tags), piece, reach)):
        text = _text(loaded, lines, own)
        if len(text.documents) == 1 and spare:
            lines, own = [spare, *lines], slice(own.start + 1, own.stop + 1)
            text = _text(loaded, lines, own)
        spare = lines[0] if len(text.documents) > 1 else spare
        if not number:
            loaded.warn_of_unknown(f"{prefix}, first {len(lines)} lines", text.sentences, text.references)
        scorer = text.scorer(max_tokens)
        bits = token_bits(*(scorer.scores(each, progress=False) for each in conditions))
        known = None if tags is None else [line.tags or [] for line in lines]
        found = {
            each.line - 1: each._replace(line=lines[each.line - 1].pair.line)
            for each in sentence_words(text, loaded.target_subwords, bits, known)
        }
        wanted = sum(line.pair.current for line in lines[own])
        too_long += wanted - len(found)
        yield from (found.get(place) for place in range(own.start, own.stop))
    if too_long:
        logger.warning("%s: %d sentences are longer than the models read, and left out", prefix, too_long)


def _lines(prefix: PathLike, loaded: LoadedModels, tags: Optional[PathLike]) -> Iterator[_Line]:
    files = TextFiles(str(prefix), *loaded.languages)
    pairs = files.pairs()
    if tags is None:
        return (_Line(pair, None) for pair in pairs)
    columns = together([(files.path(files.target_lang), pairs), (tags, iterate_tags(tags))])
    surface = loaded.target_subwords.steps.surface  # whose words are those of ``ProbedText.references``
    return (_Line(pair, line_tags.of(words_of(surface(pair.target)))) for pair, line_tags in columns)


def _text(loaded: LoadedModels, lines: List[_Line], own: slice) -> ProbedText:
    """What the models read of these lines, of which some are translated."""
    pairs = [line.pair for line in lines]
    text = probed_text(
        loaded,
        [pair.source for pair in pairs],
        [pair.target for pair in pairs],
        Documents.from_ids([pair.document for pair in pairs]),
        np.arange(own.start, own.stop),
        [pair.metadata for pair in pairs],
    )
    source, target = loaded.limits
    wanted = [line for line in range(own.start, own.stop) if pairs[line].current]
    fits = (len(text.sources[line]) <= source and len(text.targets[line]) <= target for line in wanted)
    return replace(text, current=np.array([*itertools.compress(wanted, fits)], np.int64))
