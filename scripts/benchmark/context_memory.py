"""How the memory of translation grows with the context (sequence shortening, section 5.5 and figure 4)."""

from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ctxmt_fairseq.base.plots.charts import Point, draw_chart
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.text.documents import Documents
from scripts.benchmark.paired import Comparison
from tests.helpers import synthetic
from tests.helpers.allocated import peak_allocated

ROWS = 16  # sentences in the batch
COUNTS = (1, 5, 10, 15, 20)  # context sentences
HALVES = ((1, 10), (10, 20))
_POINT = " context sentences, "
_JOINED: Dict[str, Any] = {"context_layout": "joined", "context_fusion": "concat"}
SYSTEMS: Dict[str, Tuple[str, Dict[str, Any]]] = {
    "concatenation": ("transformer", {}),
    "multi-encoder": ("dual_encoder_transformer", _JOINED),
    "caching tokens": ("caching_transformer", {}),
    "shortening (mean)": ("caching_transformer", {"shortening": "mean"}),
}
# The papers' code made the whole matrix of attention weights, as "plain" does; fused kernels never have it.
ATTENTIONS: Dict[str, List[SDPBackend]] = {
    "plain": [SDPBackend.MATH],
    "fused": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
}


def context_memory(size: str, device: torch.device, length: int = synthetic.LENGTH) -> List[Comparison]:
    """Peak memory of translating a batch with each of ``COUNTS``; every sentence, and its translation, has
    ``length`` subwords. Gives for each system and attention how fast the peak grows in the second of
    ``HALVES`` and in the first, and for each system and number of sentences both attentions' peaks."""
    growth, points = [], []
    for system in SYSTEMS:
        plain, fused = (
            [memory_of_translation(size, device, system, attention, count, length) for count in COUNTS]
            for attention in ATTENTIONS
        )
        growth += [
            slopes(f"memory {size}, {system}, {attention} attention", peaks)
            for attention, peaks in zip(ATTENTIONS, (plain, fused), strict=True)
        ]
        points += [
            Comparison(f"memory {size}, {count}{_POINT}{system}", ("plain attention", "fused"), "MiB", [pair])
            for count, pair in zip(COUNTS, zip(plain, fused, strict=True), strict=True)
        ]
    return growth + points


def slopes(name: str, peaks: Sequence[float]) -> Comparison:
    """How fast ``peaks`` (one for each of ``COUNTS``) grow in the second half and in the first.

    A straight line has the ratio 1; the square of the window's length 2.46.
    """
    peak = dict(zip(COUNTS, peaks, strict=True))
    first, second = ((peak[end] - peak[start]) / (end - start) for start, end in HALVES)
    early, late = (f"from {start} to {end}" for start, end in HALVES)
    return Comparison(name, (f"growth {late}", early), "MiB a sentence", [(second, first)])


def memory_of_translation(
    size: str, device: torch.device, system: str, attention: str, count: int, length: int = synthetic.LENGTH
) -> float:
    """MiB that a greedy translation of ``ROWS`` sentences takes at most beyond the model.

    Every sentence has ``count`` previous sentences as context, none of which was encoded before.
    """
    translator = _translator(size, device, system, count, length)
    rng = np.random.default_rng(1)
    sources = synthetic.sentences(translator.loaded.task, rng, count + ROWS, length)
    running = translator.running(sources, Documents.from_lengths([len(sources)]))
    with sdpa_kernel(ATTENTIONS[attention]):
        return peak_allocated(lambda: list(translator.translate(running, range(count, len(sources)))), device)


def _translator(size: str, device: torch.device, system: str, count: int, length: int) -> DocumentTranslator:
    arch, options = SYSTEMS[system]
    task: Any
    if arch == "transformer":
        task = synthetic.make_task(size, source_context=count, target_context=0)
        model = synthetic.make_model(task, size, concat=False)
    else:
        task = synthetic.make_multi_source_task(size, source_context=count)
        model = synthetic.make_multi_source_model(task, size, arch, **options)
    loaded = LoadedModels([model.eval().to(device)], task, device, Subwords(), Subwords())
    # An untrained model ends nowhere: the length is forced.
    search = SearchSettings(beam=1, max_len_a=0, max_len_b=length, min_len=length)
    return DocumentTranslator(loaded, search, width=ROWS)


def draw_memory(comparisons: Sequence[Comparison]) -> bytes:
    """The peaks among ``comparisons``: a panel for each attention, a line for each system, as a PNG file."""
    points = [
        Point(f"peak memory of translation (MiB), {attention} attention", system, count, peak)
        for count, system, peaks in _peaks(comparisons)
        for attention, peak in zip(ATTENTIONS, peaks, strict=True)
    ]
    return draw_chart(points, "context sentences", bases={point.measure: 0 for point in points})


def _peaks(comparisons: Sequence[Comparison]) -> Iterator[Tuple[int, str, Tuple[float, float]]]:
    for comparison in comparisons:
        before, point, system = comparison.name.partition(_POINT)
        if point:
            yield int(before.split()[-1]), system, comparison.medians
