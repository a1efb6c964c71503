"""A device of its own for tests, without one: it tells where a program waits for it, as it would for a GPU.

Tensors are said to be on the device ``meta`` and hold their values on the CPU, where every operation is
computed. torch's fake tensors could not be used: they have no values to go on with after the first wait, and
torch without CUDA has no backward pass on a fake CUDA device.
"""

import sys
from collections import Counter
from types import FrameType
from typing import Any, Optional

import torch
from torch import nn
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

DEVICE = torch.device("meta")
_aten = torch.ops.aten
# What CUDA computes only after the host has seen values: results, or their sizes.
_WAITS = {
    "_local_scalar_dense",
    "equal",
    "is_nonzero",
    "nonzero",
    "masked_select",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
    "bincount",
}
_COPIES = {"_to_copy", "copy_", "_copy_from"}
_OURS = ("ctxmt_fairseq/", "fairseq/")


class _Far(torch.Tensor):
    """A tensor of the device; ``near`` holds its values."""

    near: torch.Tensor

    @staticmethod
    def __new__(cls, near: torch.Tensor) -> "_Far":
        return torch.Tensor._make_wrapper_subclass(
            cls, near.size(), strides=near.stride(), storage_offset=near.storage_offset(),
            dtype=near.dtype, device=DEVICE, requires_grad=near.requires_grad,
        )  # fmt: skip

    def __init__(self, near: torch.Tensor):
        self.near = near

    def __repr__(self) -> str:
        return f"Far({self.near})"

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"{function} outside of OtherDevice")


class OtherDevice(TorchDispatchMode):
    """Within it the device is there.

    Attributes:
        waits: how often each place in the code waits for the device, as (file, function, operation).
        sent, fetched: the same for copies to the device and from it; those from it are waits too.
        operations: how many were computed on the device.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter = Counter()
        self.sent: Counter = Counter()
        self.fetched: Counter = Counter()
        self.operations = 0

    def put(self, tree: Any) -> Any:
        """The tensors of a structure on the device; of a module its parameters and buffers, in place."""
        if not isinstance(tree, nn.Module):
            return pytree.tree_map_only(torch.Tensor, _Far, tree)
        moved: dict = {}  # shared parameters stay so
        for module in tree.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    if parameter not in moved:
                        moved[parameter] = nn.Parameter(_Far(parameter.data), parameter.requires_grad)
                    module._parameters[name] = moved[parameter]
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = _Far(buffer)
        return tree

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = function._schema.name.split("::")[1]
        leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        far = any(isinstance(leaf, _Far) for leaf in leaves)
        to = kwargs.get("device")
        if to is not None:
            kwargs["device"] = torch.device("cpu")
        back = name == "_to_copy" and far and to is not None and torch.device(to) != DEVICE
        there = far if to is None else torch.device(to) == DEVICE
        self._note(name, args, leaves, far, there, back)
        near_args, near_kwargs = pytree.tree_map_only(_Far, lambda leaf: leaf.near, (args, kwargs))
        result = function(*near_args, **near_kwargs)
        if name == "_to_copy" and to is not None:  # a copy, as between devices
            result = result.clone()
        if not there or back:
            return result
        self.operations += 1
        result = pytree.tree_map_only(torch.Tensor, _Far, result)
        if not far:  # made here
            return result
        return return_and_correct_aliasing(function, args, kwargs, result)

    def _note(self, name: str, args: Any, leaves: Any, far: bool, there: bool, back: bool) -> None:
        mixed = far and any(not isinstance(leaf, _Far) and leaf.dim() for leaf in leaves)
        if back or (name == "copy_" and mixed and not isinstance(args[0], _Far)):
            self.fetched[_place(name)] += 1
            self.waits[_place(name)] += 1
        elif (there and not far and leaves) or mixed:
            self.sent[_place(name)] += 1
        elif far and (name in _WAITS or _by_mask(name, args) or _unknown_size(name, args)):
            self.waits[_place(name)] += 1


def _by_mask(name: str, args: Any) -> bool:
    """Indexing by booleans, whose number decides on the result's size; filling by them does not."""
    if name not in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return False
    masks = [index for index in args[1] if index is not None and index.dtype in (torch.bool, torch.uint8)]
    fills = name != "index" and len(args[1]) == 1 and args[2].numel() == 1
    return bool(masks) and not fills


def _unknown_size(name: str, args: Any) -> bool:
    return name == "repeat_interleave" and len(args) < 2


def _place(operation: str) -> tuple[str, str, str]:
    """Where the operation was asked for: in the plugin or in fairseq, as far as it was there."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        for root in _OURS:
            at = path.rfind("/" + root)
            if at >= 0:
                return path[at + 1 :], frame.f_code.co_name, operation
        frame = frame.f_back
    return "", "", operation
