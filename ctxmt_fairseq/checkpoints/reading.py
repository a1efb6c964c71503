"""Reads checkpoints: nothing that a file says is run, and only what ``allowed`` allows is built."""

import argparse
import contextlib
import functools
import inspect
import pickletools
import re
import zipfile
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, FrozenSet, Iterable, Iterator, List, Optional, Tuple, Union
from unittest.mock import patch

import numpy as np
import omegaconf
import torch
from fairseq import checkpoint_utils, tasks
from fairseq.dataclass.utils import overwrite_args_by_name
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf

from ctxmt_fairseq.base.errors import BadInput, as_bad_input
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, EVALUATING, SECTIONS, modules_of, reduced
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.checkpoints.portable import CHECKPOINT, CONVERTED, WEIGHTS, read_portable
from ctxmt_fairseq.checkpoints.shapes import check_shapes

_load_ensemble = checkpoint_utils.load_model_ensemble_and_task
# A training that restores a checkpoint: the modules of its classes, which the command line has named, and
# built, so that a checkpoint may name them too; and what it checks of its state.
_Restoring = Tuple[FrozenSet[str], Callable[[Dict[str, Any]], None]]
_restoring: ContextVar[_Restoring] = ContextVar("restoring", default=(frozenset(), lambda state: None))
# What the user's command line trusts besides (``--trust-checkpoint``).
_trusted: ContextVar[FrozenSet[str]] = ContextVar("trusted", default=frozenset())
_loading: ContextVar[bool] = ContextVar("loading", default=False)

# With these torch's safe loading makes so many numbers or bytes as a file says, without having them.
_MAKING = re.compile(r"torch\S* \S*Tensor|\S+ bytearray")

# fairseq 0.12.2 saves these with every encoder layer, for a fast path that it fills anew at every start.
FAST_PATH = re.compile(r".*\.layers\.\d+\.(in_proj|out_proj|fc1|fc2)_(weight|bias)")


def allow_checkpoint_globals() -> None:
    """Have torch's safe loading accept what fairseq puts into checkpoints, and nothing else.

    fairseq calls ``torch.load`` without ``weights_only``. Since torch 2.6 safe loading is the default, and it
    refuses ``argparse.Namespace`` and the NumPy scalars that BLEU validation leaves in the metrics.
    """
    functions = {"_reconstruct": np.empty(0).__reduce__()[0], "scalar": np.float64(0).__reduce__()[0]}
    names: List[Any] = [argparse.Namespace, np.ndarray, np.dtype]
    names += [getattr(np.dtypes, name) for name in dir(np.dtypes) if name.endswith("DType")]
    for module in ("numpy.core.multiarray", "numpy._core.multiarray"):  # as NumPy 1 and NumPy 2 write it
        names += [(function, f"{module}.{name}") for name, function in functions.items()]
    torch.serialization.add_safe_globals(names)


allow_checkpoint_globals()


