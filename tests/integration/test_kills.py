"""Killed at random points, again and again, and started anew, a command ends as it does uninterrupted.

``CTXMT_KILLS=12 python -m pytest -m slow tests/integration/test_kills.py`` kills each of the four 12 times.
test_embed.py kills ``ctxmt embed``.
"""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
import torch

import ctxmt_fairseq.checkpoints.reading  # noqa: F401  (what checkpoints name may be loaded)
from tests.helpers import forked
from tests.integration.commands import ENVIRONMENT, TASK, TINY, TRAINING, command

KILLS = int(os.environ.get("CTXMT_KILLS", 2))
SEARCH = ("--cpu", "--beam", 2, "--max-len-b", 20)
LANGUAGES = ("--source-lang", "en", "--target-lang", "fr")


def works(corpus, data, checkpoint):
    """Command lines that write into the folder they are run in."""
    test, demo = corpus / "test2", corpus / "demo"
    return {
        "translate": (
            *("ctxmt", "translate", checkpoint, test.with_suffix(".en"), *SEARCH, "--documents-at-once", 1),
            *("--docids", test.with_suffix(".docids"), "--output", "out"),
        ),
        "preprocess": (
            *("ctxmt", "preprocess", *LANGUAGES, "--train", demo / "train", "--valid", demo / "valid"),
            *("--vocab-size", 300, "--workers", 2, "--out", "out", "--overwrite"),
        ),
        "train": (
            *("fairseq-train", data, *TASK, *TINY, *TRAINING, "--arch", "concat_transformer"),
            *("--patience", 2),
            *("--source-context", 1, "--lr", 0.03, "--train-subset", "valid", "--valid-subset", "test2"),
            *("--ignore-unused-valid-subsets", "--max-tokens", 600, "--max-epoch", 12, "--save-dir", "out"),
            *("--save-interval-updates", 3),
        ),
        "evaluate": (
            *("ctxmt", "evaluate", checkpoint, test, demo / "contrastive/pronoun-distance-1", *SEARCH),
            *("--contexts", "trained", "random", "absent", "--out", "out"),
        ),
    }


def left(folder):
    """file -> bytes; of checkpoints the parameters, and what the training goes on with."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix == ".pt":
            state = torch.load(path, weights_only=True)
            chosen = {key: state["extra_state"].get(key) for key in ("best", "val_loss", "train_iterator")}
            parameters = {name: value.numpy().tobytes() for name, value in state["model"].items()}
            found[path.name] = (chosen, state["optimizer_history"][-1]["num_updates"], parameters)
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("work", ["translate", "preprocess", "train", "evaluate"])
def test_killed_at_random_points_it_ends_as_uninterrupted(work, corpus, data, s2to2, tmp_path):
    arguments = command(*works(corpus, data, s2to2 / "checkpoint_last.pt")[work])

    def start(name, until=None):
        (tmp_path / name).mkdir(exist_ok=True)
        return forked.run(arguments, tmp_path / name, None, ENVIRONMENT, until=until)

    started = time.monotonic()
    done = start("whole")
    assert done.returncode == 0, done.stderr
    seconds, expected = time.monotonic() - started, left(tmp_path / "whole")
    kills, rng = 0, random.Random(work)
    while kills < KILLS:
        shutil.rmtree(tmp_path / "killed", ignore_errors=True)
        for _ in range(rng.choice([1, 2, 3])):
            done = start("killed", until=rng.uniform(0, seconds))
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
            kills += done.returncode != 0
        done = start("killed")
        assert done.returncode == 0, done.stderr
        assert left(tmp_path / "killed") == expected
