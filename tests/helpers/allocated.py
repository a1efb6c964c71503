"""How much memory torch hands out while something runs: exact, and the same in every run."""

import os
from typing import Any, Callable

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile


def peak_allocated(work: Callable[[], Any], device: torch.device) -> float:
    """MiB of tensors that live at one time at most, beyond those that live before ``work`` is called."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        work()
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # the profiler talks on stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        work()
    # The CPU has no counter like the GPU's, but the profiler sees all that is handed out and given back.
    events = profiler.profiler.kineto_results.events()  # type: ignore[union-attr]
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    return float(np.cumsum([bytes_ for _, bytes_ in changes]).max(initial=0)) / 2**20
