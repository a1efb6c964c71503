"""How many operations a step is made of, against fairseq's transformer on the same windows: the table of
docs/results/speed.md."""

from pathlib import Path

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers.steps import STOCK, batch, build, criterion, decoder, first_steps, train

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "results" / "speed.md"
HEADER = "| operations / stock's | a training step | a step of a search |"
# Name -> system, criterion
SHOWN = {
    "stock transformer": (STOCK, "label_smoothed"),
    "concat": ("concat", "label_smoothed"),
    "concat, shift": ("concat shift", "label_smoothed"),
    "concat, shift, discount": ("concat shift", "discounted"),
    "concat, learned segments": ("concat learned", "label_smoothed"),
    "concat, flag": ("concat flag", "label_smoothed"),
    "concat, shift, margins of 2 contexts": ("concat shift", "margin"),
    "gated": ("gated", "label_smoothed"),
    "context encoder": ("context encoder", "label_smoothed"),
    "dual serial": ("dual serial", "label_smoothed"),
    "dual hierarchical": ("dual hierarchical", "label_smoothed"),
    "dual flat": ("dual flat", "label_smoothed"),
    "caching none": ("caching none", "label_smoothed"),
    "caching mean": ("caching mean", "label_smoothed"),
    "caching select": ("caching select", "label_smoothed"),
    "mtcue": ("mtcue", "label_smoothed"),
    "cue": ("cue", "label_smoothed"),
    "tagging": ("tagging", "label_smoothed"),
}


class Counter(TorchDispatchMode):
    """Counts what is dispatched within it, views included."""

    def __init__(self):
        super().__init__()
        self.operations = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.operations += 1
        return function(*args, **(kwargs or {}))


def operations(name):
    """Of a training step and of the third step of a search, with the layers of the size tiny."""
    system, loss = SHOWN[name]
    task, model = build(system, layers=None)
    sample = batch(task)
    with Counter() as training:
        train(model, criterion(task, loss), sample)
    step = decoder(model, sample)
    *before, last = first_steps(sample)
    for tokens in before:
        step(tokens)
    with Counter() as search:
        step(last)
    return training.operations, search.operations


@pytest.fixture(scope="module")
def counts():
    return {name: operations(name) for name in SHOWN}


def test_the_table_of_operations_is_what_is_measured(counts):
    """To 0.05: the number of operations may change a little with anything."""
    stock = counts["stock transformer"]
    ratios = {
        name: [number / of for number, of in zip(numbers, stock, strict=True)]
        for name, numbers in counts.items()
    }
    lines = [f"| {name} | {first:.2f} | {second:.2f} |" for name, (first, second) in ratios.items()]
    table = DOCUMENT.read_text().partition(HEADER)[2].split("\n\n")[0].splitlines()[2:]
    shown = {name: list(map(float, numbers)) for name, *numbers in map(_cells, table)}
    assert shown == {name: pytest.approx(both, abs=0.05) for name, both in ratios.items()}, "\n".join(
        ["put into docs/results/speed.md:", HEADER, "|---|---|---|", *lines]
    )


def _cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(
    "name", [name for name in SHOWN if name.startswith("concat") and "margin" not in name]
)
def test_concatenation_takes_hardly_more_operations_than_stock(name, counts):
    for number, of in zip(counts[name], counts["stock transformer"], strict=True):
        assert number <= 1.1 * of
