"""Log-probabilities of given translations in their context, by teacher forcing.

Each distinct pair of visible source and target window is scored once, so pairs that a model cannot tell apart
get exactly the same score. Each distinct source is encoded once for all its targets.
"""

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq import utils
from fairseq.data import data_utils
from fairseq.models import FairseqDecoder, FairseqIncrementalDecoder
from tqdm.auto import tqdm

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.criterions.context_discounted import sentence_ends
from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.generation.converted_models import ConvertedModel
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

Source = Tuple[Any, ...]  # ``ContextDataset.visible``
Target = Tuple[int, ...]
Window = Tuple[Source, Target]
MAX_TOKENS = 4000


class TokenScores(NamedTuple):
    """The log-probabilities (base e) of a target window's tokens, (T,) float64, target context, separators
    and ``</s>`` included; ``first`` is the index of the current sentence's first token, without its
    language's token."""

    window: np.ndarray
    first: int

    @property
    def current(self) -> np.ndarray:
        """The log-probabilities of the current sentence's tokens, ``</s>`` included."""
        return self.window[self.first :]


class TranslationScorer:
    """Scores given translations of a text, under one setting of the context options after the other. A window
    that looks the same to the models under several options is scored once. Sources and targets are n
    sentences each as int64 tokens, ending with ``</s>``. The targets before a sentence are its target
    context. The lines that are not ``current`` are only context."""

    def __init__(
        self,
        sources: Sequence[torch.Tensor],
        targets: Sequence[torch.Tensor],
        documents: Documents,
        contexts: Optional[SentenceContexts] = None,
        current: Optional[np.ndarray] = None,
        max_tokens: int = MAX_TOKENS,
    ):
        self.sources, self.targets = Sentences(sources), Sentences(targets)
        self.documents, self.contexts, self.current = documents, contexts, current
        self.max_tokens = max_tokens
        self._known: Dict[Window, TokenScores] = {}

    def dataset(self, loaded: LoadedModels) -> ContextDataset:
        """Build the windows that the models see; refuse a sentence that is too long for them."""
        text = self.sources, self.targets, self.documents, self.current
        dataset = loaded.task.build_dataset("text", *text, training=False, contexts=self.contexts)
        _, too_long = dataset.filter_indices_by_size(np.arange(len(dataset)), loaded.limits)
        if too_long:
            line = int(dataset.lines[too_long[0]])
            found = f"{len(self.sources[line])} source and {len(self.targets[line])} target tokens"
            most = "the models read at most {} and {}: shorten it".format(*loaded.sentence_limits)
            raise BadInput(f"sentence {line + 1} has {found}; {most}")
        return dataset

    def scores(self, loaded: LoadedModels, progress: bool = True) -> List[TokenScores]:
        """Score every current sentence; an ensemble averages probabilities, as the search does."""
        dataset = self.dataset(loaded)
        windows = windows_of(dataset)
        return score_windows(loaded, dataset, windows, self.max_tokens, known=self._known, progress=progress)


def windows_of(dataset: ContextDataset) -> List[Window]:
    """Give what a model sees of every example, and the target window that it is to score."""
    examples = (dataset[index] for index in range(len(dataset)))
    return [(dataset.visible(example), tuple(example["target"].tolist())) for example in examples]


def score_windows(
    loaded: LoadedModels,
    dataset: ContextDataset,
    windows: Sequence[Window],
    max_tokens: int = MAX_TOKENS,
    unit: str = "sentence",
    known: Optional[Dict[Window, TokenScores]] = None,
    progress: bool = True,
) -> List[TokenScores]:
    """Score windows that the dataset made, in their order; new scores are added to those that are known."""
    known = {} if known is None else known
    by_source: Dict[Source, Dict[Target, None]] = {}
    for source, target in windows:
        if (source, target) not in known:
            by_source.setdefault(source, {})[target] = None
    batches = [*_batches(by_source, max_tokens)]
    mine = ranks.own_share([len(batch) * len(batch[-1][1]) for batch in batches])
    own = [batch for batch, is_mine in zip(batches, mine, strict=True) if is_mine]
    found: Dict[Window, TokenScores] = {}
    with tqdm(total=sum(map(len, own)), unit=unit, disable=None if progress else True) as bar:
        for batch in own:
            found.update(zip(batch, _score_batch(loaded, dataset, batch), strict=True))
            bar.update(len(batch))
    known.update(ranks.united(found))
    return [known[window] for window in windows]


def batches_by_length(lengths: np.ndarray, max_tokens: int) -> List[List[int]]:
    """Batches of places with similar lengths: at most ``max_tokens`` with pads, or a single place."""
    order = np.argsort(lengths, kind="stable")
    sizes = lengths[order].astype(np.int64).clip(max=max_tokens)
    return [batch.tolist() for batch in data_utils.batch_by_size(order, None, sizes, max_tokens)]


def _batches(by_source: Dict[Source, Dict[Target, None]], max_tokens: int) -> Iterator[List[Window]]:
    """Sort pairs by length into batches, all targets of a source in one batch."""
    batch: List[Window] = []
    longest = 0
    for source in sorted(by_source, key=lambda key: (max(map(len, by_source[key])), len(key[0]))):
        pairs = [(source, target) for target in by_source[source]]
        own = max(len(source[0]), *(len(target) for _, target in pairs))
        longest = max(longest, own)
        if batch and longest * (len(batch) + len(pairs)) > max_tokens:
            yield batch
            batch, longest = [], own
        batch += pairs
    if batch:
        yield batch


