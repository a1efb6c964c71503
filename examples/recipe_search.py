"""The best learning rate of a row, as focused concatenation searches it (appendix A)."""

import os
import sys
from pathlib import Path
from typing import Any, Sequence

from recipe_running import BadRecipe
from recipe_steps import train

METRIC = "--best-checkpoint-metric"
RATES = "7e-4 9e-4 1e-3 3e-3"
USAGE = """usage: search_lr.sh ROW DATA OUT [OPTIONS OF train.sh]

Trains OUT/lr-X for every learning rate X of LRS (from the environment, default: {rates}), one
after the other, and makes OUT/best a link to the one with the best validation loss. Trainings that
have the file OUT/lr-X/finished are not repeated: to train side by side, run train.sh with --lr on each
machine first."""


def search_lr(recipe: Any, arguments: Sequence[str]) -> None:
    """Train a row once per learning rate, and name the best by what chooses its checkpoints: the loss on the
    validation set, or another --best-checkpoint-metric."""
    rates = (os.environ.get("LRS") or RATES).split()
    if len(arguments) < 3 or arguments[0] in ("-h", "--help"):
        print(USAGE.format(rates=" ".join(rates)))
        sys.exit(0 if arguments else 2)
    row, data, out, *options = arguments
    if any(word.partition("=")[0] == "--lr" for word in options):
        raise BadRecipe("--lr: expected the learning rates in LRS")
    for rate in rates:
        done = Path(out, f"lr-{rate}", "finished")
        if not done.exists() and train(recipe, [row, data, str(done.parent), "--lr", rate, *options]):
            done.touch()
    if not all(Path(out, f"lr-{rate}", "finished").exists() for rate in rates):  # a dry run
        return

    from ctxmt_fairseq import register
    from ctxmt_fairseq.checkpoints.averaging import Checkpoint

    register()
    best = [Path(out, f"lr-{rate}", "checkpoints", "checkpoint_best.pt") for rate in rates]
    scores = {rate: Checkpoint.read(path).score for rate, path in zip(rates, best, strict=True)}
    metric = options[options.index(METRIC) + 1] if METRIC in options else "loss"
    for rate, score in scores.items():
        print(f"{rate:>6}  validation {metric} {score:.4f}")
    chosen = max if "--maximize-best-checkpoint-metric" in options else min
    rate = chosen(scores, key=lambda rate: scores[rate] or 0)
    link = Path(out, "best")
    link.unlink(missing_ok=True)
    link.symlink_to(f"lr-{rate}")
    print(f"best: {link} -> lr-{rate}")
