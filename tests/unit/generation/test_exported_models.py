"""Exports of what not every training saves."""

import math

import pytest

from ctxmt_fairseq.checkpoints.reading import read
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.saved_models import save, trained


def exported(folder, state, *options):
    model = save(folder / "model.pt", state)
    arguments = ["export", str(model), str(folder / "out"), "--to", "safetensors", *options]
    assert main([*arguments, "--data", str(folder / "data")]) == 0
    return folder / "out"


def test_what_can_run_code_is_exported_for_who_trusts_it(tmp_path, refusal):
    state, _ = trained(tmp_path, "--decoder-layers", "[(8, 3)]", "--decoder-out-embed-dim", "8", arch="fconv")
    out = exported(tmp_path, state, "--trust-checkpoint")
    assert load_models(out, device="cpu", trust=True).model.encoder
    assert "--trust-checkpoint" in refusal(main, ["card", str(out)])


@pytest.mark.parametrize("score", [math.inf, "low"])
def test_a_validation_may_have_gone_wrong(tmp_path, score):
    state, _ = trained(tmp_path)
    state["extra_state"]["val_loss"] = score
    assert read(exported(tmp_path, state) / "model.safetensors")["extra_state"] == {}


def test_a_folder_names_no_place_of_the_machine_that_made_it(tmp_path, monkeypatch):
    state, _ = trained(tmp_path)
    out = exported(tmp_path, state)
    assert not [path.name for path in out.iterdir() if bytes(tmp_path) in path.read_bytes()]
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    for named in ("out", "out/model.safetensors"):
        assert load_models(named, device="cpu").task.cfg.data == "out"
