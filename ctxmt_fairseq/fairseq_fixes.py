"""What the plugin mends in fairseq itself when it is imported: each fix small, with its evidence.

Nothing here changes how a model computes; it is what lets fairseq's own commands run safely on current torch.
"""

import argparse
import atexit
import contextlib
import copy
import importlib.util
import logging
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, List, Optional

import numpy as np
import torch
from fairseq import checkpoint_utils, options
from fairseq.data.iterators import BackgroundConsumer

from ctxmt_fairseq.edge import fairseq_command
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)

_EVALUATION_COMMANDS = ("generate", "interactive", "validate")


def allow_checkpoint_globals() -> None:
    """Let torch's safe loading accept what fairseq puts into checkpoints, and nothing else.

    fairseq calls ``torch.load`` without ``weights_only``; torch 2.6 made safe loading the default and refuses
    ``argparse.Namespace``, and the NumPy scalars that BLEU validation leaves in the metrics.
    """
    functions = {"_reconstruct": np.empty(0).__reduce__()[0], "scalar": np.float64(0).__reduce__()[0]}
    names: List[Any] = [argparse.Namespace, np.ndarray, np.dtype]
    names += [getattr(np.dtypes, name) for name in dir(np.dtypes) if name.endswith("DType")]
    for module in (
        "numpy.core.multiarray",
        "numpy._core.multiarray",
    ):  # NumPy 1 and NumPy 2 write these names
        names += [(function, f"{module}.{name}") for name, function in functions.items()]
    torch.serialization.add_safe_globals(names)


def bf16_without_tpu() -> None:
    """Make ``--bf16`` mean bfloat16 on any device: fairseq takes it to mean a TPU and dies without one."""
    parse = options.parse_args_and_arch

    def parse_args_and_arch(*args: Any, **kwargs: Any) -> Any:
        result = parse(*args, **kwargs)
        parsed = result[0] if isinstance(result, tuple) else result
        if getattr(parsed, "bf16", False) and importlib.util.find_spec("torch_xla") is None:
            parsed.tpu = False
        return result

    options.parse_args_and_arch = parse_args_and_arch


def resume_from_newest_loadable() -> None:
    """Resume from the newest checkpoint that loads.

    fairseq copies ``checkpoint_last.pt`` non-atomically: a run killed meanwhile leaves a truncated file, and
    every restart crashes on it.
    """
    load = checkpoint_utils.load_checkpoint

    def load_checkpoint(cfg: Any, trainer: Any, **kwargs: Any) -> Any:
        if cfg.restore_file == "checkpoint_last.pt" and not trainer.checkpoint_suffix:
            newest = newest_loadable(Path(cfg.save_dir))
            if newest is not None and newest.name != cfg.restore_file:
                logger.warning("resuming from %s, the newest checkpoint that loads", newest)
                cfg = copy.deepcopy(cfg)
                cfg.restore_file, cfg.finetune_from_model = str(newest), None
        return load(cfg, trainer, **kwargs)

    checkpoint_utils.load_checkpoint = load_checkpoint


def newest_loadable(folder: Path) -> Optional[Path]:
    """The most recently written checkpoint that loads and holds an optimizer state, or None."""
    paths = sorted(folder.glob("checkpoint*.pt"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in paths:
        try:
            if peek(path).get("last_optimizer_state") is not None:
                return path
            logger.warning("%s holds no optimizer state; training cannot resume from it", path)
        except BadInput as error:
            logger.warning("%s", error)
    return None


def peek(path: Path) -> Any:
    """A checkpoint's contents with the tensors left on disk.

    Raises:
        BadInput: the file is missing, truncated, or holds more than a checkpoint may.
    """
    if not path.is_file():
        raise BadInput("no such checkpoint", path)
    try:
        return torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        raise BadInput(f"expected a checkpoint: {str(error).splitlines()[0]}", path) from None


def task_from_checkpoint(argv: List[str]) -> None:
    """Add the checkpoint's ``--task`` to a generation or validation command that names none.

    ``fairseq-generate`` falls back to the task ``translation``, which would run a model of windows on single
    sentences without a word. The plugin is imported before the command line is parsed, so ``argv`` can still
    be completed.

    Raises:
        BadInput: the named task is not the checkpoint's.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--path")
    parser.add_argument("--task")
    known, _ = parser.parse_known_args(argv[1:])
    if not known.path or fairseq_command(argv[0]) not in _EVALUATION_COMMANDS:
        return
    saved = peek(Path(known.path.split(os.pathsep)[0]))
    task = _saved_task(saved)
    if task is None or not str(task).startswith(("document_window", "multi_source", "metadata_context")):
        return
    if known.task is None:
        argv += ["--task", task]
    elif known.task != task:
        raise BadInput(f"--task {known.task}: expected {task}, with which {known.path} was trained")


def _saved_task(state: Any) -> Optional[str]:
    """The name of the task in a checkpoint's configuration."""
    task = (state.get("cfg") or {}).get("task") or {}
    values = vars(task) if isinstance(task, argparse.Namespace) else task
    return values.get("_name") or values.get("task")


def stop_background_consumers() -> None:
    """End the threads in which fairseq reads batches ahead.

    A run that stops within an epoch leaves one at work; when the interpreter's end cuts it off inside torch,
    the process aborts ("terminate called without an active exception") after everything is done.
    """
    for thread in threading.enumerate():
        if isinstance(thread, BackgroundConsumer):
            thread._max_len = 0  # the item at hand is the last
            while thread.is_alive():
                with contextlib.suppress(queue.Empty):
                    thread._queue.get_nowait()
                thread.join(0.01)


def apply() -> None:
    """Apply every fix once, when the plugin is imported."""
    atexit.register(stop_background_consumers)
    allow_checkpoint_globals()
    bf16_without_tpu()
    resume_from_newest_loadable()
    task_from_checkpoint(sys.argv)
