"""Checkpoints without pickle: the parameters as safetensors, and what else is known as JSON beside them."""

import argparse
import json
from pathlib import Path
from typing import Any, Dict, Mapping

from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.text.json_files import Place, get, load_json

CHECKPOINT = "checkpoint.pt"  # in a folder that is a model, or WEIGHTS
WEIGHTS, OPTIONS = "model.safetensors", "checkpoint.json"
CONVERTED = "model.bin"  # the parameters as CTranslate2 has them
_SHARED = "shared"  # parameters that are another one's tensor, by their names
_KINDS: Dict[str, type] = {
    **{"cfg": dict, "task_state": dict, "optimizer_history": list, "extra_state": dict},
    **{_SHARED: dict},
}


def read_tensors(path: Path) -> Dict[str, Tensor]:
    """Read a file of safetensors, which holds nothing but tensors."""
    if not path.is_file():
        raise BadInput("no such file", path)
    safetensors = import_of_extra("safetensors.torch", "hf", f"{path} needs safetensors")
    try:
        return safetensors.load_file(path)
    except Exception as error:  # its own exceptions, which it does not export
        raise BadInput(f"is no file of safetensors, or a damaged one: {error}", path) from None


def read_options(path: Path) -> Dict[str, Any]:
    """Read what a checkpoint says besides its parameters; its data folder is the one that it is in."""
    said = load_json(path)
    found = {key: get(Place(path), said, key, kind) for key, kind in _KINDS.items()}
    model, task = (get(Place(path, part="cfg"), found["cfg"], name, dict) for name in ("model", "task"))
    task["data"] = str(path.parent)
    if "arch" in model:  # a command line, as fairseq-train saves it
        found["cfg"]["model"] = argparse.Namespace(**model)
    return found


def read_portable(path: Path) -> Dict[str, Any]:
    """Read a checkpoint by the file of its parameters; ``reduced`` says what may be built of it. Those of
    ``CONVERTED`` stay there."""
    options = path.with_name(OPTIONS)
    if not options.is_file() and path.with_name("config.json").is_file():
        raise BadInput("a model of Hugging Face: ctxmt import takes it over", path.parent)
    state = read_options(options)
    parameters = {} if path.name == CONVERTED else read_tensors(path)
    shared = state.pop(_SHARED)
    for name in shared:
        stored = get(Place(options, part=_SHARED), shared, name, str)
        if stored not in parameters:
            raise BadInput(f"{name} shares {stored}, which {path.name} lacks", options)
        parameters[name] = parameters[stored]
    return {**state, "args": None, "model": parameters}


def write_options(
    state: Mapping[str, Any], folder: Path, shared: Mapping[str, str] = {}, **more: Any
) -> None:
    """Write what ``read_options`` reads of a checkpoint, as ``reduced`` leaves it, with ``more`` as its
    extra state, and without the place of the training's data."""
    history = state.get("optimizer_history") or [{}]
    cfg = {name: dict(mapping(state["cfg"][name], name)) for name in ("task", "model", "criterion")}
    cfg["task"].pop("data", None)
    said = {
        "cfg": cfg,
        "task_state": state.get("task_state") or {},
        "optimizer_history": [{"num_updates": history[-1].get("num_updates", 0), "lr_scheduler_state": {}}],
        "extra_state": more,
        _SHARED: shared,
    }
    text = json.dumps(said, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / OPTIONS).write_text(text + "\n", encoding="utf-8")


def write_portable(state: Mapping[str, Any], folder: Path) -> None:
    """Write what ``read_portable`` reads; of parameters that are one tensor the first is stored."""
    safetensors = import_of_extra("safetensors.torch", "hf", "a model without pickle needs safetensors")
    stored: Dict[Any, str] = {}
    parameters, shared = {}, {}
    for name, tensor in state["model"].items():
        place = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
        first = stored.setdefault(place, name) if tensor.numel() else name
        if first == name:
            parameters[name] = tensor.contiguous()
        else:
            shared[name] = first
    (folder / WEIGHTS).write_bytes(safetensors.save(parameters))
    write_options(state, folder, shared)
