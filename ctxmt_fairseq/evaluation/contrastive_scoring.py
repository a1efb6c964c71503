"""Computes the log-probabilities of a contrastive set's candidates with ``forced_scoring``."""

import functools
from typing import Iterator, List, Mapping, Optional, Sequence

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveExample
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TokenScores, Window, score_windows, windows_of
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents


class CandidateWindows:
    """The windows that the models read for each candidate of each example, built as in training: ``rows`` has
    those of each example. They can be scored again and again while a model learns."""

    def __init__(self, loaded: LoadedModels, examples: Sequence[ContrastiveExample]):
        self.dataset = _dataset(loaded, examples)
        windows: Iterator[Window] = iter(windows_of(self.dataset))
        self.rows = [[next(windows) for _ in example.candidates] for example in examples]

    def scores(
        self,
        loaded: LoadedModels,
        numbers: Optional[Sequence[int]] = None,
        max_tokens: int = MAX_TOKENS,
        progress: bool = True,
    ) -> List[List[CandidateScore]]:
        """Teacher-forced scores of the candidates of each example, or of the examples ``numbers``."""
        rows = self.rows if numbers is None else [self.rows[number] for number in numbers]
        windows = [window for row in rows for window in row]
        how = max_tokens, "candidate", None, progress
        scores = map(_candidate_score, score_windows(loaded, self.dataset, windows, *how))
        return [[next(scores) for _ in row] for row in rows]


def score_candidates(
    loaded: LoadedModels, examples: Sequence[ContrastiveExample], max_tokens: int = MAX_TOKENS
) -> List[List[CandidateScore]]:
    """The scores of every candidate of every example; see ``CandidateWindows.scores``."""
    return CandidateWindows(loaded, examples).scores(loaded, max_tokens=max_tokens)


def _candidate_score(scores: TokenScores) -> CandidateScore:
    current, window = scores.current, scores.window
    return CandidateScore(float(current.sum()), len(current), float(window.sum()), len(window))


def _dataset(loaded: LoadedModels, examples: Sequence[ContrastiveExample]) -> ContextDataset:
    """A dataset with one document for each candidate: previous sentences, the current one, following ones."""
    options = loaded.task.context_options()
    draws = options.context_selection == "random" and (options.reach or loaded.reads_metadata)
    if draws and len(examples) < 2:
        raise BadInput("--context-selection random needs at least two examples to draw from")
    if options.context_selection == "shuffled":
        why = "an example's candidates share a context"
        raise BadInput(f"--context-selection shuffled: choose another, because {why}")
    encode_source, encode_target = map(functools.cache, (loaded.encode_source, loaded.encode_target))
    texts: List[str] = []
    metadata: List[Mapping[str, str]] = []
    targets: List[torch.Tensor] = []
    lengths: List[int] = []
    current: List[int] = []
    for example, candidate in ((one, candidate) for one in examples for candidate in one.candidates):
        before = max(len(example.source_before), len(candidate.before))
        current.append(len(texts) + before)
        lengths.append(before + 1 + len(example.source_after))
        # If one side has less context, empty sentences fill it up.
        source = ("",) * (before - len(example.source_before)) + example.source_before
        target = ("",) * (before - len(candidate.before)) + candidate.before
        texts += [*source, example.source, *example.source_after]
        metadata += [example.metadata] * lengths[-1]
        targets += map(encode_target, (*target, candidate.current, *("" for _ in example.source_after)))
    dataset = loaded.task.build_dataset(
        "contrastive set",
        Sentences([*map(encode_source, texts)]),
        Sentences(targets),
        Documents.from_lengths(lengths),
        np.array(current, np.int64),
        training=False,
        contexts=loaded.contexts_of(texts, metadata),
    )
    starts = np.cumsum([0, *(len(example.candidates) for example in examples[:-1])])
    dataset.builder.variants = Documents.from_lengths(np.add.reduceat(lengths, starts))
    _, too_long = dataset.filter_indices_by_size(np.arange(len(dataset)), loaded.limits)
    if too_long:
        number = int(np.searchsorted(starts, too_long[0], "right")) - 1
        most = "the models read at most {} source and {} target tokens".format(*loaded.sentence_limits)
        raise BadInput(f"example {examples[number].id}: a sentence is too long; {most}")
    sizes, whole = dataset.window_sizes, dataset.whole_sizes
    shortened = sizes.reach < whole.reach
    if shortened.any():  # by what does not fit with one candidate, which the others have not either
        least = np.minimum.reduceat(np.where(shortened, sizes.reach, whole.reach.max()), starts)
        sizes.reach[:] = np.minimum(sizes.reach, np.repeat(least, np.diff([*starts, len(dataset)])))
    return dataset