@torch.no_grad()
def _score_batch(loaded: LoadedModels, dataset: ContextDataset, batch: Sequence[Window]) -> List[TokenScores]:
    """Score B pairs of source and target; the pairs of one source follow each other."""
    dictionary = loaded.task.target_dictionary
    sources = list(dict.fromkeys(source for source, _ in batch))
    examples = [dataset.restored(number, source) for number, source in enumerate(sources)]
    inputs = dataset.collater(examples, with_partners=False)  # in another order
    position = {sources[number]: row for row, number in enumerate(inputs["id"].tolist())}
    rows = np.array([position[source] for source, _ in batch])
    tokens = [torch.tensor(target) for _, target in batch]
    target, previous = (
        data_utils.collate_tokens(tokens, dictionary.pad(), dictionary.eos(), move_eos_to_beginning=shifted)
        for shifted in (False, True)
    )  # (B, T)
    is_word = target.ne(dictionary.pad()).numpy()
    place, distribution = _distinct_places(rows, previous.numpy(), is_word)
    separators = sentence_ends(target, dictionary.index(SEPARATOR), dictionary.eos()).long().numpy()
    context = np.array([[source[1]] for source, _ in batch])
    first = (is_word & (separators.cumsum(1) - separators < context)).sum(1)
    starts = loaded.task.target_start.numpy()  # a language's token, which is given and not predicted
    first += np.isin(target.numpy()[np.arange(len(first)), first], starts)
    arrays = {"rows": rows, "place": np.flatnonzero(place), "distribution": distribution}
    targets = {name: torch.from_numpy(array) for name, array in arrays.items()}
    scores = _log_probs(loaded, inputs["net_input"], {"previous": previous, "target": target, **targets})
    return [
        TokenScores(row[: len(words)], int(start))
        for row, words, start in zip(scores, tokens, first, strict=True)
    ]


def _log_probs(
    loaded: LoadedModels, net_input: Dict[str, Any], targets: Dict[str, torch.Tensor]
) -> np.ndarray:
    """Compute the log-probabilities (B, T) of the targets' tokens, with one copy to the device and one back.

    Args:
        targets: ``rows`` (B,), the source of each target; ``previous`` and ``target`` (B, T); and what
            ``_distinct_places`` returns, with ``place`` as indices into the flat (B, T).
    """
    net_input, targets = to_device((net_input, targets), loaded.device)
    log_probs = []
    for model in loaded.models:
        if isinstance(model, ConvertedModel):
            log_probs.append(model.log_probs(net_input, targets["rows"], targets["target"]))
            continue
        dtype = next(model.parameters()).dtype  # half after a training with --fp16; so must vectors be
        own_input = utils.apply_to_sample(
            lambda each, dtype=dtype: each.to(dtype) if each.is_floating_point() else each, net_input
        )
        encoder_out = model.encoder.forward_torchscript(own_input)
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, targets["rows"])
        logits, extra = _logits(model.decoder, targets["previous"], encoder_out, targets["place"])
        output = logits[None], extra  # (1, N, V); adaptive softmax wants three dimensions
        all_words = model.get_normalized_probs(output, log_probs=True, sample=None)[0]  # (N, V)
        log_probs.append(all_words[targets["distribution"], targets["target"]].double())
    scores = torch.logsumexp(torch.stack(log_probs), dim=0) - np.log(len(log_probs))  # (B, T)
    return scores.cpu().numpy()


def _logits(decoder: Any, previous: torch.Tensor, encoder_out: Any, place: torch.Tensor) -> Tuple[Any, Any]:
    """The logits (N, V) at N places of the flat (B, T), and what else the decoder returns."""
    undivided = FairseqDecoder.extract_features, FairseqIncrementalDecoder.extract_features
    if type(decoder).extract_features in undivided:  # as LightConv's
        logits, extra = decoder(previous, encoder_out=encoder_out)
        return logits.flatten(0, 1).index_select(0, place), extra
    features, extra = decoder.extract_features(previous, encoder_out=encoder_out)
    return decoder.output_layer(features.flatten(0, 1).index_select(0, place)), extra


def _distinct_places(
    rows: np.ndarray, previous: np.ndarray, is_word: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """Find where the vocabulary's probabilities must be computed: once for a prefix that targets share.

    Args:
        rows: (B,) the source of each target; the targets of one source follow each other.
        previous: (B, T) the decoder's input. is_word: bool (B, T).

    Returns:
        the places, bool (B, T) with N of them true; and for each token (B, T) the number, 0 to N - 1, of the
        place that has its probabilities: its own, or that of an earlier target of the same source with the
        same tokens up to there.
    """
    same = np.zeros_like(is_word)
    same[1:] = (previous[1:] == previous[:-1]) & (rows[1:] == rows[:-1])[:, None]
    shared = np.logical_and.accumulate(same, axis=1) & is_word
    shared[1:] &= is_word[:-1]  # a shorter target has nothing to share after its end
    place = is_word & ~shared
    numbers = place.cumsum().reshape(place.shape) - 1
    # The nearest row above, or the row itself, that shares nothing with the rows before it.
    owner = np.maximum.accumulate(np.where(shared, 0, np.arange(len(rows))[:, None]), axis=0)
    return place, np.take_along_axis(numbers, owner, axis=0).clip(min=0)
