"""Copies tensors between the host and a device, many in one copy, for which the host does not wait."""

from typing import Any, Callable, Dict

import torch
from torch import Tensor

_ALIGNED = 16  # bytes; no type of torch's has larger elements


def to_device(tree: Any, device: torch.device) -> Any:
    """Send all tensors of a structure of dictionaries, lists and tuples to ``device`` in one copy.

    A GPU copies from memory that it can read by itself, so the host goes on meanwhile. Other values, and
    tensors that are on the device already, stay as they are.
    """
    tensors: Dict[int, Tensor] = {}  # each once
    _map(tree, lambda tensor: tensors.setdefault(id(tensor), tensor) if tensor.device != device else None)
    if not tensors:
        return tree
    packed = torch.cat([_bytes(tensor) for tensor in tensors.values()])
    if device.type == "cuda":
        packed = packed.pin_memory()
    received = packed.to(device, non_blocking=device.type != "cpu")
    moved: Dict[int, Tensor] = {}
    at = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        moved[name] = received[at : at + size].view(tensor.dtype).view(tensor.shape)
        at += -(-size // _ALIGNED) * _ALIGNED
    return _map(tree, lambda tensor: moved.get(id(tensor), tensor))


def to_host(tree: Any) -> Any:
    """Copy the structure, with all its tensors fetched to the CPU in one copy."""
    return to_device(tree, torch.device("cpu"))


def _bytes(tensor: Tensor) -> Tensor:
    flat = tensor.contiguous().view(-1).view(torch.uint8)
    return torch.nn.functional.pad(flat, (0, -len(flat) % _ALIGNED))


def _map(tree: Any, function: Callable[[Tensor], Any]) -> Any:
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return {name: _map(value, function) for name, value in tree.items()}
    if type(tree) in (list, tuple):
        return type(tree)(_map(value, function) for value in tree)
    return tree
