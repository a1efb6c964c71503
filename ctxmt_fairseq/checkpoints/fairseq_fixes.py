"""Mends fairseq itself in small fixes, each with its evidence, where a task of this plugin is at work.

Importing this module has fairseq's commands look whether their command line is about such a task
(``watch_command_lines``), and does no more. ``mend`` applies the fixes, to this process. None changes how a
model computes: they let fairseq's own commands run safely on current torch.
"""

import argparse
import atexit
import contextlib
import functools
import importlib.util
import os
import queue
import re
import sys
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, List, Optional, Set

import torch
from fairseq import checkpoint_utils, options
from fairseq.data import data_utils
from fairseq.data.indexed_dataset import MMapIndexedDataset
from fairseq.data.iterators import BackgroundConsumer
from fairseq.distributed import utils as distributed_utils
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.exit_codes import check_arguments, fairseq_command, hook_command
from ctxmt_fairseq.base.loggers import masks_of_two_types
from ctxmt_fairseq.checkpoints import reading
from ctxmt_fairseq.checkpoints.allowed import check_trainable
from ctxmt_fairseq.checkpoints.resumption import resume_where_it_stopped
from ctxmt_fairseq.checkpoints.yaml_files import Check, check_configurations

# What the tasks check of the options that a command line gave; the parser has the defaults.
CHECKS: List[Check] = []


@functools.cache
def mend() -> None:
    """Apply all fixes to this process; called where one of fairseq's commands works on a task of ours."""
    hook_command()
    atexit.register(stop_background_consumers)
    load_checkpoints_safely()
    hand_checkpoints_on()
    amp_without_cuda()
    masks_of_two_types()
    datasets_that_were_not_read()
    several_validation_sets()
    command = fairseq_command(sys.argv[0]) if sys.argv else None
    if command in ("train", "hydra-train", "hydra_train"):
        gradients_that_are_not_finite()
    if command in ("hydra-train", "hydra_train"):
        check_configurations(CHECKS)
    resume_where_it_stopped()


def mend_command() -> None:
    """``mend`` if the program is one of fairseq's commands; other programs stay as they are."""
    if fairseq_command(sys.argv[0] if sys.argv else "") is not None:
        mend()


def watch_command_lines() -> None:
    """Have fairseq parse command lines that are about a task of ours with the fixes, all others as ever.

    This cannot wait until the task is set up: ``fairseq-generate`` falls back to the task ``translation``,
    which would run a model of windows on single sentences; fairseq prints its help when it reads the names
    of the task and so on, before it adds their options; and it takes ``--bf16`` for a TPU and crashes
    without one.
    """
    parse = options.parse_args_and_arch

    def parse_args_and_arch(
        parser: argparse.ArgumentParser, input_args: Optional[List[str]] = None, *args: Any, **kwargs: Any
    ) -> Any:
        words = sys.argv[1:] if input_args is None else input_args
        evaluates = any(action.dest == "path" for action in parser._actions)
        task = task_of_ours(words, evaluates)
        if task is None:
            try:
                return parse(parser, input_args, *args, **kwargs)
            except KeyError as error:
                if error.args != (None,):
                    raise
                hook_command()  # fairseq-validate has no other task
                raise BadInput("--task: name the task; no checkpoint that could be read says it") from None
        mend()
        check_arguments(words)
        if evaluates:
            with contextlib.suppress(argparse.ArgumentError):  # fairseq-validate parses twice
                parser.add_argument(
                    "--trust-checkpoint", action="store_true", help="build fconv, of an author whom you trust"
                )
        words = [*words, "--task", task]  # again, if it is there
        if {"-h", "--help"} & set(words):
            words = [word for word in words if word not in ("-h", "--help")]
            kwargs["modify_parser"] = _help_the_second_time(kwargs.get("modify_parser"))
        try:
            parsed = parse(parser, words, *args, **kwargs)
        except RuntimeError as error:
            if str(error):
                raise
            raise BadInput("--arch: name an architecture, such as concat_transformer") from None
        named = parsed[0] if isinstance(parsed, tuple) else parsed
        if getattr(named, "trust_checkpoint", False):
            reading.trust_checkpoints()
        if not evaluates:  # fairseq-generate has --arch wav2vec2, which means nothing
            check_trainable(getattr(named, "arch", None) or "")
        for check in CHECKS:
            check(named, parser)
        if getattr(named, "bf16", False) and importlib.util.find_spec("torch_xla") is None:
            named.tpu = False
        return parsed

    options.parse_args_and_arch = parse_args_and_arch


