"""Cards of models that were not trained: what they say is so, whatever lies beside the model."""

import copy
import json
import re
import runpy
import shutil
import subprocess

import pytest

from ctxmt_fairseq.base import provenance
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.text.text_lines import file_digest
from tests.helpers.probed_models import checkpoint
from tests.helpers.result_files import results
from tests.helpers.saved_models import save, trained


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("state"), "--source-context", "1")[0]


def test_the_commit_is_of_a_checkout_that_has_the_package(tmp_path):
    base = tmp_path / "environment/ctxmt_fairseq/base"
    base.mkdir(parents=True)
    copy = shutil.copy(provenance.__file__, base)

    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "somebody else's")
    assert runpy.run_path(copy)["commit"]() is None
    git("add", ".")
    git("commit", "-q", "-m", "the package")
    assert runpy.run_path(copy)["commit"]()


@pytest.fixture
def run(tmp_path, state):
    """The folder of a training, with a data folder beside it."""
    (tmp_path / "run/checkpoints").mkdir(parents=True)
    trained(tmp_path, "--source-context", "1")
    save(tmp_path / "run/checkpoints/checkpoint_best.pt", state)
    return tmp_path / "run"


def card(model, data=None):
    file = model.parent / "card.json"
    assert main(["card", str(model), "--json", str(file), *(("--data", str(data)) if data else ())]) == 0
    return json.loads(file.read_text())


def test_scores_are_those_of_this_very_model(run, state):
    best, data = run / "checkpoints/checkpoint_best.pt", run.parent / "data"
    other = copy.deepcopy(state)
    next(iter(other["model"].values())).add_(1.0)
    (run / "evaluation").mkdir()
    averaged = save(run / "evaluation/averaged.pt", other)
    (run / "train.sh").write_text("#!/bin/sh\nfairseq-train data --user-dir '/my home/ctxmt_fairseq' --cpu\n")
    command = 'fairseq-train data --user-dir "$(ctxmt user-dir)" --cpu'
    for of, without in ((best, averaged), (averaged, best)):
        record = {**results({"prefix": 20.0}), "checkpoints": [file_digest(of)]}
        (run / "evaluation/results.json").write_text(json.dumps(record))
        found, none = card(of, data), card(without, data)
        assert {one["measure"]: one["value"] for one in found["scores"]} == {"bleu": 20.0, "chrf2": 40.0}
        assert none["scores"] == [] and none["command"] == found["command"] == command
    (run / "evaluation/results.json").write_text("[]")
    assert card(averaged, data)["scores"] == []


def test_a_score_says_what_is_not_usual_of_it(run, capsys):
    best = run / "checkpoints/checkpoint_best.pt"
    (run / "evaluation/dev.window").mkdir(parents=True)
    record = {**results({"prefix": 20.0, "window.n1.2": 30.0}), "checkpoints": [file_digest(best)]}
    (run / "evaluation/results.json").write_text(json.dumps(record))
    searched = record["translations"]["prefix"]  # with a penalty, and maybe by another model
    (run / "evaluation/dev.window/n0.4.score.json").write_text(json.dumps(searched))
    card(best, run.parent / "data")
    printed = capsys.readouterr().out
    assert "dev" not in printed
    assert re.search("^bleu +20$", printed, re.M)
    assert re.search("^bleu +30 \\(decoding window, length penalty opt\\)$", printed, re.M)


HOSTILE = (
    {"scores": 5},
    {"scores": [{"measure": "bleu", "value": "x", "at": {}}]},
    {"data": {"train": 3}},
    {"command": 5},
)


def test_what_a_folder_keeps_of_its_training_may_be_anything(run, refusal):
    out = run / "out"
    arguments = ["export", str(run / "checkpoints/checkpoint_best.pt"), str(out), "--to", "safetensors"]
    assert main([*arguments, "--data", str(run.parent / "data")]) == 0
    said = json.loads((out / "ctxmt.json").read_text())
    assert 'Translator.load("out")' in (out / "README.md").read_text()
    for kept in HOSTILE:
        (out / "ctxmt.json").write_text(json.dumps({**said, "card": kept}))
        assert f"{out}/ctxmt.json: does not fit: " in refusal(main, ["card", str(out)])
    again = ["export", str(out), str(run / "again"), "--to", "safetensors"]
    assert f"{out}/ctxmt.json: does not fit: " in refusal(main, again)
    assert not (run / "again").exists()


def test_vectors_of_sentences_are_context(tmp_path, capsys):
    model = checkpoint(tmp_path / "m", "metadata_context", "--source-context", "0")
    assert main(["card", str(model), "--markdown", str(tmp_path / "README.md")]) == 0
    printed = capsys.readouterr().out
    assert "\ncontext       metadata fields all, current vector yes\n" in printed
    assert "\ncard made with python " in printed  # the longest name
    assert "Translator.load" not in (tmp_path / "README.md").read_text()  # this is no folder that runs alone
