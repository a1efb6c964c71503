"""A training step with segment shift and context discount against stock fairseq's, on the same windows."""

from typing import Any, Callable, Dict, List, Sequence

import torch
from fairseq import utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from scripts.benchmark.paired import Comparison, alternate, seconds
from tests.helpers import synthetic
from tests.helpers.process import in_new_process, resident

WAYS = ("concat + shift + discount", "stock transformer")
GOAL = "at most 1.05 (aim 1.02)"
BATCHES = 8
Batch = Dict[str, Any]


def make_batches(size: str, device: torch.device, max_tokens: int) -> List[Batch]:
    """Batches of windows in a random order, at most ``max_tokens`` padded tokens on each side."""
    task = synthetic.make_task(size)
    dataset = synthetic.dataset(task, documents=1 + sentences(max_tokens) // 50, document_length=50)
    return batches_of(dataset, device, max_tokens)


def sentences(max_tokens: int) -> int:
    """How many fill ``BATCHES`` batches."""
    return BATCHES * (1 + max_tokens // synthetic.LENGTH)


def batches_of(dataset: Any, device: torch.device, max_tokens: int) -> List[Batch]:
    """``BATCHES`` of a dataset's batches, in a random order."""
    groups = groups_of(dataset, max_tokens)
    batches = [dataset.collater([dataset[index] for index in group]) for group in groups]
    return utils.move_to_cuda(batches) if device.type == "cuda" else batches


def groups_of(dataset: Any, max_tokens: int) -> List[Sequence[int]]:
    """The examples of ``batches_of``."""
    indices, _ = dataset.filter_indices_by_size(dataset.ordered_indices(), synthetic.LIMITS)
    groups = dataset.batch_by_size(indices, max_tokens=max_tokens)
    torch.manual_seed(1)
    return [groups[number] for number in torch.randperm(len(groups))[:BATCHES]]


def make_step(size: str, device: torch.device, ours: bool) -> Callable[[Batch], None]:
    """Forward, backward and update of a new model."""
    task = synthetic.make_task(size)
    model = synthetic.make_model(task, size, concat=ours)
    kind = ContextDiscountedCriterion if ours else LabelSmoothedCrossEntropyCriterion
    options: Dict[str, Any] = {"context_discount": 0.01} if ours else {}
    return step_of(model, kind(task, sentence_avg=False, label_smoothing=0.1, **options), device)


def smoothed(task: Any) -> LabelSmoothedCrossEntropyCriterion:
    """fairseq's loss."""
    return LabelSmoothedCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.1)


def step_of(model: Any, criterion: Any, device: torch.device) -> Callable[[Batch], None]:
    """Forward, backward and update of a model."""
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step(batch: Batch) -> None:
        loss, sample_size, _ = criterion(model, batch)
        (loss / sample_size).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def step_time(size: str, repeats: int, device: torch.device, max_tokens: int) -> Comparison:
    """Time of a step; a pair runs on one batch, every repeat goes through all of them."""
    batches = make_batches(size, device, max_tokens)
    ours, stock = (make_step(size, device, ours) for ours in (True, False))
    values = alternate(
        lambda number: seconds(lambda: ours(batches[number % BATCHES]), device),
        lambda number: seconds(lambda: stock(batches[number % BATCHES]), device),
        repeats * BATCHES,
        warm_up=2,
    )
    return Comparison(f"train {size}, step time", WAYS, "s", values, GOAL)


def peak_memory(size: str, repeats: int, device: torch.device, max_tokens: int) -> Comparison:
    """Peak memory of a few steps beyond what the libraries and the batches take, a process for each run."""

    def measure(ours: bool) -> float:
        return in_new_process(memory_of_steps, size, device, ours, max_tokens)

    values = alternate(lambda _: measure(True), lambda _: measure(False), repeats, warm_up=0)
    return Comparison(f"train {size}, peak memory", WAYS, "MiB", values, GOAL)


def memory_of_steps(size: str, device: torch.device, ours: bool, max_tokens: int) -> float:
    """MiB that a model, its optimizer and its steps take at most, in this process."""
    batches = make_batches(size, device, max_tokens)
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device) / 2**20
    else:
        before = resident(peak=False)
    step = make_step(size, device, ours)
    for batch in batches:
        step(batch)
    peak = torch.cuda.max_memory_allocated(device) / 2**20 if device.type == "cuda" else resident(peak=True)
    return peak - before
