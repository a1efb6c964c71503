"""``pytest -m gpu``: half precision, processes and waits on a GPU, at size base; on a CPU what it can."""

import json
import math
import warnings

import pytest
import torch

from scripts.benchmark import gpu, trainings
from scripts.benchmark.run import Settings
from tests.unit.models.test_no_waits import DECODER, ENCODER

GPU = torch.cuda.is_available()
SIZE, DEVICE = ("base", torch.device("cuda")) if GPU else ("tiny", torch.device("cpu"))
pytestmark = [pytest.mark.gpu, *([] if GPU else [pytest.mark.slow])]


@pytest.mark.parametrize("name", gpu.MODELS)
def test_losses_and_gradients_are_those_of_float32(name):
    found = gpu.losses(name, SIZE, DEVICE)
    assert found.keys() == set(gpu.PRECISIONS)
    for loss, norm in found.values():
        assert loss == pytest.approx(found["float32"][0], rel=1e-2)
        assert norm == pytest.approx(found["float32"][1], rel=5e-2)
    assert len({loss for loss, _ in found.values()}) == 4, "each is computed in another precision"


def test_trainings_in_half_precision_and_by_two_processes(tmp_path):
    curves = trainings.loss_curves(tmp_path, cpu=not GPU)
    assert all(len(curve) == trainings.UPDATES and curve[-1] < curve[0] - 1 for curve in curves.values())
    differences = trainings.differences(curves)
    assert differences.pop("two processes")[1] < 1e-3
    assert differences.keys() == ({*trainings.PRECISIONS} if GPU else {"amp"})
    assert max(most for _, most in differences.values()) < 2e-2


@pytest.mark.skipif(not GPU, reason="tests/unit/models/test_no_waits.py tells without a GPU")
@pytest.mark.parametrize("name", gpu.MODELS)
def test_a_step_waits_only_where_fairseqs_does(name):
    found = gpu.speed(name, SIZE, DEVICE, 2000, "amp", 1.0)["waits of a step"]
    files = {place.rpartition(":")[0] for place in found}
    assert {file for file in files if "fairseq/" in file} <= {ENCODER[0], DECODER[0]}, found


@pytest.mark.skipif(GPU, reason="the other test asks the GPU")
def test_waits_are_torchs_warnings(monkeypatch):
    """As torch gives them on a GPU."""
    modes = []
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)

    def step():
        for line in (3, 3, 4):
            file = "/x/ctxmt_fairseq/ctxmt_fairseq/models/blocks/a.py"
            text = "called a synchronizing CUDA operation"
            warnings.warn_explicit(text, UserWarning, file, line)
        warnings.warn("another", stacklevel=1)

    found = gpu.waits(step, torch.device("cuda"))
    assert found == {"ctxmt_fairseq/models/blocks/a.py:3": 2, "ctxmt_fairseq/models/blocks/a.py:4": 1}
    assert modes == ["warn", "default"]


def test_one_file_has_everything(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(gpu, "MODELS", {name: gpu.MODELS[name] for name in ("concat shift", "mtcue")})
    monkeypatch.setattr(
        gpu,
        "loss_curves",
        lambda folder, cpu: {
            "float32": [2.0, 1.0],
            "amp": [2.0, 1.01],
            "update-freq 2": [3.0],
            "two processes": [3.0],
        },
    )
    monkeypatch.setattr(Settings, "max_tokens", 600)
    assert not gpu.main(["--size", "tiny", "--json", str(tmp_path / "gpu.json"), *([] if GPU else ["--cpu"])])
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert found["machine"] and found["runs"]["differences"]["amp"] == ["float32", pytest.approx(0.01)]
    assert [(each["model"], each["precision"]) for each in found["speed"]] == [
        (name, precision) for name in gpu.MODELS for precision in gpu.TIMED
    ]
    for each in found["speed"]:
        numbers = [each[name] for name in ("tokens a second", "share of the matrix rate", "MiB of a step")]
        assert all(math.isfinite(number) and number > 0 for number in numbers)
    table = capsys.readouterr().out
    assert "amp: losses differ from float32's by 1.000 % at most" in table
    assert all(name in table for name in gpu.MODELS)
