"""The trainings of examples/evidence: what they begin with, what they go on from, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.evidence_runs import EXAMPLES


@pytest.fixture
def commands(evidence, place, monkeypatch):
    """The flags of every fairseq-train, which only leaves the checkpoints of ``sentence.1``."""
    done = []

    def train(flags, log):
        done.append(flags)
        for name in ("checkpoint_last.pt", "checkpoint_1_250.pt", "checkpoint_best.pt"):
            path = evidence.training.checkpoint(place, "sentence", 1).with_name(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    monkeypatch.setattr(evidence.commands, "train", train)
    return done


def test_a_run_keeps_the_precision_that_it_began_with(evidence, place, monkeypatch):
    """Its checkpoint fits no other, wherever it goes on."""
    for fast, row in ((True, "caching"), (False, "gated")):
        for now in (fast, not fast):
            monkeypatch.setattr(evidence.training, "has_fast_products", lambda now=now: now)
            assert ("--amp" in evidence.training.flags(place, row, 1)) == fast
            place.run(row, 1).mkdir(parents=True, exist_ok=True)
            evidence.training.begin(place, row, 1)
    monkeypatch.setattr(evidence.training, "has_fast_products", lambda: True)
    for row in ("sentence", "float32-control"):
        assert "--amp" not in evidence.training.flags(place, row, 1)


def test_a_run_has_the_precision_of_its_control(evidence, place, monkeypatch):
    monkeypatch.setattr(evidence.training, "has_fast_products", lambda: True)
    control = place.result("control", 1)
    control.parent.mkdir(parents=True, exist_ok=True)
    for given, expected in (([], False), (["--amp"], True)):
        control.write_text(json.dumps({"train": given}))
        for row in ("gated", "fr-help-control", "fr-help-s2to2"):
            assert ("--amp" in evidence.training.flags(place, row, 2)) == expected
    place.result("fr-help-control", 1).write_text(json.dumps({"train": []}))
    assert "--amp" not in evidence.training.flags(place, "fr-help-s2to2", 1)
    monkeypatch.setattr(evidence.training, "has_fast_products", lambda: False)
    assert "--amp" not in evidence.training.flags(place, "gated", 2)


def test_a_finished_training_is_not_repeated(evidence, place, commands):
    run = evidence.evaluation.Trained(place, "sentence", 1)
    run.folder.mkdir(parents=True)
    run.translation.touch()  # of an earlier training
    for _ in range(2):
        evidence.training.train(place, "sentence", 1)
    assert len(commands) == 1 and not run.translation.exists()
    assert list(run.model.parent.iterdir()) == [run.model]


def test_a_training_whose_checkpoint_is_gone_is_made_anew(evidence, place, commands):
    evidence.training.train(place, "sentence", 1)
    run = evidence.evaluation.Trained(place, "sentence", 1)
    assert evidence.training.trained(place, "sentence", 1)
    run.model.unlink()
    assert not evidence.training.trained(place, "sentence", 1)
    (run.folder / "train.log").write_text("of the training that is gone")
    evidence.training.train(place, "sentence", 1)
    assert len(commands) == 2 and not (run.folder / "train.log").exists()


def test_a_training_that_was_killed_after_its_last_update_makes_no_more(
    evidence, place, commands, monkeypatch
):
    """fairseq-train would make one before it sees that there are enough."""
    last = evidence.training.checkpoint(place, "sentence", 1)
    last.parent.mkdir(parents=True)
    last.touch()
    for updates, more in ((10000, 0), (9999, 1)):
        (place.run("sentence", 1) / "trained").unlink(missing_ok=True)
        monkeypatch.setattr(evidence.training, "_updates", lambda _, updates=updates: updates)
        evidence.training.train(place, "sentence", 1)
        assert len(commands) == more


@pytest.mark.parametrize("ended", [True, False])
def test_a_run_that_was_begun_otherwise_is_refused(evidence, place, commands, monkeypatch, ended):
    """Also a first stage, on which the second would be built."""
    evidence.training.train(place, "sentence", 1)
    if not ended:
        (place.run("sentence", 1) / "trained").unlink()
    monkeypatch.setattr(evidence.systems, "TRAINING", f"{evidence.systems.TRAINING} --clip-norm 5")
    with pytest.raises(
        BadInput, match="begun.json: begun with other flags; remove .*sentence.1 to train anew"
    ):
        evidence.training.train(place, "sentence", 1)
    assert len(commands) == 1


def test_a_run_that_was_begun_with_the_same_flags_in_another_order_goes_on(evidence, place, commands):
    evidence.training.train(place, "sentence", 1)
    path = place.run("sentence", 1) / "begun.json"
    record = json.loads(path.read_text())
    data, *flags = " ".join(record["train"]).replace("0.9, 0.98", "0.9,0.98").split(" --")
    seen = {}
    for flag in reversed(flags):  # the last counts
        seen.setdefault(flag.split()[0], flag)
    record["train"] = f"{data} --{' --'.join(seen.values())}".split()
    path.write_text(json.dumps(record))
    evidence.training.begin(place, "sentence", 1)


def test_all_code_that_a_training_ran_is_named(evidence, place, commands, monkeypatch):
    monkeypatch.setattr(evidence.training, "_updates", lambda _: 500)
    for commit, goes_on in (("a", True), ("b", True), ("b", True), ("c", False)):
        monkeypatch.setattr(evidence.commands, "commit", lambda commit=commit: commit)
        if goes_on:
            (place.run("sentence", 1) / "trained").unlink(missing_ok=True)
        evidence.training.train(place, "sentence", 1)
    begun = evidence.training.begun(place, "sentence", 1)
    assert begun["commits"] == ["a", "b"]
    assert begun["train"][:3] == ["EVIDENCE_DIR/data", "--user-dir", "ctxmt_fairseq"]


def test_no_commit_without_git(evidence, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert evidence.commands.commit() == "unknown"


def test_a_training_ends_with_its_driver_even_if_that_is_killed(evidence, tmp_path):
    """Else the next driver, which finds the lock free, would train beside it."""
    training, ids = tmp_path / "python", tmp_path / "id"
    training.write_text(f"#!/bin/sh\necho $$ > {ids}.new; mv {ids}.new {ids}; exec sleep 600\n")
    training.chmod(0o755)
    code = f"""import sys; from pathlib import Path; from evidence import commands
