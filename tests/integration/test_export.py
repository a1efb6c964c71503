"""Models as folders that run alone: the same numbers as before, and nothing that a folder says is run."""

import json
import os
import shutil
import struct

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from ctxmt_fairseq import BadInput, Translator
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.loading import load_models
from tests.integration.commands import USER_DIR, read, refused, run

LINES = 12


def export(model, out, *options):
    assert main(["export", str(model), str(out), *map(str, options)]) == 0
    return out


def documents(corpus):
    return [read(corpus / "test2.en")[:LINES]]


@pytest.fixture(scope="module")
def alone(last, tmp_path_factory):
    """A folder without pickle, in a place of its own."""
    return export(last, tmp_path_factory.mktemp("alone") / "out", "--to", "safetensors", "--license", "mit")


@pytest.fixture
def copy(alone, tmp_path):
    return shutil.copytree(alone, tmp_path / "copy")


def test_the_folder_runs_alone(last, data, corpus, alone, monkeypatch):
    expected = Translator.load(last, data, device="cpu")
    monkeypatch.setattr(torch, "load", None)  # nothing is unpickled
    found = Translator.load(alone, device="cpu")
    assert found.n_best(documents(corpus)) == expected.n_best(documents(corpus))
    given = [read(corpus / "test2.fr")[:LINES]]
    assert found.score(documents(corpus), given) == expected.score(documents(corpus), given)
    assert {*os.listdir(alone)} == {
        *("model.safetensors", "checkpoint.json", "ctxmt.json", "README.md"),
        *("dict.en.txt", "dict.fr.txt", "spm.model"),
    }


def test_parameters_that_are_one_tensor_are_stored_once(alone):
    model = load_models(alone, device="cpu").model
    stored = load_file(alone / "model.safetensors")
    assert sum(name.endswith("embed_tokens.weight") for name in stored) == 1
    assert model.encoder.embed_tokens.weight is model.decoder.embed_tokens.weight


def test_an_export_of_an_export_is_the_same(alone, tmp_path):
    again = export(alone, tmp_path / "out", "--to", "safetensors")
    for name in os.listdir(alone):
        assert (again / name).read_bytes() == (alone / name).read_bytes(), name


def test_commands_take_it(corpus, alone, data, tmp_path):
    shutil.copytree(alone, tmp_path / "out")
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids", "--cpu")
    run("ctxmt", "translate", "out", *text, "--output", "a", cwd=tmp_path)
    assert len(read(tmp_path / "a")) == len(read(corpus / "test2.en"))
    run("ctxmt", "evaluate", "out", corpus / "test2", "--cpu", "--beam", 2, cwd=tmp_path)
    assert "bleu" in run("ctxmt", "card", "out", "--json", "card.json", cwd=tmp_path).stdout
    start = ("--sentence-checkpoint", "out/model.safetensors", "--max-update", 1, "--cpu", "--no-save")
    rest = ("--optimizer", "sgd", "--max-tokens", 500, "--task", "document_window", "--disable-validation")
    size = json.loads((tmp_path / "card.json").read_text())["size"].split()
    arch = ("--arch", "concat_transformer", *size, "--segment-positions", "shift", "--user-dir", USER_DIR)
    done = run("fairseq-train", data, *arch, *start, *rest, cwd=tmp_path)
    assert "parameters taken over" in done.stderr + done.stdout


def test_the_card(alone, last, tmp_path, capsys):
    _, head, body = (alone / "README.md").read_text().split("---\n", 2)
    head = yaml.safe_load(head)
    assert head["language"] == ["en", "fr"] and head["license"] == "mit"
    assert head["pipeline_tag"] == "translation"
    assert "source context 1, target context 1" in body and "--segment-positions shift" in body
    assert main(["card", str(last), "--json", str(tmp_path / "a"), "--markdown", str(tmp_path / "b")]) == 0
    card = json.loads((tmp_path / "a").read_text())
    assert main(["card", str(alone), "--json", str(tmp_path / "c")]) == 0
    kept = json.loads((tmp_path / "c").read_text())
    model = load_models(last, device="cpu").model
    assert card["parameters"] == sum(each.numel() for each in model.parameters())
    assert card["updates"] == 160 and card["license"] is None and kept["license"] == "mit"
    for name in card.keys() - {"name", "license", "made_by"}:
        assert kept[name] == card[name], name
    assert (tmp_path / "b").read_text().startswith("---\nlanguage:")


