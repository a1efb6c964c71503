"""A checkpoint meets a data folder that numbers other symbols, or a training with another context: each door
says so in one line."""

import json
import os
import re
import shutil

import pytest

from ctxmt_fairseq import BadInput, Translator
from tests.integration.commands import TASK, TINY, TRAINING, losses, read, refused, run

WINDOWS = ("--arch", "concat_transformer", "--segment-positions", "shift", "--target-context", 1)
TRAIN = (*TASK, *TINY, *TRAINING, *WINDOWS, "--max-tokens", 1000, "--disable-validation")
ONE, THREE = ("--source-context", 1), ("--source-context", 3)


@pytest.fixture(scope="module")
def other(once, data):
    """The data folder as another preprocessing makes it: as many symbols, in another order."""

    def build(folder):
        shutil.copytree(data, folder / "data")
        description = json.loads((folder / "data/ctxmt.json").read_text())
        (folder / "data/ctxmt.json").write_text(json.dumps({**description, "dictionaries": {}}))
        for language in ("en", "fr"):
            path = folder / f"data/dict.{language}.txt"
            lines = read(path)
            path.write_text("\n".join([*lines[1::-1], *lines[2:]]) + "\n")

    return once("other dictionary", build) / "data"


@pytest.fixture
def begun(s2to2, tmp_path):
    """A training that was stopped."""
    (tmp_path / "run").mkdir()
    for name in ("checkpoint_last.pt", "checkpoint_best.pt"):
        shutil.copy(s2to2 / "checkpoint_last.pt", tmp_path / "run" / name)
    return tmp_path / "run"


DOORS = {
    "translate": ("ctxmt", "translate", "MODEL", "TEXT.en", "--docids", "TEXT.docids", "--data", "DATA",
                  "--cpu"),
    "contrast": ("ctxmt", "contrast", "MODEL", "SET", "--data", "DATA", "--cpu"),
    "evaluate": ("ctxmt", "evaluate", "RUN", "TEXT", "--data", "DATA", "--cpu"),
    "probe": ("ctxmt", "probe", "MODEL", "TEXT", "--data", "DATA", "--cpu"),
    "generate": ("fairseq-generate", "DATA", *TASK[:2], "--path", "MODEL", "--cpu"),
    "validate": ("fairseq-validate", "DATA", *TASK[:2], "--path", "MODEL", "--cpu", "--max-tokens", 999),
    "interactive": ("fairseq-interactive", "DATA", *TASK[:2], "--path", "MODEL", "--cpu"),
    "an ensemble": ("fairseq-generate", "DATA", *TASK[:2], "--path", "OWN:MODEL", "--cpu"),
    "resumption": ("fairseq-train", "DATA", *TRAIN, *ONE, "--save-dir", "RUN", "--max-update", 161),
    "--finetune-from-model": ("fairseq-train", "DATA", *TRAIN, *ONE, "--max-update", 1,
                              "--finetune-from-model", "MODEL"),
    "--restore-file": ("fairseq-train", "DATA", *TRAIN, *ONE, "--max-update", 1, "--restore-file", "MODEL",
                       "--reset-optimizer", "--reset-dataloader", "--reset-meters", "--reset-lr-scheduler"),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_checkpoint_and_another_dictionary(door, s2to2, other, corpus, begun, tmp_path):
    model = begun / "checkpoint_last.pt"
    names = {"MODEL": model, "RUN": begun, "DATA": other, "TEXT": corpus / "test1", "SET":
             corpus / "demo/contrastive/pronoun-distance-1"}  # fmt: skip
    names.update({f"TEXT.{end}": corpus / f"test1.{end}" for end in ("en", "docids")})
    if door == "an ensemble":
        run("fairseq-train", other, *TRAIN, *ONE, "--max-update", 1, "--save-dir", tmp_path / "own")
        names["OWN:MODEL"] = f"{tmp_path}/own/checkpoint_last.pt:{model}"
    command = [names.get(word, word) for word in DOORS[door]]
    line = refused(*command, cwd=tmp_path, input="A line.\n")
    symbols = len(read(other / "dict.en.txt")) + 4  # fairseq's
    assert f"the checkpoint has other symbols than the {symbols} in {other}/dict." in line
    assert "ctxmt preprocess --like its data folder, or --dict" in line


def test_translator_average_and_shards(s2to2, data, other, begun, tmp_path):
    with pytest.raises(BadInput, match="the checkpoint has other symbols than the"):
        Translator.load(begun / "checkpoint_last.pt", data=other, device="cpu")
    options = (*TRAIN, *ONE, "--max-update", 1, "--save-dir", tmp_path / "shards")
    line = refused("fairseq-train", f"{data}{os.pathsep}{other}", *options)
    assert f"{other}/dict.en.txt: expected the symbols of {data}/dict.en.txt, found others" in line
    line = refused("fairseq-train", f"{data}{os.pathsep}{tmp_path / 'nowhere'}", *options)
    assert "nowhere/dict.en.txt: no such file" in line
    run("fairseq-train", other, *options, "--no-save-optimizer-state")
    shutil.copy(begun / "checkpoint_last.pt", tmp_path / "shards/checkpoint_1_160.pt")
    line = refused(
        "ctxmt", "average", tmp_path / "shards", "--around", "last", "--output", tmp_path / "mean.pt"
    )
    assert "expected the dictionaries of checkpoint" in line and not (tmp_path / "mean.pt").exists()


def test_each_epoch_reads_a_shard(data, corpus, tmp_path):
    """A second folder with the vocabulary of the first; validation is that of the first. What it lacks is
    said before the first epoch."""
    languages = ("--source-lang", "en", "--target-lang", "fr")
    text = ("--train", corpus / "test1", "--like", data, "--out", tmp_path / "two")
    run("ctxmt", "preprocess", *languages, *text)
    options = (*TRAIN, *ONE, "--max-epoch", 3, "--max-tokens", 4000, "--no-save", "--disable-validation")
    log = run("fairseq-train", f"{data}{os.pathsep}{tmp_path / 'two'}", *options).stdout
    read_from = re.findall(r"examples from: (\S+)/train\.en-fr\.en\n", log)
    assert read_from[:4] == [str(data), *[str(tmp_path / "two")] * 2, str(data)]
    lacking = tmp_path / "two/train.en-fr.docids"
    lacking.unlink()
    line = refused("fairseq-train", f"{data}{os.pathsep}{tmp_path / 'two'}", *options, "--max-epoch", 1)
    assert f"{lacking}: no such file; expected one document id per sentence" in line


def test_a_context_that_changed(s2to2, data, begun, tmp_path):
    options = (*TRAIN, "--max-update", 161)
    for context, now in ((THREE, 3), ((), 0)):
        line = refused("fairseq-train", data, *options, *context, "--save-dir", begun)
        assert f"--source-context: the training had 1 so far and has {now} now" in line
    assert len(list(begun.iterdir())) == 2
    finetuned = ("--finetune-from-model", begun / "checkpoint_last.pt", "--save-dir", tmp_path / "new")
    log = run("fairseq-train", data, *options[:-1], 1, *THREE, *finetuned).stdout
    assert list(losses(log)) == [1]
    assert list(losses(run("fairseq-train", data, *options, *ONE, "--save-dir", begun).stdout)) == [161]
