"""How a training goes on: from which checkpoint, and with fairseq's count of ``--patience``."""

import contextlib
import copy
import logging
import math
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

from fairseq import checkpoint_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import writing
from ctxmt_fairseq.checkpoints.averaging import checkpoints_in
from ctxmt_fairseq.checkpoints.reading import peek, restoring

logger = logging.getLogger(__name__)
LAST = "checkpoint_last.pt"


def resume_where_it_stopped() -> None:
    """Have fairseq-train go on as if it had not been interrupted.

    fairseq copies ``checkpoint_last.pt`` non-atomically: a run killed meanwhile leaves a truncated file, and
    every restart crashes on it. It forgets the count of ``--patience``, and trains on where it had stopped.
    """
    load = checkpoint_utils.load_checkpoint

    def load_checkpoint(cfg: Any, trainer: Any, **kwargs: Any) -> Any:
        found = None
        if cfg.restore_file == LAST and not trainer.checkpoint_suffix:
            found = latest_loadable(Path(cfg.save_dir))
        goes_on = not cfg.reset_dataloader and (found is not None or cfg.finetune_from_model is None)
        if found is not None and found.name != LAST:
            logger.warning("resuming from %s, because %s does not load or is not there", found, LAST)
            cfg = copy.deepcopy(cfg)
            cfg.restore_file, cfg.finetune_from_model = str(found), None
        with restoring(trainer, goes_on), _said_in_a_line(cfg):
            extra_state, epochs = load(cfg, trainer, **kwargs)
        saved = extra_state if goes_on and not (cfg.reset_optimizer or cfg.reset_meters) else None
        _keep_patience(cfg.patience, trainer, saved or {})
        return extra_state, epochs

    checkpoint_utils.load_checkpoint = load_checkpoint


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
    training that it, or ``--max-update``, had ended."""
    count, save = _patience_count(), trainer.save_checkpoint
    if count is None:
        return
    if saved.get("patience_best") is not None:
        count.best, count.num_runs = saved["patience_best"], saved["patience_runs"]
    updates = trainer.cfg.optimization.max_update or math.inf
    if 0 < patience <= getattr(count, "num_runs", 0) or trainer.get_num_updates() >= updates:
        logger.info("the training had ended, at --patience or --max-update")
        trainer.cfg.optimization.max_epoch = -1  # fairseq-train looks at it next

    def save_checkpoint(filename: str, extra_state: Dict[str, Any]) -> Any:
        best, runs = getattr(count, "best", None), getattr(count, "num_runs", 0)
        best = None if best is None else float(best)
        with writing(filename):
            return save(filename, {**extra_state, "patience_best": best, "patience_runs": runs})

    trainer.save_checkpoint = save_checkpoint


def _patience_count() -> Optional[Any]:
    """fairseq-train's function that counts, in attributes of its own; None in another program."""
    programs = (sys.modules.get(name) for name in ("__main__", "fairseq_cli.train"))
    return next(filter(None, (getattr(each, "should_stop_early", None) for each in programs)), None)
