"""How the memory of a training step grows with the context (sequence shortening, figure 4)."""

from typing import Any, Dict, List, Sequence, Tuple

import torch
from fairseq import utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from ctxmt_fairseq.benchmark import synthetic
from ctxmt_fairseq.benchmark.paired import Comparison
from ctxmt_fairseq.benchmark.process import in_new_process, resident

ROWS = 16  # sentences in the batch
SIZES = (1, 5, 10, 15, 20)  # context sentences
_JOINED: Dict[str, Any] = {"context_layout": "joined", "context_fusion": "concat"}
SYSTEMS: Dict[str, Tuple[str, Dict[str, Any]]] = {
    "concatenation": ("transformer", {}),
    "multi-encoder": ("dual_encoder_transformer", _JOINED),
    "caching tokens": ("caching_transformer", {}),
    "shortening (mean)": ("caching_transformer", {"shortening": "mean"}),
}


def context_memory(size: str, device: torch.device) -> List[Comparison]:
    """Peak memory of a step with each of ``SIZES``, a process for each system, beside concatenation's."""
    first = next(iter(SYSTEMS))
    comparisons = []
    for count in SIZES:
        peaks = {name: in_new_process(memory_of_step, size, device, name, count) for name in SYSTEMS}
        comparisons += [
            Comparison(
                f"memory {size}, {count} context sentences", (name, first), "MiB", [(peak, peaks[first])]
            )
            for name, peak in peaks.items()
        ]
    return comparisons


def memory_of_step(size: str, device: torch.device, system: str, count: int) -> float:
    """MiB that a model's forward and backward pass take at most beyond the model, in this process."""
    arch, options = SYSTEMS[system]
    task: Any
    if arch == "transformer":
        task = synthetic.make_task(size, source_context=count, target_context=0)
        model = synthetic.make_model(task, size, concat=False)
    else:
        task = synthetic.make_multi_source_task(size, source_context=count)
        model = synthetic.make_multi_source_model(task, size, arch, **options)
    model = model.to(device).train()
    dataset = synthetic.dataset(task, documents=1, document_length=count + ROWS)
    batch = dataset.collater([dataset[index] for index in range(count, count + ROWS)])
    if device.type == "cuda":
        batch = utils.move_to_cuda(batch)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated(device) / 2**20
    else:
        before = resident(peak=False)
    criterion = LabelSmoothedCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.1)
    criterion(model, batch)[0].backward()
    peak = torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else resident(peak=True)
    return peak - before


def plot(comparisons: Sequence[Comparison], path: str) -> None:
    """A line for each system, as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name in SYSTEMS:
        peaks = [comparison.medians[0] for comparison in comparisons if comparison.ways[0] == name]
        axes.plot(SIZES, peaks, marker="o", label=name)
    axes.set(xlabel="context sentences", xticks=SIZES, ylabel="peak memory of a step (MiB)", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=150)
