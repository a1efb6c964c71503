"""Mends fairseq itself in small fixes, each with its evidence. Importing this module applies all of them.

None changes how a model computes: they let fairseq's own commands run safely on current torch.
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

from fairseq import checkpoint_utils, options
from fairseq.data import data_utils
from fairseq.data.indexed_dataset import MMapIndexedDataset
from fairseq.data.iterators import BackgroundConsumer
from fairseq.optim.amp_optimizer import AMPOptimizer

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.exit_codes import fairseq_command
from ctxmt_fairseq.checkpoints import reading as safe_checkpoints
from ctxmt_fairseq.checkpoints.reading import peek
from ctxmt_fairseq.checkpoints.resumption import resume_where_it_stopped

_EVALUATION_COMMANDS = ("generate", "interactive", "validate")


def bf16_without_tpu() -> None:
    """Make ``--bf16`` mean bfloat16 on any device: fairseq takes it for a TPU and crashes without one."""
    parse = options.parse_args_and_arch

    def parse_args_and_arch(*args: Any, **kwargs: Any) -> Any:
        result = parse(*args, **kwargs)
        parsed = result[0] if isinstance(result, tuple) else result
        if getattr(parsed, "bf16", False) and importlib.util.find_spec("torch_xla") is None:
            parsed.tpu = False
        return result

    options.parse_args_and_arch = parse_args_and_arch


def help_with_all_options() -> None:
    """Let ``--help`` show the options of the task, architecture and so on that the command names.

    fairseq prints its help when it reads these names, before it adds their options, and stops where it needs
    a name that is not there.
    """
    parse = options.parse_args_and_arch

    def parse_args_and_arch(
        parser: argparse.ArgumentParser,
        input_args: Optional[List[str]] = None,
        *args: Any,
        modify_parser: Optional[Callable[[argparse.ArgumentParser], None]] = None,
        **kwargs: Any,
    ) -> Any:
        words = sys.argv[1:] if input_args is None else input_args
        rest = [word for word in words if word not in ("-h", "--help")]
        if len(rest) == len(words):
            return parse(parser, input_args, *args, modify_parser=modify_parser, **kwargs)
        times = 0

        def show_the_second_time(parser: argparse.ArgumentParser) -> None:
            """fairseq calls this before and after it adds options; print the help the second time."""
            nonlocal times
            times += 1
            if modify_parser is not None:
                modify_parser(parser)
            for action in parser._actions:
                action.required = False
            if times == 2:
                parser.print_help()
                parser.exit()

        try:
            return parse(parser, rest, *args, modify_parser=show_the_second_time, **kwargs)
        except RuntimeError:  # fairseq-train without --arch has no options of an architecture
            parser.print_help()
            parser.exit()

    options.parse_args_and_arch = parse_args_and_arch


def masks_of_two_types() -> None:
    """Silence torch's warning that fairseq passes a boolean padding mask with a float causal mask."""
    warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask")


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
    """Let fairseq's commands, too, build only what ``checkpoint_rules`` allows a checkpoint to name.

    fairseq's fully convolutional models, among others, pass strings from the checkpoint to ``eval``.
    """
    checkpoint_utils.load_checkpoint_to_cpu = safe_checkpoints.load_checkpoint_to_cpu
    checkpoint_utils.load_model_ensemble_and_task = safe_checkpoints.load_ensemble


def task_from_checkpoint(argv: List[str]) -> None:
    """Add the checkpoint's ``--task`` to a generation or validation command that names none.

    ``fairseq-generate`` falls back to the task ``translation``, which would silently run a model of windows
    on single sentences. The plugin is imported before the command line is parsed, so ``argv`` can still be
    extended.

    Raises:
        BadInput: the named task is not the checkpoint's, or one of the two options has no value.
    """
    if not argv or fairseq_command(argv[0]) not in _EVALUATION_COMMANDS:
        return
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--path")
    parser.add_argument("--task")
    try:
        known, _ = parser.parse_known_args(argv[1:])
    except argparse.ArgumentError as error:
        raise BadInput(str(error)) from None
    if not known.path:
        return
    saved = peek(Path(known.path.split(os.pathsep)[0]))
    task = _saved_task(saved)
    if not isinstance(task, str) or not task.startswith(
        ("document_window", "multi_source", "metadata_context")
    ):
        return
    if known.task is None:
        argv += ["--task", task]
    elif known.task != task:
        raise BadInput(f"--task {known.task}: expected {task}, with which {known.path} was trained")


def _saved_task(state: Any) -> Optional[str]:
    """The name of the task in a checkpoint's configuration; None if there is none, or it is damaged."""
    with contextlib.suppress(AttributeError, TypeError, KeyError):
        task = state["cfg"]["task"]
        values = vars(task) if isinstance(task, argparse.Namespace) else task
        return values.get("_name") or values.get("task")
    return None


def several_validation_sets() -> None:
    """Know the validation sets that a data folder has by their names, as ``--valid-subset`` has them.

    fairseq takes the languages for a part of the name, and says that a set is ignored that is not. What is
    ignored is said in one line.
    """
    find, check = (
        data_utils._find_extra_valid_paths,
        data_utils.raise_if_valid_subsets_unintentionally_ignored,
    )

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


def gradients_that_are_not_finite(argv: List[str]) -> None:
    """End a training whose gradients are not finite with one line, which says where they came up.

    fairseq computes the update again to find the place. Its hooks for the backward pass end in a
    StopIteration, because torch does not find a tensor in an encoder's output, a dictionary of lists.
    """
    if not argv or fairseq_command(argv[0]) != "train":
        return
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
    """Let memory-mapped datasets that could not be read end silently.

    fairseq's ``__del__`` closes what a damaged file never let it open, which prints two tracebacks beside our
    one line.
    """
    for kind in (MMapIndexedDataset, MMapIndexedDataset.Index):
        kind.__del__ = _after_opening(kind.__del__)


def _after_opening(close: Callable[[Any], None]) -> Callable[[Any], None]:
    def close_what_is_open(dataset: Any) -> None:
        if hasattr(dataset, "_bin_buffer_mmap"):
            close(dataset)

    return close_what_is_open


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


atexit.register(stop_background_consumers)
load_checkpoints_safely()
bf16_without_tpu()
help_with_all_options()
amp_without_cuda()
masks_of_two_types()
datasets_that_were_not_read()
several_validation_sets()
gradients_that_are_not_finite(sys.argv)
resume_where_it_stopped()
task_from_checkpoint(sys.argv)
