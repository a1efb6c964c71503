"""Log-probabilities of a contrastive set's candidates.

Each distinct (visible source, visible target) pair is scored once, so that examples which a model cannot tell
apart get the very same score; each distinct source is encoded once for all its candidates.
"""

from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

import numpy as np
import torch
from fairseq import utils
from fairseq.data import data_utils
from tqdm import tqdm

from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.symbols import SEPARATOR
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveExample
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.running_document import Sentences

Source = Tuple[Any, ...]  # ``ContextDataset.visible``
Target = Tuple[int, ...]


def score_candidates(
    loaded: LoadedModels, examples: Sequence[ContrastiveExample], max_tokens: int = 4000
) -> List[List[CandidateScore]]:
    """Teacher-forced scores of every candidate of every example.

    Args:
        max_tokens: padded target tokens in a batch.

    Returns:
        per example one score per candidate, in the set's order.

    Raises:
        BadInput: a context selection that no contrastive set can have.
    """
    dataset = _dataset(loaded, examples)
    windows = _windows(dataset, examples)
    by_source: Dict[Source, Dict[Target, None]] = {}
    for source, target in (window for row in windows for window in row):
        by_source.setdefault(source, {})[target] = None
    scores: Dict[Tuple[Source, Target], CandidateScore] = {}
    with tqdm(total=sum(map(len, by_source.values())), unit="candidate", disable=None) as progress:
        for batch in _batches(by_source, max_tokens):
            for pair, score in zip(batch, score_batch(loaded, dataset, batch), strict=True):
                scores[pair] = score
            progress.update(len(batch))
    return [[scores[window] for window in row] for row in windows]


def visible_windows(
    loaded: LoadedModels, examples: Sequence[ContrastiveExample]
) -> List[List[Tuple[Source, Target]]]:
    """What the models see of each example and candidate: the windows that training would build."""
    return _windows(_dataset(loaded, examples), examples)


def _windows(
    dataset: ContextDataset, examples: Sequence[ContrastiveExample]
) -> List[List[Tuple[Source, Target]]]:
    windows = iter(dataset[index] for index in range(len(dataset)))

    def pair(window: Dict[str, Any]) -> Tuple[Source, Target]:
        return dataset.visible(window), tuple(window["target"].tolist())

    return [[pair(next(windows)) for _ in example.candidates] for example in examples]


def _dataset(loaded: LoadedModels, examples: Sequence[ContrastiveExample]) -> ContextDataset:
    """One document per candidate: previous sentences, current, following ones.

    Raises:
        BadInput: shuffled context, which would compare an example's candidates after different contexts; or
            random context of a single example.
    """
    options = loaded.task.context_options()
    draws = options.context_selection == "random" and (options.reach or loaded.reads_metadata)
    if draws and len(examples) < 2:
        raise BadInput("--context-selection random: expected at least two examples to draw from")
    if options.context_selection == "shuffled":
        raise BadInput(
            "--context-selection shuffled: expected translation; a set's candidates share a context"
        )
    known: Dict[Tuple[str, str], torch.Tensor] = {}

    def encode(side: str, text: str) -> torch.Tensor:
        if (side, text) not in known:
            known[side, text] = getattr(loaded, f"encode_{side}")(text)
        return known[side, text]

    texts: List[str] = []
    metadata: List[Mapping[str, str]] = []
    targets: List[torch.Tensor] = []
    lengths: List[int] = []
    current: List[int] = []
    for example, candidate in ((one, candidate) for one in examples for candidate in one.candidates):
        before = max(len(example.source_before), len(candidate.before))
        current.append(len(texts) + before)
        lengths.append(before + 1 + len(example.source_after))
        # Where one side has less context, its farthest sentences are empty ones.
        source = ("",) * (before - len(example.source_before)) + example.source_before
        target = ("",) * (before - len(candidate.before)) + candidate.before
        texts += [*source, example.source, *example.source_after]
        metadata += [example.metadata] * lengths[-1]
        for text in (*target, candidate.current, *("" for _ in example.source_after)):
            targets.append(encode("target", text))
    dataset = loaded.task.build_dataset(
        "contrastive set",
        Sentences([encode("source", text) for text in texts]),
        Sentences(targets),
        Documents.from_lengths(lengths),
        np.array(current, np.int64),
        training=False,
        contexts=loaded.contexts_of(texts, metadata),
    )
    per_example = [len(example.candidates) for example in examples]
    starts = np.cumsum([0, *per_example[:-1]])
    dataset.builder.variants = Documents.from_lengths(np.add.reduceat(lengths, starts).tolist())
    dataset.filter_indices_by_size(np.arange(len(dataset)), loaded.limits)  # shortens what is too long
    return dataset


