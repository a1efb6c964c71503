"""Builds models without memory: the names and shapes of their parameters alone.

A checkpoint is a few options and the parameters. The options may describe a model of any size, so it is
compared with the parameters before memory is taken for it.
"""

import contextlib
import copy
import math
import threading
import warnings
from contextvars import ContextVar
from typing import Any, Callable, Iterator, Mapping, Optional
from unittest.mock import patch

import torch
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ctxmt_fairseq.checkpoints.options import WrongValue

# What a model computes of its options is not in its checkpoint: tables of positions. 2^26 numbers are 131,072
# positions of 512 units.
LARGEST = 2**26
_LEFT_OUT = ("normal_", "uniform_", "cpu")  # BART draws on the CPU
_table = SinusoidalPositionalEmbedding.get_embedding
_ONE_AT_A_TIME = threading.RLock()
_without_values: ContextVar[bool] = ContextVar("without_values", default=False)


class _ShapesOnly(TorchFunctionMode):
    """Makes new parameters on the device "meta", at most so many and so large ones. What draws their values
    is not called: there it would import PyTorch's compiler, which takes seconds."""

    def __init__(self, largest: float, most: float):
        super().__init__()
        self.largest, self.left = largest, most

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__name__", "") in _LEFT_OUT:
            return args[0] if args else kwargs["tensor"]
        if function is not torch.empty:
            return function(*args, **kwargs)
        made = function(*args, **{**kwargs, "device": "meta"})
        self.left -= 1
        if made.numel() > self.largest or self.left < 0:
            what = f"one of {tuple(made.shape)}" if self.left >= 0 else "more of them"
            raise WrongValue(f"the options describe larger parameters than the file has: {what}")
        return made


@contextlib.contextmanager
def shapes_only(largest: float = math.inf, most: float = math.inf) -> Iterator[None]:
    """Models that are built meanwhile have no values, and draw no random number. If a tensor has more numbers
    than ``largest``, or there are more than ``most``, it ends with a ``WrongValue``."""
    token = _without_values.set(True)
    try:
        with _ONE_AT_A_TIME, patch.object(SinusoidalPositionalEmbedding, "get_embedding", _TABLE):
            with _ShapesOnly(largest, most):
                yield
    finally:
        _without_values.reset(token)


def _table_of_positions(positions: int, dimension: int, padding_idx: Optional[int] = None) -> Tensor:
    if _without_values.get():
        return torch.empty(positions, dimension)
    return _table(positions, dimension, padding_idx)


_TABLE = staticmethod(_table_of_positions)


def check_shapes(
    build: Callable[[Any], Any], options: Any, parameters: Mapping[str, Tensor], strict: bool
) -> None:
    """Load parameters into a model without memory, which raises what loading them into a real one would, or
    ``WrongValue`` if it has many more of them, or larger ones. If ``strict`` it must have all of them, and no
    others."""
    largest = max((tensor.numel() for tensor in parameters.values()), default=0)
    options = copy.deepcopy(options)  # fairseq changes them when it builds and when it loads
    # twice: what a model replaces after it was built, and the sentence-level model whose shapes it records
    with shapes_only(max(largest, LARGEST), 2 * len(parameters) + 100):
        model = build(options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells of every parameter that it was not copied
        model.load_state_dict(dict(parameters), strict=strict, model_cfg=options)
