"""Checkpoints of a few numbers."""

import argparse
import os

import torch


def checkpoint(path, task="document_window", optimizer=True, time=None, updates=1, **more):
    """A file with the kinds of things that fairseq stores."""
    state = {
        "args": argparse.Namespace(lr=[0.1]),
        "cfg": {"task": {"_name": task, "source_context": 3}},
        "model": {"weight": torch.arange(4000.0)},
        "last_optimizer_state": {"state": {0: torch.ones(3)}} if optimizer else None,
        "optimizer_history": [{"num_updates": updates}],
        **more,
    }
    torch.save(state, path)
    if time is not None:
        os.utime(path, (time, time))
    return path