def _batches(
    by_source: Dict[Source, Dict[Target, None]], max_tokens: int
) -> Iterator[List[Tuple[Source, Target]]]:
    """Pairs by length, with all candidates of a source in one batch."""
    batch: List[Tuple[Source, Target]] = []
    longest = 0
    for source in sorted(by_source, key=lambda key: (max(map(len, by_source[key])), len(key[0]))):
        pairs = [(source, target) for target in by_source[source]]
        longest = max(longest, len(source[0]), *(len(target) for _, target in pairs))
        if batch and longest * (len(batch) + len(pairs)) > max_tokens:
            yield batch
            batch, longest = [], max(len(source[0]), *(len(target) for _, target in pairs))
        batch += pairs
    if batch:
        yield batch


@torch.no_grad()
def score_batch(
    loaded: LoadedModels, dataset: ContextDataset, batch: Sequence[Tuple[Source, Target]]
) -> List[CandidateScore]:
    """Scores of B (source, target) pairs; an ensemble averages probabilities, as in search."""
    dictionary = loaded.task.target_dictionary
    sources = list(dict.fromkeys(source for source, _ in batch))
    net_input, position = _encoder_input(loaded, dataset, sources)
    rows = torch.tensor([position[source] for source, _ in batch], device=loaded.device)
    tokens = [torch.tensor(target) for _, target in batch]
    target, previous = (
        data_utils.collate_tokens(
            tokens, dictionary.pad(), dictionary.eos(), move_eos_to_beginning=shifted
        ).to(loaded.device)
        for shifted in (False, True)
    )  # (B, T)
    is_word = target.ne(dictionary.pad())
    place, distribution = _distinct_places(rows, previous, is_word)
    log_probs = []
    for model in loaded.models:
        encoder_out = model.encoder.forward_torchscript(net_input)
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, rows)
        features, extra = model.decoder.extract_features(previous, encoder_out=encoder_out)
        logits = model.decoder.output_layer(features[place])
        all_words = model.get_normalized_probs((logits, extra), log_probs=True, sample=None)  # (N, V)
        log_probs.append(all_words[distribution, target].double())
    scores = torch.logsumexp(torch.stack(log_probs), dim=0) - np.log(len(log_probs))  # (B, T)
    separators = target.eq(dictionary.index(SEPARATOR)).long()
    context = torch.tensor([source[1] for source, _ in batch], device=loaded.device)
    is_current = is_word & (separators.cumsum(1) - separators >= context[:, None])
    return [
        CandidateScore(*values)
        for values in zip(
            (scores * is_current).sum(1).tolist(),
            is_current.sum(1).tolist(),
            (scores * is_word).sum(1).tolist(),
            is_word.sum(1).tolist(),
            strict=True,
        )
    ]


def _distinct_places(rows: torch.Tensor, previous: torch.Tensor, is_word: torch.Tensor):
    """Where the vocabulary's probabilities must be computed: once for what candidates have in common.

    Args:
        rows: (B,) source of each candidate; those of one source follow each other.
        previous: (B, T) decoder input. is_word: BoolTensor (B, T).

    Returns:
        the places, BoolTensor (B, T) with N of them true, and the number (0 to N - 1) of the place whose
        probabilities are those of each token, (B, T): its own, or that of an earlier candidate of the same
        source with the same tokens up to there.
    """
    same = torch.zeros_like(is_word)
    same[1:] = (previous[1:] == previous[:-1]) & (rows[1:] == rows[:-1])[:, None]
    shared = same.long().cumprod(dim=1).bool() & is_word
    shared[1:] &= is_word[:-1]  # the shorter candidate has nothing to share after its end
    place = is_word & ~shared
    numbers = place.flatten().cumsum(0).view(place.shape) - 1
    for row in range(1, len(rows)):
        numbers[row] = torch.where(shared[row], numbers[row - 1], numbers[row])
    return place, numbers.clamp(min=0)


def _encoder_input(
    loaded: LoadedModels, dataset: ContextDataset, sources: Sequence[Source]
) -> Tuple[Dict[str, Any], Dict[Source, int]]:
    """A batch of the distinct sources, and the row of each."""
    batch = dataset.collater([dataset.restored(number, source) for number, source in enumerate(sources)])
    position = {sources[number]: row for row, number in enumerate(batch["id"].tolist())}
    net_input = utils.move_to_cuda(batch["net_input"]) if loaded.device.type == "cuda" else batch["net_input"]
    return net_input, position
