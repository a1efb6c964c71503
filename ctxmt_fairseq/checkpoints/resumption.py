"""How a training goes on: from which checkpoint, and with fairseq's count of ``--patience``."""

import contextlib
import copy
import logging
import math
import numbers
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

from fairseq import checkpoint_utils
from fairseq.data.iterators import GroupedIterator
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import writing
from ctxmt_fairseq.checkpoints.averaging import checkpoints_in
from ctxmt_fairseq.checkpoints.reading import peek, restoring

logger = logging.getLogger(__name__)
LAST = "checkpoint_last.pt"


def resume_where_it_stopped() -> None:
    """Have fairseq-train go on as if it had not been interrupted.

    fairseq copies ``checkpoint_last.pt`` non-atomically: a run killed meanwhile leaves a truncated file, and
    every restart crashes on it. It forgets the count of ``--patience``, and trains on where it had stopped;
    and that of ``--lr-scheduler reduce_lr_on_plateau``, with the validation before the checkpoint.
    """
    load = checkpoint_utils.load_checkpoint

    def load_checkpoint(cfg: Any, trainer: Any, **kwargs: Any) -> Any:
        found, last = None, Path(cfg.save_dir, LAST)
        named = Path(last if cfg.restore_file == LAST else cfg.restore_file)
        if named.resolve() != last.resolve():
            peek(named)  # fairseq trains from scratch if it is not there
            if last.exists():
                logger.warning(
                    "the training begins with --restore-file %s again, and writes over %s; "
                    "--finetune-from-model begins with a file once, and then goes on", cfg.restore_file, last
                )  # fmt: skip
        elif cfg.restore_file == LAST and not trainer.checkpoint_suffix:
            found = latest_loadable(Path(cfg.save_dir))
            if found is None and last.exists() and not cfg.reset_optimizer:
                peek(last)
                raise BadInput(
                    "holds no optimizer state (--no-save-optimizer-state) for a training to go on with; "
                    "--reset-optimizer begins its warm-up and its count of updates anew", last
                )  # fmt: skip
        goes_on = not cfg.reset_dataloader and (found is not None or cfg.finetune_from_model is None)
        if found is not None and found.name != LAST:
            logger.warning("resuming from %s, because %s does not load or is not there", found, LAST)
            cfg = copy.deepcopy(cfg)
            cfg.restore_file, cfg.finetune_from_model = str(found), None
        with restoring(trainer, goes_on), _said_in_a_line(cfg):
            extra_state, epochs = load(cfg, trainer, **kwargs)
        saved = extra_state if goes_on and not (cfg.reset_optimizer or cfg.reset_meters) else None
        _keep_patience(cfg.patience, trainer, saved or {})
        if saved and not cfg.reset_lr_scheduler:
            _go_on_to_plateau(trainer, saved)
        return extra_state, epochs

    checkpoint_utils.load_checkpoint = load_checkpoint
    _another_update_freq()


def _another_update_freq() -> None:
    """Let a training go on within an epoch with another ``--update-freq``.

    fairseq rounds up how many groups of batches the epoch has had, and how many it has: none was left for the
    last batches, so the epoch was trained again, or the training ended in an UnboundLocalError.
    """
    begin = GroupedIterator.__init__

    def __init__(groups: Any, iterable: Any, chunk_size: int, skip_remainder_batch: bool = False) -> None:
        begin(groups, iterable, chunk_size, skip_remainder_batch)
        if not skip_remainder_batch:
            groups.n = groups.total - math.ceil((len(iterable) - getattr(iterable, "n", 0)) / chunk_size)

    GroupedIterator.__init__ = __init__


