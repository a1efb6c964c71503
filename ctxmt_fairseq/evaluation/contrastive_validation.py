"""``--valid-contrast``: measures accuracies on contrastive sets at each validation of a training."""

import itertools
import os
from dataclasses import replace
from typing import Any, Dict, List, Sequence

import numpy as np
import torch
from fairseq.distributed import utils as distributed_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import first_folder
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.contrastive_report import choose
from ctxmt_fairseq.evaluation.contrastive_scoring import CandidateWindows
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveExample, read_contrastive_sets, texts_of
from ctxmt_fairseq.generation.loading import LoadedModels

METRIC = "contrast_accuracy"


def drawn(examples: Sequence[ContrastiveExample], most: int) -> List[int]:
    """Draw the places of at most so many examples at random, always the same ones.

    Neighbours that have the same sentence and candidates, but not the same context, are drawn together, as
    many as fit: another candidate is right in each, so a model that reads no context has none of a pair for
    both. At equal distances all of them might be those in which one candidate is right.
    """

    def text(place: int) -> Any:
        example = examples[place]
        return example.source, {candidate.current for candidate in example.candidates}

    alike = [list(places) for _, places in itertools.groupby(range(len(examples)), text)]
    found: List[int] = []
    for number in np.random.default_rng(1).permutation(len(alike)):
        if len(found) + len(alike[number]) <= most:
            found += alike[number]
    return sorted(found) or list(range(min(most, len(examples))))


class ContrastiveValidation:
    """Contrastive sets, scored by a model in training as ``ctxmt contrast`` scores them by a trained one. All
    of the sets is read and turned into windows before the training, so that what is wrong with them stops it
    there. The processes of a training share the examples. The task's configuration names the sets, and how
    many examples of each are scored (``drawn``)."""

    def __init__(self, task: Any, model: Any):
        cfg = task.cfg
        most = cfg.valid_contrast_examples
        if most is not None and most < 1:
            raise BadInput(f"--valid-contrast-examples {most}: expected 1 or more")
        folder, languages = first_folder(cfg.data), (cfg.source_lang, cfg.target_lang)
        subwords = [Subwords.load(folder, language) for language in languages]
        self.loaded = LoadedModels([model], task, torch.device("cpu"), *subwords)
        self.sets = read_contrastive_sets(cfg.valid_contrast.split(os.pathsep))
        self.windows = []
        self.numbers: List[List[int]] = []  # of the examples that are scored
        for suite in self.sets:
            self.loaded.warn_of_unknown(suite.name, *texts_of(suite.examples))
            self.windows.append(CandidateWindows(self.loaded, suite.examples))
            self.numbers.append(drawn(suite.examples, most or len(suite.examples)))

    @staticmethod
    def metrics(paths: str) -> List[str]:
        """The names of what is measured on sets that are joined by ``:``."""
        sets = read_contrastive_sets(paths.split(os.pathsep))
        return [METRIC, *(f"{METRIC}_{suite.name}" for suite in sets)]

    def accuracies(self, model: Any) -> Dict[str, float]:
        """The accuracies in percent, by the names of ``metrics``, the same in all processes."""
        device = next(model.parameters()).device
        loaded = replace(self.loaded, models=[model.eval()], device=device)
        processes = distributed_utils.get_data_parallel_world_size()
        rank = distributed_utils.get_data_parallel_rank() if processes > 1 else 0
        right = []
        for suite, windows, numbers in zip(self.sets, self.windows, self.numbers, strict=True):
            share = [suite.examples[number] for number in numbers[rank::processes]]
            scores = windows.scores(loaded, numbers[rank::processes], progress=False)
            pairs = zip(scores, share, strict=True)
            right.append(sum(choose(row, one.correct, suite.convention).correct for row, one in pairs))
        if processes > 1:
            counts = torch.tensor(right, device=device)
            distributed_utils.all_reduce(counts, group=distributed_utils.get_data_parallel_group())
            right = counts.tolist()
        found = {METRIC: 100 * sum(right) / sum(map(len, self.numbers))}
        for suite, count, numbers in zip(self.sets, right, self.numbers, strict=True):
            found[f"{METRIC}_{suite.name}"] = 100 * count / len(numbers)
        return found
