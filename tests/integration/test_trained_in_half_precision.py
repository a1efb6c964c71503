"""What half precision does to the loss of a trained model on real text (random ones: tests/unit)."""

import copy

import pytest
import torch
from fairseq import utils

from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.steps import criterion


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True], ids=["half", "autocast"])
def test_a_trained_model_has_the_loss_of_float32(s2to2, data, precision, autocast):
    """Sharper distributions than a random model's: a wrong sum shows."""
    loaded = load_models([s2to2 / "checkpoint_last.pt"], data=data, device="cpu")
    loaded.task.load_dataset("valid")
    dataset = loaded.task.dataset("valid")
    sample = dataset.collater([dataset[line] for line in range(0, len(dataset), 2)])
    loss, (model,) = criterion(loaded.task, "discounted"), loaded.models
    half = copy.deepcopy(model)
    with torch.no_grad():
        expected, size, _ = loss(model, sample)
        if not autocast:
            half = half.to(precision)
            sample = utils.apply_to_sample(
                lambda value: value.to(precision) if value.dtype is torch.float32 else value, sample
            )
        with torch.autocast("cpu", precision, enabled=autocast):
            found, _, _ = loss(half, sample)
    assert expected / size < 5, "the model has learned something"  # a uniform one: ln 300 = 5.7
    assert float(found) == pytest.approx(float(expected), rel=1e-2)
    assert float(found) != float(expected), "computed in half precision"