sys.executable = {str(training)!r}; commands.train([], Path({str(tmp_path / "train.log")!r}))"""
    paths = os.pathsep.join((str(EXAMPLES), str(EXAMPLES.parent)))
    driver = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths})
    assert _soon(ids.exists)
    child = int(ids.read_text())
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert _soon(lambda: not _runs(child))
    assert evidence.training.cpu_seconds(tmp_path / "train.log") is None  # nobody knows


@pytest.mark.parametrize(
    ("lines", "expected"), [("3\nbegun\n4\n", 7), ("begun\n", None), ("begun\nbegun\n4\n", None)]
)
def test_cpu_seconds_of_a_training_are_those_of_all_its_attempts(evidence, tmp_path, lines, expected):
    (tmp_path / "cpu").write_text(lines)
    assert evidence.training.cpu_seconds(tmp_path / "train.log") == expected


def test_results_without_cpu_seconds_have_tables(evidence):
    known, unknown = ({"cpu_seconds": seconds} for seconds in (120, None))
    columns = {"CPU minutes": (evidence.score_tables.minutes, 0)}
    assert evidence.layout.means([known, unknown], columns) == ["2"]
    assert evidence.layout.means([unknown], columns) == [""]


def _runs(process):
    """Whether it is there and no zombie, which nobody may have waited for."""
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _soon(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_learning_curve_is_read_from_the_log(evidence, tmp_path):
    log = tmp_path / "train.log"
    losses = '"valid_loss": "8", "valid_current_loss": "7.5", "valid_nll_loss": "7"'
    first = f'| INFO | valid | {{{losses}, "valid_num_updates": "250"}}'
    lines = [
        '| INFO | train_inner | {"epoch": 1, "current_loss": "9.1", "num_updates": "100"}',
        first,
        "killed, and started again",
        first,
        '| INFO | valid | {"valid_loss": "6.25", "valid_nll_loss": "6", "valid_num_updates": "500"}',
    ]
    log.write_text("\n".join(f"2026-01-01 00:00:00 {line}" for line in lines))
    curve = evidence.training.learning_curve(log)
    assert curve == [
        {"updates": 250, "loss": 7.5, "nll": 7.0},
        {"updates": 500, "loss": 6.25, "nll": 6.0},
    ]