def changed(folder, change):
    """Change the JSON beside the parameters."""
    said = json.loads((folder / "checkpoint.json").read_text())
    change(said)
    (folder / "checkpoint.json").write_text(json.dumps(said))


def reshaped(folder):
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.endswith("fc1.weight"))
    save_file({**tensors, name: tensors[name][:3].clone()}, folder / "model.safetensors")


def unknown_name(folder):
    tensors = load_file(folder / "model.safetensors")
    save_file({**tensors, "encoder.surprise": torch.zeros(3)}, folder / "model.safetensors")


def truncated(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])


def large_header(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + content[8:])


def pickled(folder):
    torch.save({"model": {}}, folder / "model.safetensors")


def linked(folder):
    shutil.move(folder / "spm.model", folder.parent / "spm.model")
    os.symlink(folder.parent / "spm.model", folder / "spm.model")


def codes_outside(folder):
    said = json.loads((folder / "ctxmt.json").read_text())
    said["text_steps"] = [{"step": "bpe", "codes": {"en": "../codes", "fr": "../codes"}}]
    (folder / "ctxmt.json").write_text(json.dumps(said))


def with_task(**options):
    return lambda folder: changed(folder, lambda said: said["cfg"]["task"].update(options))


def with_model(**options):
    return lambda folder: changed(folder, lambda said: said["cfg"]["model"].update(options))


PAYLOAD = "__import__('os').mkdir('victim')"
HOSTILE = {
    "other shapes": (reshaped, "fc1.weight"),
    "unknown name": (unknown_name, "encoder.surprise"),
    "truncated": (truncated, "is no file of safetensors"),
    "large header": (large_header, "is no file of safetensors"),
    "pickle": (pickled, "is no file of safetensors"),
    "link": (linked, "leads out of the folder"),
    "path": (codes_outside, "expected the name of a file in the folder"),
    "no options": (lambda folder: os.remove(folder / "checkpoint.json"), "checkpoint.json"),
    "list": (lambda folder: (folder / "checkpoint.json").write_text("[1]"), "expected an object"),
    "unknown task": (with_task(_name="no_such_task"), "--task 'no_such_task'"),
    "fconv": (with_model(_name="fconv", arch="fconv", encoder_layers=PAYLOAD), "--arch fconv"),
    "evaluated": (with_model(adaptive_softmax_cutoff=PAYLOAD), "--adaptive-softmax-cutoff: expected"),
    "deep": (with_model(encoder_layers=10**9), "--encoder-layers 1000000000"),
    "wide": (with_model(encoder_ffn_embed_dim=10**9), "larger parameters than the file has"),
    "shared": (
        lambda folder: changed(folder, lambda said: said["shared"].update({"a": "b"})),
        "a shares b, which model.safetensors lacks",
    ),
    "nan": (
        lambda folder: save_file(
            {name: each / 0 for name, each in load_file(folder / "model.safetensors").items()},
            folder / "model.safetensors",
        ),
        "expected finite numbers",
    ),
}


@pytest.mark.parametrize("form", HOSTILE)
def test_hostile_folders(form, copy, refusal, monkeypatch):
    spoil, message = HOSTILE[form]
    monkeypatch.chdir(copy.parent)
    spoil(copy)
    line = refusal(main, ["card", "copy"])
    assert line.startswith("ctxmt: error: copy") and message in line
    assert not os.path.exists("victim")


def test_a_pickle_in_the_folder_is_not_read(copy, corpus, monkeypatch):
    (copy / "checkpoint.pt").write_bytes(b"\x80\x02cos\nmkdir\n(S'victim'\ntR.")
    monkeypatch.setattr(torch, "load", None)
    assert Translator.load(copy, device="cpu").translate(documents(corpus))


def test_nothing_is_left_of_an_export_that_fails(last, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("")
    assert "exists and is no data folder" in refused(
        "ctxmt", "export", last, tmp_path / "out", "--to", "safetensors"
    )
    with pytest.raises((BadInput, SystemExit)):
        main(["export", str(tmp_path / "none.pt"), str(tmp_path / "new"), "--to", "safetensors"])
    assert [*tmp_path.iterdir()] == [tmp_path / "out"]
