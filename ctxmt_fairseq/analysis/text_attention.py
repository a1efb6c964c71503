"""The attention from sentences to their context, word by word (Voita et al. 2018, section 5.2)."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

import numpy as np
import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.analysis.captured_weights import captured_weights, choose_attention
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.context_options import TARGET
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.data.multi_source_dataset import MultiSourceDataset
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.evaluation.probe.word_values import split_words
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, batches_by_length
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE
from ctxmt_fairseq.text.coreference import Span, overlap

KNOWN = 20_000  # sentences whose words are kept, because they are context of the next ones


@dataclass(frozen=True)
class ReadWords:
    """A sentence of W words and P subwords.

    Attributes:
        words: those between white space in the text, or in the form in which the subword model reads it.
        spans: their places in the text; None for a word that is not found there.
        place: (P,) the word of each subword.
        lexical: (P,) whether a subword has letters or digits, and is no punctuation.
    """

    words: List[str]
    spans: List[Optional[Span]]
    place: np.ndarray
    lexical: np.ndarray

    @property
    def lexical_words(self) -> np.ndarray:
        """(W,) whether a word has lexical subwords."""
        return np.bincount(self.place, weights=self.lexical, minlength=len(self.words)) > 0

    def within(self, span: Span) -> np.ndarray:
        """(W,) whether a word overlaps a span."""
        return np.array([found is not None and overlap(found, span) for found in self.spans])


def read_words(text: str, subwords: Subwords, output: Optional[str] = None) -> ReadWords:
    """The words of a sentence; see ``split_words``."""
    split = split_words(text, subwords, output)
    lexical = np.array([has_letters(subwords.bare(piece)) for piece in split.pieces], dtype=bool)
    return ReadWords(split.words, _find(split.words, text), split.place, lexical)


def _find(words: List[str], text: str) -> List[Optional[Span]]:
    """The places of words in a text, one after the other; case does not matter."""
    spans: List[Optional[Span]] = []
    at = 0
    for word in words:
        match = re.compile(re.escape(word), re.IGNORECASE).search(text, at) if word else None
        spans.append(match.span() if match else None)
        at = match.end() if match else at
    return spans


class ContextSentence(NamedTuple):
    """A line of the context (from 0), or its translation: its words, with P subwords, and the weights (W, P)
    from the words of the current sentence to these."""

    line: int
    target: bool
    words: ReadWords
    weights: np.ndarray


@dataclass(frozen=True)
class AttendedSentence:
    """A line (from 0) with context: its W words in the source, or in the reference for the attention of a
    decoder, and the context sentences with their weights. For each word the rest of 1 goes to ``<bos>``,
    ``</s>`` and the sentence itself."""

    line: int
    words: ReadWords
    context: List[ContextSentence]

    @property
    def useful(self) -> np.ndarray:
        """(W,) the useful mass of each word: the sum of its weights to words of the context."""
        return np.sum([part.weights[:, part.words.lexical].sum(1) for part in self.context], axis=0)

    @property
    def context_words(self) -> int:
        """The number of words in the context, without punctuation."""
        return sum(int(part.words.lexical_words.sum()) for part in self.context)


def attended_sentences(
    loaded: LoadedModels,
    text: ProbedText,
    side: Optional[str] = None,
    layer: Optional[int] = None,
    max_tokens: int = MAX_TOKENS,
) -> Iterator[AttendedSentence]:
    """The attention of every sentence that has context, of one model that reads its sentences apart. Weights
    are averaged over heads, and over the subwords of a word that are no punctuation. A decoder reads the
    references; the weights of a word are those with which it is produced."""
    model = loaded.model
    dataset = text.scorer(max_tokens).dataset(loaded)
    side, _, attention = choose_attention(model, side, layer)
    shortening = getattr(model.encoder, "context_shortening", None)
    if not isinstance(dataset, MultiSourceDataset) or dataset.arrangement == "joined":
        found = architecture(model)
        raise BadInput(f"expected a model that reads each context sentence apart, found {found}")
    if shortening is not None and not shortening.keeps_tokens:
        raise BadInput("expected attention to tokens, found a model that shortens its context")
    bos, pad = int(loaded.task.request.format.bos), loaded.task.target_dictionary.pad()
    asking = "src_tokens" if side == "encoder" else "prev_output_tokens"

    @lru_cache(KNOWN)
    def words(line: int, target: bool) -> ReadWords:
        if target:
            return read_words(text.written[line], loaded.target_subwords, text.references[line])
        return read_words(text.sentences[line], loaded.source_subwords)

    with tqdm(total=len(dataset), unit="sentence", disable=None) as progress:
        for places in batches_by_length(dataset.sizes.max(1), max_tokens):
            examples = {example["id"]: example for example in (dataset[place] for place in places)}
            batch = to_device(dataset.collater(list(examples.values())), loaded.device)
            with torch.no_grad(), captured_weights(attention) as calls:
                model(**batch["net_input"])
            if calls:  # otherwise no sentence of the batch has context
                ((weights, padding),) = calls
                queries = batch["net_input"][asking].ne(pad)  # the number is fairseq's, of either side
                for row, line in enumerate(batch["id"].tolist()):
                    if any(tokens is not None for tokens in examples[line]["context"]):
                        shown = weights[row][queries[row]][:, ~padding[row]].double().cpu().numpy()
                        yield _attended(examples[line], words(line, side == "decoder"), words, shown, bos)
            progress.update(len(places))


def _attended(
    example: Dict[str, Any],
    own: ReadWords,
    words: Callable[[int, bool], ReadWords],
    weights: np.ndarray,
    bos: int,
) -> AttendedSentence:
    """The sentence of an example with its words, from weights (T, K) of tokens without pads; ``words`` are
    those of a line, or of its translation. Each context sentence begins with so many ``<bos>``."""
    weights = _of_words(weights[-len(own.place) - 1 : -1], own)  # the last one is </s>
    context, at = [], 0
    for row, tokens in zip(example["context_rows"], example["context"], strict=True):
        if tokens is None:
            continue
        if row.sentence != EMPTY_SENTENCE:
            seen, target = weights[:, at + bos : at + len(tokens) - 1], row.role == TARGET
            context.append(ContextSentence(row.sentence, target, words(row.sentence, target), seen))
        at += len(tokens)
    return AttendedSentence(example["id"], own, context)


def _of_words(weights: np.ndarray, words: ReadWords) -> np.ndarray:
    """(P, K) to (W, K): the mean over the subwords of a word that have letters; over all if none has."""
    counted = words.lexical | ~words.lexical_words[words.place]
    member = (words.place == np.arange(len(words.words))[:, None]) & counted  # (W, P)
    return member @ weights / member.sum(1, keepdims=True)
