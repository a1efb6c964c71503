"""What is no checkpoint, or not one of this model."""

import argparse

import pytest
import torch

from ctxmt_fairseq.checkpoints.reading import read
from tests.helpers.hostile_checkpoints import ensemble, fairseqs_own, refused
from tests.helpers.saved_models import section


def _damaged(state):
    first = next(iter(state["model"]))
    weight = state["model"][first]

    def parameters(**more):
        return {**state, "model": {**state["model"], **more}}

    return {
        "list": [state],
        "tensor": torch.zeros(3),
        "no model": {**state, "model": None},
        "empty model": {**state, "model": {}},
        "text for a model": {**state, "model": "x"},
        "text for a parameter": parameters(**{first: "x"}),
        "numbers for names": {**state, "model": {1: weight}},
        "NaN": parameters(**{first: torch.full_like(weight, float("nan"))}),
        "infinity": parameters(**{first: weight - float("inf")}),
        "more than there is": parameters(**{first: torch.zeros(1).expand(10**6, 10**6)}),
        "8 bits": parameters(**{first: weight.to(torch.float8_e4m3fn)}),
        "complex": parameters(**{first: weight.to(torch.complex64)}),
        "sparse": parameters(**{first: weight.to_sparse()}),
        "no configuration": {**state, "cfg": None, "args": None},
        "text for a configuration": {**state, "cfg": "x", "args": None},
        "list for a configuration": {**state, "cfg": [1], "args": None},
        "text for arguments": {**state, "args": "x"},
        "text for the model's options": {
            **state,
            "cfg": {"model": "x", "task": "x", "criterion": "x"},
            "args": None,
        },
        "no task": {**state, "cfg": {"model": argparse.Namespace(arch="transformer")}, "args": None},
        "nameless model": {**state, "cfg": {"model": {}, "task": {}, "criterion": {}}, "args": None},
        "text for a state": {**state, "task_state": "x"},
        "empty history": {**state, "optimizer_history": []},
        "text for an epoch": {**state, "extra_state": {"train_iterator": {"epoch": "x"}}},
        "text for a place": {**state, "extra_state": {"train_iterator": "x"}},
        "text for bad epochs": {**state, "extra_state": {"bad_epochs": "x"}},
        "text for groups": {**state, "last_optimizer_state": {"param_groups": "x"}},
        "text for a rate": {**state, "last_optimizer_state": {"param_groups": [{"lr": "x"}]}},
        "text for updates": {**state, "optimizer_history": [{"num_updates": "x"}]},
    }


DAMAGES = list(_damaged({"model": {"x": torch.zeros(2, 2)}}))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused(state, tmp_path, damage):
    refused(_damaged(state)[damage], tmp_path, read, fairseqs_own)


def _unfitting(state):
    model = dict(state["model"])
    first = next(name for name in model if name.endswith("weight"))
    return {
        "missing": {name: value for name, value in model.items() if name != first},
        "extra": {**model, "more.weight": torch.zeros(2)},
        "shape": {**model, first: torch.zeros(3, 3)},
    }


@pytest.mark.parametrize("difference", ["missing", "extra", "shape"])
def test_parameters_that_do_not_fit_are_named(state, tmp_path, difference):
    state["model"] = _unfitting(state)[difference]
    message = refused(state, tmp_path, ensemble, fairseqs_own)
    assert "weight" in message and len(message) < 500


@pytest.mark.parametrize(
    "option, value", [("encoder_layers", -1), ("encoder_embed_dim", 0), ("encoder_attention_heads", 3)]
)
def test_sizes_that_cannot_be_are_refused(state, tmp_path, option, value):
    section(state, "model")[option] = value
    refused(state, tmp_path, ensemble, fairseqs_own)
