"""Checkpoints that would run code, in the commands of the plugin and of fairseq: one line, exit code 2."""

import argparse
import json
import os
import re

import pytest
import torch

import ctxmt_fairseq.checkpoints.reading  # noqa: F401  (what checkpoints hold may be loaded)
from ctxmt_fairseq.cli.main import main
from tests.helpers.every_command import commands, options
from tests.integration.commands import TASK, TINY, TRAINING, USER_DIR, refused

MODELS = {"plugin": "s2to2", "stock": "sentence_level"}
NAMED = {  # what a refusal says, by what is wrong
    "fconv": "--arch fconv: fairseq runs what",
    "unknown": "--arch 'no_such_model': expected",
    "cut-off": "--adaptive-softmax-cutoff: expected",
    "old": "--adaptive-softmax-cutoff: expected",
    "pickle": "is no checkpoint, or a damaged one",
}


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def craft(request, folder, kind, form):
    """A trained checkpoint with a payload, and the file that the payload would make."""
    victim, path = folder / "victim", folder / "hostile.pt"
    payload = f"__import__('pathlib').Path({str(victim)!r}).touch()"
    state = torch.load(request.getfixturevalue(MODELS[kind]) / "checkpoint_last.pt", weights_only=True)
    model = vars(state["cfg"]["model"])
    if form == "fconv":
        model.update(arch="fconv", _name="fconv", encoder_layers=payload)
    elif form == "unknown":
        model.update(arch="no_such_model", _name="no_such_model")
    elif form == "ctc":
        state["cfg"]["criterion"] = {"_name": "ctc", "wer_args": payload}
    elif form == "pickle":
        state["extra_state"] = Payload(str(victim))
    else:
        model["adaptive_softmax_cutoff"] = payload
    if form == "old":
        state = {**state, "args": argparse.Namespace(**{**state["cfg"]["task"], **model}), "cfg": None}
    torch.save(state, path)
    return path, victim


def nothing_happened(path, victim, before):
    return not victim.exists() and sorted(path.parent.iterdir()) == before


ATTRIBUTES = {"source": "a", "attributes": {"x": "y"}, "expected": {"x": ["b"]}, "wrong": {"x": ["c"]}}
PAIR = ("--source-lang", "en", "--target-lang", "fr")
# Every command that reads a checkpoint: what follows it. M: the checkpoint; F: its folder; C: the corpus.
DOORS = {
    "translate": "M C/test.en --output F/out",
    "contrast": "M F/set --json F/out",
    "probe": "M C/test --json F/out",
    "evaluate": "M C/test F/set --out F/out",
    "average": "F",
    "import": "M F/out --data C/data",
    "export": "M F/out --to safetensors",
    "card": "M --json F/out",
    "analyse attention": "M --sentence a --output F/out.png",
    "analyse groups": "M --sentence a --output F/out.png",
    "analyse group-use": "M C/test.en --output F/out.png",
    "analyse antecedents": "M C/test --coreference F/formal --json F/out",
    "analyse attention-words": "M C/test --json F/out",
    "analyse attention-share": "M C/test --json F/out",
    "analyse contexts": "M --texts F/formal --output F/out.png",
    "control formality": "M --source C/test.en --formal F/formal --informal F/informal --json F/out",
    "control attributes": "M F/attributes --json F/out",
    "corpus filter adequacy": "C/test --forward M --backward M --scores F/out",
    "corpus filter domain": "C/test --in-domain M --general M --scores F/out",
}
OTHERS = {"average", "import", "corpus filter domain"}  # which have not the options of a model


def test_every_command_that_builds_a_model_is_a_door():
    has = {" ".join(words) for words, each in commands() if "trust_checkpoint" in dict(options(each))}
    assert has | OTHERS == DOORS.keys()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("kind", "form"), [*(("plugin", form) for form in NAMED), ("stock", "fconv"), ("stock", "old")]
)
def test_the_plugins_commands(request, corpus, tmp_path, refusal, kind, form, door):
    path, victim = craft(request, tmp_path, kind, form)
    (tmp_path / "checkpoint_best.pt").symlink_to(path)
    (tmp_path / "set").symlink_to(next((corpus / "demo" / "contrastive").iterdir()))
    for name in ("formal", "informal"):
        (tmp_path / name).write_text(f"[F]{name}[/F]\n")
    (tmp_path / "attributes").write_text(json.dumps(ATTRIBUTES) + "\n")
    before = sorted(tmp_path.iterdir())
    places = {"M": str(path), "F": str(tmp_path), "C": str(corpus)}
    words = [
        re.sub(r"^[MFC]\b", lambda found: places[found[0]], word) for word in f"{door} {DOORS[door]}".split()
    ]
    languages = PAIR if door.startswith("corpus") else ()
    device = () if door in ("average", "import", "export", "card") else ("--cpu",)
    line = refusal(main, [*words, *languages, *device])
    assert ".pt: " in line or "dict." in line
    if door not in OTHERS - {"average"} or form == "pickle":
        assert NAMED[form] in line
    assert nothing_happened(path, victim, before)


EVALUATION = ("--user-dir", USER_DIR, "--task", "document_window", "--cpu", "--num-workers", 0)
WINDOWS = (*TASK, "--arch", "concat_transformer", "--max-tokens", 500)
ROWS = ("--user-dir", USER_DIR, "--task", "multi_source", "--arch", "dual_encoder_transformer")
FAIRSEQS = {
    "--path": ("fairseq-generate", (*EVALUATION, "--batch-size", 8)),
    "--path ": ("fairseq-interactive", EVALUATION),
    "--path  ": ("fairseq-validate", (*EVALUATION, "--batch-size", 8)),
    "--restore-file": ("fairseq-train", WINDOWS),
    "--finetune-from-model": ("fairseq-train", WINDOWS),
    "--sentence-checkpoint": ("fairseq-train", (*ROWS, "--max-tokens", 500)),
}
FAST = {
    ("--path", "fconv"),
    ("--path ", "cut-off"),
    ("--path  ", "ctc"),
    ("--restore-file", "cut-off"),
    ("--finetune-from-model", "old"),
    ("--sentence-checkpoint", "fconv"),
}


@pytest.mark.parametrize("kind", ["plugin", pytest.param("stock", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("option", "form"),
    [
        pytest.param(option, form, marks=() if (option, form) in FAST else pytest.mark.slow)
        for option in FAIRSEQS
        for form in (*NAMED, "ctc")
        if form != "ctc" or option == "--path  "
    ],
)
def test_fairseqs_commands(request, data, tmp_path, option, kind, form):
    path, victim = craft(request, tmp_path, kind, form)
    before = sorted(tmp_path.iterdir())
    name, options = FAIRSEQS[option]
    if name == "fairseq-train":
        options = (*options, *TINY, *TRAINING, "--save-dir", tmp_path)
    line = refused(name, data, *options, option.strip(), path, input="")
    assert str(path) in line and NAMED.get(form, "--criterion ctc: expected") in line
    assert nothing_happened(path, victim, before)
