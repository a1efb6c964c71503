"""Two ways of doing the same work, run in turn and compared by the ratio of each pair.

A machine's speed drifts by more than what is measured here; the two halves of a pair see the same drift.
"""

import time
from dataclasses import dataclass
from statistics import median
from typing import Any, Callable, Dict, List, Sequence, Tuple, TypeVar

import torch

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Comparison:
    """Paired measurements of two ways; a ratio is that of the first to the second."""

    name: str  # what was measured
    ways: Tuple[str, str]
    unit: str
    values: Sequence[Tuple[float, float]]
    goal: str = ""  # what is asked for, in words

    @property
    def ratios(self) -> List[float]:
        """One per pair."""
        return [first / second for first, second in self.values]

    @property
    def medians(self) -> Tuple[float, float]:
        """The median value of each way."""
        first, second = zip(*self.values, strict=True)
        return median(first), median(second)

    @property
    def title(self) -> str:
        """What was measured, and the two ways."""
        return f"{self.name}: {self.ways[0]} / {self.ways[1]}"

    def row(self) -> List[str]:
        """Cells under ``HEAD``."""
        ratios = self.ratios
        return [
            self.title,
            f"{median(ratios):.3f}",
            f"{min(ratios):.3f}",
            f"{max(ratios):.3f}",
            str(len(ratios)),
            " / ".join(f"{value:.4g}" for value in self.medians) + f" {self.unit}",
            self.goal,
        ]

    def as_dict(self) -> Dict[str, Any]:
        """For JSON, with every pair."""
        return {
            "name": self.name,
            "ways": self.ways,
            "ratio": {"median": median(self.ratios), "min": min(self.ratios), "max": max(self.ratios)},
            "medians": self.medians,
            "unit": self.unit,
            "goal": self.goal,
            "pairs": self.values,
        }


HEAD = ["measurement", "ratio", "min", "max", "pairs", "medians", "goal"]


def seconds(work: Callable[[], Any], device: torch.device) -> float:
    """Wall-clock time of one call, the GPU's queue included."""
    _wait(device)
    start = time.perf_counter()
    work()
    _wait(device)
    return time.perf_counter() - start


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def alternate(
    first: Callable[[int], Measured], second: Callable[[int], Measured], repeats: int, warm_up: int = 1
) -> List[Tuple[Measured, Measured]]:
    """Measure A B A B ...: ``first`` and ``second``, which are given the number of the pair, return what they
    measured once. ``repeats`` pairs are returned; ``warm_up`` pairs are run before and not counted."""
    pairs = [(first(number), second(number)) for number in range(-warm_up, repeats)]
    return pairs[warm_up:]
