"""Checkpoints of fairseq 0.12.2, and of fairseq-hydra-train, are read as what they mean."""

import copy
import math

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.reading import load_checkpoint_to_cpu, read
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.saved_models import TINY, save, section, trained

LAYER = "encoder.layers.0."
OURS = {"in_proj": "self_attn.q_proj", "out_proj": "self_attn.out_proj", "fc1": "fc1", "fc2": "fc2"}


@pytest.fixture(params=["concat_transformer", "transformer"])
def state(request, tmp_path):
    return trained(tmp_path, arch=request.param)[0]


def test_the_fast_path_s_copies_are_dropped(state, tmp_path):
    released = copy.deepcopy(state)
    for theirs, ours in OURS.items():
        for kind in ("weight", "bias"):
            released["model"][f"{LAYER}{theirs}_{kind}"] = state["model"][f"{LAYER}{ours}.{kind}"] + 1
    assert len(released["model"]) == len(state["model"]) + 8
    path = save(tmp_path / "checkpoint.pt", released)
    assert read(path)["model"].keys() == load_checkpoint_to_cpu(path)["model"].keys() == state["model"].keys()
    own = load_models(path, device="cpu").model.state_dict()
    assert all(value.equal(own[name]) for name, value in state["model"].items())


def test_a_file_of_before_torch_1_6_is_read(state, tmp_path):
    path = tmp_path / "checkpoint.pt"
    torch.save(state, path, _use_new_zipfile_serialization=False)
    assert all(value.equal(state["model"][name]) for name, value in read(path)["model"].items())
    assert load_models(path, device="cpu")


@pytest.mark.parametrize(
    "arch, name, size",
    [
        ("transformer", "encoder.embed_positions._float_tensor", (1,)),
        ("lightconv", "decoder.layers.0.conv.conv_bias", (1, 1, 8)),
    ],
)
def test_memory_that_fairseq_saved_as_it_was_may_be_anything(arch, name, size, tmp_path):
    state, _ = trained(tmp_path, arch=arch)
    state["model"][name] = torch.full(size, math.nan)
    assert load_models(save(tmp_path / "checkpoint.pt", state), device="cpu")


def nested(state):
    """The checkpoint as fairseq-hydra-train saves one that had sections; what fairseq does not read of it is
    wrong."""
    state = copy.deepcopy(state)
    options = dict(vars(state["cfg"]["model"]))
    for side in ("encoder", "decoder"):
        names = ("layers", "embed_dim", "ffn_embed_dim", "attention_heads")
        options[side] = {name: options.pop(f"{side}_{name}") for name in names}
        options[f"{side}_layers"] = 6
    state["cfg"]["model"] = {**options, "_name": options["arch"]}
    return state


def test_sections_of_a_configuration_count(state, tmp_path):
    path = save(tmp_path / "checkpoint.pt", nested(state))
    model = load_models(path, device="cpu").model
    assert len(model.encoder.layers) == len(model.decoder.layers) == 1
    own = model.state_dict()
    assert all(value.equal(own[name]) for name, value in state["model"].items())
    given = trained(tmp_path, "--sentence-checkpoint", str(path), arch="transformer")[0]["model"]
    assert all(value.equal(state["model"][name]) for name, value in given.items())


@pytest.mark.parametrize(
    "name, value", [("layers", 10**9), ("embed_dim", "8"), ("xformers_att_config", "payload")]
)
def test_sections_are_checked(name, value, state, tmp_path):
    hostile = nested(state)
    section(hostile, "model")["encoder"][name] = value
    with pytest.raises(BadInput, match=f"--encoder-{name.replace('_', '-')}.*(layers|expected)"):
        read(save(tmp_path / "checkpoint.pt", hostile))


def test_sections_besides_which_nothing_is_said_have_fairseqs_defaults(state, tmp_path):
    few = nested(state)
    section(few, "model")["encoder"] = {"layers": 1}
    options = read(save(tmp_path / "checkpoint.pt", few))["cfg"]["model"]
    assert (options["encoder_layers"], options["encoder_embed_dim"]) == (1, 512)
    assert options["encoder_ffn_embed_dim"] == 2048 and TINY[1] == "8"