def task_of_ours(words: List[str], evaluates: bool) -> Optional[str]:
    """The task of ours that a command line is about: the one that it names, or that its checkpoint names."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--task")
    if evaluates:
        parser.add_argument("--path")
    try:
        known, _ = parser.parse_known_args(words)
    except argparse.ArgumentError:
        return None  # fairseq's own parser says what is wrong
    path = getattr(known, "path", None)
    paths = [*map(Path, path.split(os.pathsep))] if path else []
    saved = _saved_task(paths[0]) if paths else None
    if not is_ours(saved):
        ours = saved and next(filter(is_ours, map(_saved_task, paths[1:])), None)
        if ours and not is_ours(known.task):  # it would be given no context
            hook_command()
            raise BadInput(f"--path {path}: expected a model of --task {ours} first, found one of {saved}")
        return known.task if is_ours(known.task) else None
    if known.task not in (None, saved):
        hook_command()
        raise BadInput(f"--task {known.task}: expected {saved}, with which {path} was trained")
    return saved


def is_ours(task: Optional[str]) -> bool:
    """Whether a task is this plugin's, or derives from one."""
    kinds = getattr(TASK_REGISTRY.get(task), "__mro__", ())
    return any(kind.__module__.startswith("ctxmt_fairseq.") for kind in kinds)


def _saved_task(path: Path) -> Optional[str]:
    """The name of the task in a checkpoint's configuration, if there is one and the file is not damaged."""
    with contextlib.suppress(BadInput, AttributeError, TypeError, KeyError):
        task = reading.peek(path)["cfg"]["task"]
        values = vars(task) if isinstance(task, argparse.Namespace) else task
        name = values.get("_name") or values.get("task")
        return name if isinstance(name, str) else None
    return None


def _help_the_second_time(modify: Optional[Callable[[Any], None]]) -> Callable[[Any], None]:
    """fairseq calls this before and after it adds options."""
    times = 0

    def modify_parser(parser: argparse.ArgumentParser) -> None:
        nonlocal times
        times += 1
        if modify is not None:
            modify(parser)
        for action in parser._actions:
            action.required = False
        if times == 2:
            parser.print_help()
            parser.exit()

    return modify_parser


def amp_without_cuda() -> None:
    """Let ``--amp`` work on CPUs (tasks/cpu_autocast.py), where the loss is not scaled.

    If a gradient is not finite, fairseq asks CUDA's scaler for its next scale; without CUDA the scaler is off
    and the run ends in an AttributeError. With this fix, fairseq reports where the first such number arose,
    as it does without ``--amp``.
    """
    warnings.filterwarnings(
        "ignore", re.escape("torch.cuda.amp.GradScaler is enabled, but CUDA is not available")
    )
    scaled = AMPOptimizer.next_loss_scale.fget

    def next_loss_scale(optimizer: AMPOptimizer) -> float:
        if not optimizer.scaler.is_enabled():
            raise FloatingPointError("gradients are Nan/Inf")
        return scaled(optimizer)

    AMPOptimizer.next_loss_scale = property(next_loss_scale)


def load_checkpoints_safely() -> None:
    """Let fairseq's commands, too, build only what ``checkpoints.allowed`` allows a checkpoint to name.

    fairseq's fully convolutional models, among others, pass strings from the checkpoint to ``eval``.
    """
    checkpoint_utils.load_checkpoint_to_cpu = reading.load_checkpoint_to_cpu
    checkpoint_utils.load_model_ensemble_and_task = reading.load_ensemble