@contextlib.contextmanager
def _said_in_a_line(cfg: Any) -> Iterator[None]:
    """Say in a line what fairseq says in a traceback: there is no such place in the epoch any more, or no
    such model to start from."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        text = str(error)
        if "dataloader mismatch" in text:
            text = (
                f"the training in {cfg.save_dir} stopped in an epoch of more batches than it has now: go on "
                "with the data folder, --max-tokens and number of processes that it had, or count epochs "
                "anew by --reset-dataloader"
            )
        elif not text.startswith("--finetune-from-model"):
            raise
        raise BadInput(text) from error


def latest_loadable(folder: Path) -> Optional[Path]:
    """The checkpoint that a training goes on from: the last one, or else, of those that fairseq names, the
    one with most updates that loads and holds an optimizer state; None: there is none.

    Files' times say nothing: they change when a folder is copied.
    """
    latest, most = None, -1
    for path in sorted(checkpoints_in(folder), key=lambda path: (path.name != LAST, path.name)):
        try:
            state = peek(path)
            if state.get("last_optimizer_state") is None:
                logger.warning("%s holds no optimizer state; training cannot resume from it", path)
                continue
            if path.name == LAST:
                return path
            updates = state["optimizer_history"][-1]["num_updates"]
            if updates > most:
                latest, most = path, updates
        except BadInput as error:
            logger.warning("%s", error)
        except (AttributeError, LookupError, TypeError):
            logger.warning("%s: expected a checkpoint of fairseq-train", path)
    return latest


def _keep_patience(patience: int, trainer: Any, saved: Dict[str, Any]) -> None:
    """Save fairseq's count for ``--patience`` with every checkpoint; take over the saved one, and end a
    training that it, or ``--max-update``, had ended. A best value of another metric or set is forgotten."""
    count, save = _patience_count(), trainer.save_checkpoint
    if count is None:
        return
    chosen_by = _chosen_by(trainer.cfg)
    if saved.get("chosen_by", chosen_by) != chosen_by:
        logger.warning(
            "checkpoint_best.pt and --patience go by %s now, and went by %s so far, whose best value is "
            "forgotten", chosen_by, saved["chosen_by"]
        )  # fmt: skip
        saved = {}
        vars(checkpoint_utils.save_checkpoint).pop("best", None)
    if saved.get("patience_best") is not None:
        count.best, count.num_runs = saved["patience_best"], saved.get("patience_runs", 0)
    updates = trainer.cfg.optimization.max_update or math.inf
    if 0 < patience <= getattr(count, "num_runs", 0) or trainer.get_num_updates() >= updates:
        logger.info("the training had ended, at --patience or --max-update")
        trainer.cfg.optimization.max_epoch = -1  # fairseq-train looks at it next

    def save_checkpoint(filename: str, extra_state: Dict[str, Any]) -> Any:
        best, runs = getattr(count, "best", None), getattr(count, "num_runs", 0)
        best = None if best is None else float(best)
        with writing(filename):
            bad = getattr(_plateau(trainer), "num_bad_epochs", 0)
            kept = {"patience_best": best, "patience_runs": runs, "chosen_by": chosen_by, "bad_epochs": bad}
            return save(filename, {**extra_state, **kept})

    trainer.save_checkpoint = save_checkpoint


def _plateau(trainer: Any) -> Optional[ReduceLROnPlateau]:
    """torch's scheduler, if the training has it."""
    scheduler = getattr(getattr(trainer, "lr_scheduler", None), "lr_scheduler", None)
    return scheduler if isinstance(scheduler, ReduceLROnPlateau) else None


def _go_on_to_plateau(trainer: Any, saved: Dict[str, Any]) -> None:
    """Restore the count of epochs without a better validation, and count the one at whose end the checkpoint
    was saved: fairseq tells the scheduler of it afterwards."""
    plateau, place = _plateau(trainer), saved["train_iterator"]
    if plateau is not None and saved.get("chosen_by") == _chosen_by(trainer.cfg):
        plateau.num_bad_epochs = saved.get("bad_epochs", 0)
        if place["iterations_in_epoch"] == 0:
            loss = saved.get("val_loss")  # whatever a file says
            trainer.lr_step(place["epoch"] - 1, loss if isinstance(loss, numbers.Real) else None)


def _chosen_by(cfg: Any) -> str:
    """What makes a checkpoint the best: a metric, in which direction, of which validation set."""
    best = "highest" if cfg.checkpoint.maximize_best_checkpoint_metric else "lowest"
    return f"the {best} {cfg.checkpoint.best_checkpoint_metric} of {cfg.dataset.valid_subset.split(',')[0]}"


def _patience_count() -> Optional[Any]:
    """fairseq-train's function that counts, in attributes of its own; None in another program."""
    programs = (sys.modules.get(name) for name in ("__main__", "fairseq_cli.train"))
    return next(filter(None, (getattr(each, "should_stop_early", None) for each in programs)), None)
