"""The paired bootstrap of BLEU against sacrebleu's own."""

import contextlib
import io
from typing import List, Sequence, Tuple

import torch

from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.resampling import paired_tests
from scripts.benchmark.paired import Comparison, alternate, seconds
from tests.helpers.synthetic import random_texts

WAYS = ("sacrebleu's", "ours")


def significance(repeats: int, sentences: int = 10_000, samples: int = 10_000) -> Comparison:
    """From sentences to intervals, BLEU, one pair of systems; ours with approximate randomization too."""
    from sacrebleu.significance import PairedTest

    reference, first, second = random_texts(sentences)
    cpu = torch.device("cpu")

    def theirs() -> None:
        bleu = measure("bleu")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            systems: List[Tuple[str, Sequence[str]]] = [("first", first), ("second", second)]
            PairedTest(systems, {"BLEU": bleu.metric}, [reference], "bs", samples)()

    def ours() -> None:
        bleu = measure("bleu")
        statistics = [bleu.statistics(system, reference) for system in (first, second)]
        paired_tests(statistics, [(0, 1)], bleu.scores, samples, seed=1)

    values = alternate(lambda _: seconds(theirs, cpu), lambda _: seconds(ours, cpu), repeats, warm_up=0)
    return Comparison(
        f"significance, {sentences:,} sentences, {samples:,} samples", WAYS, "s", values, "ours at most 10 s"
    )
