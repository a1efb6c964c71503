"""Checkpoints that would run code, in the commands of the plugin and of fairseq: one line, exit code 2."""

import argparse

import pytest
import torch

import ctxmt_fairseq.checkpoints.reading  # noqa: F401  (what checkpoints hold may be loaded)
from ctxmt_fairseq.cli.main import main
from tests.integration.commands import TASK, TINY, TRAINING, USER_DIR, refused

MODELS = {"plugin": "s2to2", "stock": "sentence_level"}


def craft(request, folder, kind, form):
    """A trained checkpoint with a payload, and the file that the payload would make."""
    victim, path = folder / "victim", folder / "hostile.pt"
    payload = f"__import__('pathlib').Path({str(victim)!r}).touch()"
    state = torch.load(request.getfixturevalue(MODELS[kind]) / "checkpoint_last.pt", weights_only=True)
    model = vars(state["cfg"]["model"])
    if form == "fconv":
        model.update(arch="fconv", _name="fconv", encoder_layers=payload)
    elif form == "ctc":
        state["cfg"]["criterion"] = {"_name": "ctc", "wer_args": payload}
    else:
        model["adaptive_softmax_cutoff"] = payload
    if form == "old":
        state = {**state, "args": argparse.Namespace(**{**state["cfg"]["task"], **model}), "cfg": None}
    torch.save(state, path)
    return path, victim


def nothing_happened(path, victim, before):
    return not victim.exists() and sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("form", ["fconv", "cut-off", "old"])
def test_the_plugins_commands(request, corpus, tmp_path, capsys, kind, form):
    path, victim = craft(request, tmp_path, kind, form)
    (tmp_path / "checkpoint_best.pt").symlink_to(path)
    for name in ("formal", "informal"):
        (tmp_path / name).write_text(f"[F]{name}[/F]\n")
    sets = next((corpus / "demo" / "contrastive").iterdir())
    out, references = tmp_path / "out", ("--formal", tmp_path / "formal", "--informal", tmp_path / "informal")
    before = sorted(tmp_path.iterdir())
    for command in (
        ("translate", path, corpus / "test.en", "--cpu", "--output", out),
        ("contrast", path, sets, "--cpu", "--json", out),
        ("analyse", "attention", path, "--sentence", "a", "--cpu", "--output", out.with_suffix(".png")),
        ("control", "formality", path, "--source", corpus / "test.en", *references, "--cpu", "--json", out),
        ("average", tmp_path),
    ):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in command])
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        option = "--arch" if form == "fconv" else "--adaptive-softmax-cutoff"
        assert line.startswith("ctxmt: error: ") and f"{option}" in line and ".pt" in line
        assert nothing_happened(path, victim, before)


EVALUATION = ("--user-dir", USER_DIR, "--cpu", "--num-workers", 0)
WINDOWS = (*TASK, "--arch", "concat_transformer")
ROWS = ("--user-dir", USER_DIR, "--task", "multi_source", "--arch", "dual_encoder_transformer")


@pytest.mark.parametrize(
    ("name", "option", "kind", "form", "options"),
    [
        ("fairseq-generate", "--path", "plugin", "fconv", (*EVALUATION, "--batch-size", 8)),
        ("fairseq-interactive", "--path", "stock", "cut-off", EVALUATION),
        ("fairseq-validate", "--path", "plugin", "ctc", (*EVALUATION, "--batch-size", 8)),
        ("fairseq-train", "--restore-file", "plugin", "cut-off", (*WINDOWS, "--max-tokens", 500)),
        ("fairseq-train", "--finetune-from-model", "stock", "old", (*WINDOWS, "--max-tokens", 500)),
        ("fairseq-train", "--sentence-checkpoint", "stock", "fconv", (*ROWS, "--max-tokens", 500)),
    ],
)
def test_fairseqs_commands(request, data, tmp_path, name, option, kind, form, options):
    path, victim = craft(request, tmp_path, kind, form)
    before = sorted(tmp_path.iterdir())
    if name == "fairseq-train":
        options = (*options, *TINY, *TRAINING, "--save-dir", tmp_path)
    assert str(path) in refused(name, data, *options, option, path, input="")
    assert nothing_happened(path, victim, before)
