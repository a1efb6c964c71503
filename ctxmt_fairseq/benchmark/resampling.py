"""The paired bootstrap of BLEU against sacrebleu's own."""

import contextlib
import io
import random
from typing import List, Sequence, Tuple

import torch

from ctxmt_fairseq.benchmark.paired import Comparison, alternate, seconds
from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.resampling import paired_tests

WAYS = ("sacrebleu's", "ours")
WORDS = 15  # of a sentence, on average


def random_texts(sentences: int) -> List[List[str]]:
    """A reference and two translations of it, which differ from it in a tenth and a fifth of their words."""
    draw = random.Random(1)
    reference = [
        [str(draw.randrange(5000)) for _ in range(draw.randrange(1, 2 * WORDS))] for _ in range(sentences)
    ]
    texts = [reference]
    for share in (0.1, 0.2):
        texts.append([["x" if draw.random() < share else word for word in line] for line in reference])
    return [[" ".join(line) for line in text] for text in texts]


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
