"""examples/evidence as users start it: every row for a few updates, and a training that was interrupted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """The demo corpus in the place of all texts, and a contrastive set in the public layout."""
    folder = tmp_path_factory.mktemp("data")
    text = folder / "en-fr-subtitles"
    write = f"from ctxmt_fairseq.cli.main import main; main(['demo-corpus', {str(text)!r}])"
    subprocess.run([sys.executable, "-c", write], check=True, cwd=ROOT)
    for language in ("de", "fr"):
        pages = folder / f"en-{language}-help"
        pages.mkdir()
        for split in ("train", "valid", "test"):
            for kind, name in (("en", "en"), ("fr", language), ("docids", "docids")):
                (pages / f"{split}.{name}").write_text((text / f"{split}.{kind}").read_text(encoding="utf-8"))
    suite = folder / "contrastive" / "en-fr-pronouns"
    suite.mkdir(parents=True)
    files = {
        "current.src": "It is here.\n" * 2,
        "current.trg": "Elle est ici.\nIl est ici.\n",
        "c1.context.src": "The letter?\n" * 2,
        "c1.context.trg": "La lettre ?\n" * 2,
    }
    for name, example in files.items():
        (suite / f"OpenSubs.{name}").write_text(example * 12, encoding="utf-8")
    return folder


def run(corpora, work, *rows, code=0):
    """``run.sh`` of a rehearsal; its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {"SMOKE": "1", "DATA": str(corpora), "EVIDENCE_DIR": str(work), "PATH": path}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = ["bash", str(ROOT / "examples/evidence/run.sh"), *rows]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr[-2000:]
    return done.stdout


# Of every task, architecture, criterion and text one.
WINDOWS = ["s4to4+CD+sizes", "s2to2+restart+CD+margin"]
GRUS = ["GRU-sentence", "GRU-control", "GRU-s2to2"]
ROWS = ["sentence", "control", *WINDOWS, "gated", "grouping", "MTCue", *GRUS]
PAGES = ["de-help-sentence", "de-help-control", "de-help-caching"]


def test_rows_run_and_are_skipped_the_next_time(corpora, tmp_path):
    named = [f"{row}.1" for row in (*ROWS, *PAGES)]
    first = run(corpora, tmp_path, *named)
    results = tmp_path / "smoke" / "results"
    assert sorted(path.stem for path in results.iterdir()) == sorted(named)
    for row in (*ROWS, *PAGES):
        record = json.loads((results / f"{row}.1.json").read_text(encoding="utf-8"))
        assert ("pronouns" in record) == (row in ROWS)
        assert row in PAGES or len(record["pronouns"]["document"]["decisions"]) == 12
        assert ("probe" in record) == (not row.endswith(("sentence", "control"))), row
        assert ("attention" in record) == (row in WINDOWS)
        assert ("windows" in record) == (row in (*WINDOWS, "GRU-s2to2"))
        assert ("words" in record) == (row == "gated") and ("groups" in record) == (row == "grouping")
        assert len(record["statistics"]["bleu"]) == record["scores"]["documents"] and record["lengths"]
        assert ("consistency" in record) == (row in PAGES)
        assert str(tmp_path) not in json.dumps(record) and str(corpora) not in json.dumps(record)
        assert f"| {row} | 1 |" in first
    tables = first.rpartition("== de-help-caching.1")[2].partition("\n")[2]
    assert run(corpora, tmp_path, *named) == tables
    assert run(corpora, tmp_path, "s5to5", code=2) == ""


def test_an_interrupted_training_ends_as_an_uninterrupted_one(corpora, tmp_path, monkeypatch):
    """The second goes on in the middle of an epoch: the same parameters, bit by bit."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    from evidence import commands, corpus, training
    from evidence.texts import SUBTITLES
    from evidence.workplace import Workplace

    place = Workplace(corpora, tmp_path, tmp_path / "results", smoke=True)
    corpus.prepare(place, SUBTITLES, "data")
    monkeypatch.setattr(training, "SMOKE_UPDATES", 4)
    ends = []
    for seed in (1, 2):
        flags = [*training.flags(place, "sentence", seed), "--seed", "1"]
        with monkeypatch.context() as patch:
            patch.setattr(training, "flags", lambda *_, flags=flags: flags)
            if seed == 2:  # interrupted after two updates
                place.run("sentence", seed).mkdir(parents=True)
                log = place.run("sentence", seed) / "train.log"
                commands.train([*flags, "--max-update", "2"], log)
            training.train(place, "sentence", seed)
            (place.run("sentence", seed) / "trained").unlink()  # killed after the last update
            patch.setattr(commands, "train", lambda *_: pytest.fail("trained again"))
            training.train(place, "sentence", seed)
        path = training.checkpoint(place, "sentence", seed)
        ends.append(torch.load(path, map_location="cpu", weights_only=False)["model"])
    whole, resumed = ends
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
