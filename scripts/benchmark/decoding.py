"""Document translation with forced target context against decoding the whole window."""

import numpy as np
import torch

from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.text.documents import Documents
from scripts.benchmark.paired import Comparison, alternate, seconds
from tests.helpers import synthetic

WAYS = ("full window", "forced prefix")


def forced_prefix(
    size: str,
    repeats: int,
    device: torch.device,
    documents: int = 16,
    sentences: int = 4,
    length: int = synthetic.LENGTH,
    beam: int = 4,
) -> Comparison:
    """Speed-up of the forced prefix, ``documents`` side by side, K = 4.

    An untrained model ends nowhere, so the lengths are matched by force: a sentence has ``length`` tokens, a
    window K times as many. The targets are given, and every one of the ``sentences`` that are translated in a
    document has all its context.
    """
    loaded = synthetic.load(size, device)
    rng = np.random.default_rng(1)
    height = synthetic.CONTEXT + sentences
    sources = synthetic.sentences(loaded.task, rng, documents * height)
    targets = synthetic.sentences(loaded.task, rng, documents * height, length)
    boundaries = Documents.from_lengths([height] * documents)
    lines = [line for line in range(documents * height) if line % height >= synthetic.CONTEXT]

    def measure(decoding: str) -> float:
        forced = length if decoding == "prefix" else length * (1 + synthetic.CONTEXT)
        search = SearchSettings(beam=beam, lenpen=0.6, max_len_a=0, max_len_b=length, min_len=forced)
        translator = DocumentTranslator(loaded.with_options(decoding=decoding), search, width=documents)
        running = translator.running(sources, boundaries, targets)
        return seconds(lambda: list(translator.translate(running, lines)), device)

    values = alternate(lambda _: measure("window"), lambda _: measure("prefix"), repeats)
    goal = "at least 2.5" if size == "tiny" else ""
    return Comparison(f"decode {size}, {documents} documents", WAYS, "s", values, goal)