def peek(path: Path, mmap: bool = True) -> Any:
    """Load what ``torch.save`` has saved, and leave the tensors on disk unless ``mmap`` is false; or what
    ``write_portable`` has written, by the parameters' file."""
    if not path.is_file():
        folders = (path / "checkpoints", path.parent / "checkpoints")
        found = [f"; those of the training are in {folder}" for folder in folders if folder.is_dir()]
        models = (path / name for name in (CHECKPOINT, WEIGHTS))
        found += [f"; that of the folder is {model}" for model in models if model.is_file()]
        raise BadInput("".join(["no such checkpoint", *found[:1]]), path)
    if path.suffix == ".safetensors" or path.name == CONVERTED:
        return read_portable(path)
    try:
        packed = zipfile.is_zipfile(path)  # else it was saved before torch 1.6, and cannot be mapped
        _check_memory(path, packed)
        return torch.load(path, map_location="cpu", mmap=mmap and packed, weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        raise BadInput(f"is no checkpoint, or a damaged one: {_reason(error)}", path) from None


def _check_memory(path: Path, packed: bool) -> None:
    """Refuse a file that takes more memory than it has bytes: by its parts, none of which ``torch.save``
    compresses, or by a number of bytes or of zeros that torch's safe loading would make."""
    if not packed:
        with path.open("rb") as file:
            for _ in range(4):  # what it is, torch's version, the machine, what was saved
                _check_pickle(file)
        return
    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > path.stat().st_size:
            raise ValueError("its parts are larger than the file")
        for name in archive.namelist():
            if name.endswith("data.pkl"):
                _check_pickle(archive.read(name))


def _check_pickle(pickle: Union[bytes, BinaryIO]) -> None:
    for operation, name, _ in pickletools.genops(pickle):
        if operation.name == "GLOBAL" and _MAKING.fullmatch(str(name)):
            raise ValueError(f"it calls {name}")


def read(
    path: Path,
    allowed: FrozenSet[str] = ALLOWED,
    sections: Iterable[str] = tuple(SECTIONS),
    mmap: bool = True,
) -> Dict[str, Any]:
    """Read a checkpoint of fairseq-train, reduced to what may be built of it (``reduced``). Tensors stay on
    disk unless ``mmap`` is false, as it must be if they are used after the file has changed."""
    state = reduced(peek(path, mmap), path, allowed, sections, path.name != CONVERTED)
    parameters = {name: value for name, value in state["model"].items() if not FAST_PATH.fullmatch(name)}
    return {**state, "model": parameters}


def load_checkpoint_to_cpu(
    path: Any, arg_overrides: Optional[Dict[str, Any]] = None, load_on_all_ranks: bool = False
) -> Dict[str, Any]:
    """Takes the place of fairseq's function, which changes what the file says before anybody can check it."""
    # No mmap: fairseq copies over checkpoint_last.pt in place, and the optimizer's state may be a map of it.
    modules, check = _restoring.get()
    state = read(Path(path), ALLOWED | _trusted.get() | modules, mmap=False)
    check(state)
    return upgraded(state, Path(path), arg_overrides or {})


def upgraded(state: Dict[str, Any], path: Path, overrides: Dict[str, Any]) -> Dict[str, Any]:
    """Turn a checkpoint that was read into what fairseq loads; ``overrides`` replaces options by name."""
    cfg = _configuration(state["cfg"])
    overwrite_args_by_name(cfg, overrides)
    with naming(path):
        return checkpoint_utils._upgrade_state_dict({**state, "cfg": cfg})


def _configuration(values: Dict[str, Any]) -> Any:
    """Make a configuration in which a Namespace may be, as fairseq does for its version of omegaconf."""
    if "flags" in inspect.signature(OmegaConf.create).parameters:
        return OmegaConf.create(values, flags={"allow_objects": True})
    utils: Any = omegaconf._utils  # before omegaconf 2.1
    primitive = utils.is_primitive_type
    try:
        utils.is_primitive_type = lambda _: True
        return OmegaConf.create(values)
    finally:
        utils.is_primitive_type = primitive


def load_ensemble(
    filenames: List[str],
    arg_overrides: Optional[Dict[str, Any]] = None,
    task: Any = None,
    strict: bool = True,
    suffix: str = "",
    num_shards: int = 1,
    state: Optional[Dict[str, Any]] = None,
) -> Tuple[List[Any], Any, Any]:
    """Takes the place of fairseq's ``load_model_ensemble_and_task``: the one door through which a checkpoint
    becomes a model. What goes wrong is ``BadInput``, before memory is taken for more than the file has.
    """
    if num_shards != 1:
        raise BadInput(f"--checkpoint-shard-count {num_shards}: expected checkpoints of one file each")
    models: List[Any] = []
    cfg = None
    for filename in filenames:
        with naming(filename), _building():
            path = checkpoint_utils.get_maybe_sharded_checkpoint_filename(filename, suffix, 0, 1)
            if state is None:
                state = load_checkpoint_to_cpu(path, arg_overrides)
            cfg = state["cfg"]
            task = task or tasks.setup_task(cfg.task, from_checkpoint=True)
            task.load_state_dict(state.pop("task_state", None) or {})
            build = functools.partial(task.build_model, from_checkpoint=True)
            check_shapes(build, cfg.model, state["model"], strict)
            loaded, cfg, task = _load_ensemble([filename], arg_overrides, task, strict, suffix, 1, state)
        models, state = models + loaded, None
    return models, cfg, task


def trust_checkpoints() -> None:
    """Have fairseq's commands build what runs options as code, too, in this process."""
    _trusted.set(EVALUATING)


@contextlib.contextmanager
def _building() -> Iterator[None]:
    token = _loading.set(True)
    try:
        yield
    finally:
        _loading.reset(token)


def check_architecture(name: str) -> None:
    """Refuse a class that a checkpoint may not name, where fairseq itself has read the checkpoint and asks a
    task of ours to build it; what ``load_ensemble`` builds was checked when it was read."""
    foreign = modules_of(ARCH_MODEL_REGISTRY[name]) - ALLOWED if name in ARCH_MODEL_REGISTRY else ()
    if foreign and not _loading.get():
        raise BadInput(f"--arch {name}: a checkpoint may not name a class of {min(foreign)}")


@contextlib.contextmanager
def restoring(trainer: Any, goes_on: bool = True) -> Iterator[None]:
    """A training takes over a checkpoint, which may name the classes that the command line named, and which
    the plugin's tasks check; or its parameters alone, if it does not go on at its place in the data."""
    parts = (getattr(trainer, name, None) for name in ("task", "_model", "_criterion"))
    modules = modules_of(*(type(part) for part in parts))
    restore, task = trainer.load_checkpoint, getattr(trainer, "task", None)

    def load_checkpoint(path: Any, *args: Any, **kwargs: Any) -> Any:
        def check(state: Dict[str, Any]) -> None:
            if task is not None and hasattr(task, "check_origin"):  # a task of this plugin
                task_state = state.get("task_state") or {}
                task.check_origin(task_state)
                if goes_on:
                    task.check_resumed(task_state)
                task.check_model(mapping(state["cfg"]["model"], "model"), trainer.cfg.model)

        token = _restoring.set((modules, check))
        try:
            with naming(path):
                return restore(path, *args, **kwargs)
        finally:
            _restoring.reset(token)

    with patch.object(trainer, "load_checkpoint", load_checkpoint):
        yield


@contextlib.contextmanager
def naming(*paths: Any) -> Iterator[None]:
    """Turn whatever goes wrong with a checkpoint into a line, ``BadInput``."""
    try:
        yield
    except Exception as error:  # fairseq raises many kinds for parameters or options that do not fit
        names = ", ".join(map(str, paths))
        found = BadInput(f"does not fit: {_reason(error)}", names)
        raise as_bad_input(error) or found from error


def _reason(error: BaseException) -> str:
    """Say what went wrong first, short enough for a line."""
    while error.__context__ is not None:
        error = error.__context__
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) < 300 else f"{text[:300]}..."