def hand_checkpoints_on() -> None:
    """Let several processes go on from a checkpoint, which the first one reads and hands on to the others.

    fairseq sends it with ``torch.save`` and ``torch.load``, whose safe loading (the default since torch 2.6)
    refuses fairseq's own classes: every process but the first ended, without a word.
    """

    def broadcast_object(value: Any, src_rank: int, group: Any, dist_device: Any = None) -> Any:
        held = [value]
        torch.distributed.broadcast_object_list(held, src_rank, group, dist_device)
        return held[0]

    distributed_utils.broadcast_object = broadcast_object


def several_validation_sets() -> None:
    """Know the validation sets that a data folder has by their names, as ``--valid-subset`` has them.

    fairseq takes the languages for a part of the name, and says that a set is ignored that is not. What is
    ignored is said in one line.
    """
    find = data_utils._find_extra_valid_paths
    check = data_utils.raise_if_valid_subsets_unintentionally_ignored

    def names(path: str) -> Set[str]:
        return {name.partition(".")[0] for name in find(path)}

    def refuse(cfg: Any) -> None:
        try:
            check(cfg)
        except ValueError:
            chosen = cfg.dataset.valid_subset.split(",")
            every = [*chosen, *sorted(names(cfg.task.data) - {*chosen})]
            raise BadInput(
                f"--valid-subset: the data folder's sets are {','.join(every)}; name those to "
                "validate on, and give --ignore-unused-valid-subsets if there are others"
            ) from None

    data_utils._find_extra_valid_paths = names
    data_utils.raise_if_valid_subsets_unintentionally_ignored = refuse


def gradients_that_are_not_finite() -> None:
    """End a training whose gradients are not finite with one line, which says where they came up.

    fairseq computes the update again to find the place. Its hooks for the backward pass end in a
    StopIteration, because torch does not find a tensor in an encoder's output, a dictionary of lists.
    """
    from fairseq import trainer
    from fairseq.nan_detector import NanDetector

    class Place(NanDetector):
        def __init__(self, model: Any):
            super().__init__(model, backward=False)

        def __exit__(self, *error: Any) -> None:
            self.close()  # and do not print all gradients

    step = trainer.Trainer.train_step

    @functools.wraps(step)
    def train_step(training: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return step(training, *args, **kwargs)
        except FloatingPointError as error:
            folder = training.cfg.checkpoint.save_dir
            raise BadInput(
                f"update {training.get_num_updates() + 1}: {error}: try a smaller --lr, a longer warm-up or "
                f"--clip-norm; the model before this update is in {os.path.join(folder, 'crash.pt')}"
            ) from error

    trainer.NanDetector, trainer.Trainer.train_step = Place, train_step


def datasets_that_were_not_read() -> None:
    """Let memory-mapped datasets that could not be read end silently: fairseq's ``__del__`` closes what a
    damaged file never let it open, which prints two tracebacks beside our one line."""
    for kind in (MMapIndexedDataset, MMapIndexedDataset.Index):

        def close_what_is_open(dataset: Any, close: Any = kind.__del__) -> None:
            if hasattr(dataset, "_bin_buffer_mmap"):
                close(dataset)

        kind.__del__ = close_what_is_open


def stop_background_consumers() -> None:
    """End the threads in which fairseq reads batches ahead.

    A run that stops within an epoch leaves one running. If the interpreter ends while that thread is inside
    torch, the process aborts ("terminate called without an active exception") after everything is done.
    """
    for thread in threading.enumerate():
        if isinstance(thread, BackgroundConsumer):
            thread._max_len = 0  # the item at hand is the last
            while thread.is_alive():
                with contextlib.suppress(queue.Empty):
                    thread._queue.get_nowait()
                thread.join(0.01)


watch_command_lines()
