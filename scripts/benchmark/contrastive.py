"""Scoring of contrastive candidates together against fairseq's scorer on one candidate at a time."""

from typing import List, Sequence

import numpy as np
import torch
from fairseq.sequence_scorer import SequenceScorer

from ctxmt_fairseq.evaluation.contrastive_scoring import CandidateWindows, score_candidates
from ctxmt_fairseq.evaluation.contrastive_sets import Candidate, ContrastiveExample
from ctxmt_fairseq.generation.loading import LoadedModels
from scripts.benchmark.paired import Comparison, alternate, seconds
from tests.helpers import synthetic

WAYS = ("one at a time", "together")


def make_examples(loaded: LoadedModels, count: int, candidates: int) -> List[ContrastiveExample]:
    """Random examples as in ContraPro: K = 4, the candidates differ in one word."""
    task = loaded.task
    rng = np.random.default_rng(1)

    def texts(number: int) -> List[str]:
        return [task.source_dictionary.string(tokens) for tokens in synthetic.sentences(task, rng, number)]

    examples = []
    for number in range(count):
        *source_before, source = texts(1 + synthetic.CONTEXT)
        *target_before, target = texts(1 + synthetic.CONTEXT)
        words = target.split()
        at = int(rng.integers(len(words)))
        currents = [
            " ".join([*words[:at], synthetic.word(other), *words[at + 1 :]]) for other in range(candidates)
        ]
        choices = tuple(Candidate(tuple(target_before), current) for current in currents)
        examples.append(
            ContrastiveExample(str(number), tuple(source_before), source, (), choices, 0, "synthetic", None)
        )
    return examples


def one_at_a_time(loaded: LoadedModels, examples: Sequence[ContrastiveExample]) -> List[List[float]]:
    """Window scores (sum of log-probabilities) of each example's candidates, as stock fairseq gives them."""
    scorer = SequenceScorer(loaded.task.target_dictionary)
    rows = []
    for row in CandidateWindows(loaded, examples).rows:
        scores = []
        for (source, *_), target in row:
            window = torch.tensor([target], device=loaded.device)
            net_input = {
                "src_tokens": torch.tensor([source], device=loaded.device),
                "src_lengths": torch.tensor([len(source)], device=loaded.device),
                "prev_output_tokens": window.roll(1, dims=1),  # </s> comes first
            }
            ((hypothesis,),) = scorer.generate(loaded.models, {"net_input": net_input, "target": window})
            scores.append(float(hypothesis["positional_scores"].sum()))
        rows.append(scores)
    return rows


def contrastive(
    size: str, repeats: int, device: torch.device, examples: int, candidates: int = 3
) -> Comparison:
    """Speed-up of ``score_candidates``, from text to scores on both sides."""
    loaded = synthetic.load(size, device)
    suite = make_examples(loaded, examples, candidates)
    values = alternate(
        lambda _: seconds(lambda: one_at_a_time(loaded, suite), device),
        lambda _: seconds(lambda: score_candidates(loaded, suite), device),
        repeats,
    )
    goal = "at least 4" if device.type == "cuda" else "at least 1.3"
    return Comparison(f"contrast {size}, {candidates} candidates", WAYS, "s", values, goal)
