"""What a checkpoint's options may say: what is evaluated, opened or passed on, and what is kept."""

import argparse
import copy
import time

import pytest
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, modules_of
from ctxmt_fairseq.checkpoints.averaging import Checkpoint
from ctxmt_fairseq.checkpoints.options import Option, WrongValue, checked_options, declared_options
from ctxmt_fairseq.checkpoints.reading import load_checkpoint_to_cpu, load_ensemble, read
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.tasks import folder_symbols
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask
from tests.helpers.hostile_checkpoints import (
    ensemble,
    payload,
    refused,
)
from tests.helpers.saved_models import save, section, trained

pytestmark = pytest.mark.usefixtures("nothing_ran")

EVALUATED = ["adaptive_softmax_cutoff", "encoder_xformers_att_config", "decoder_xformers_att_config"]
TYPES = [
    ("encoder_layers", "2"), ("encoder_layers", 1.5), ("encoder_layers", [1]), ("encoder_layers", True),
    ("encoder_layers", {"a": 1}), ("encoder_layers_to_keep", "0,1;2"), ("adaptive_softmax_cutoff", ["3"]),
    ("dropout", float("nan")), ("dropout", "0.1"), ("dropout", torch.zeros(1)), ("activation_fn", "exec"),
    ("activation_fn", "${oc.env:HOME}"), ("activation_fn", "x" * 10**6), ("share_all_embeddings", "yes"),
]  # fmt: skip


@pytest.mark.parametrize("option", EVALUATED)
def test_what_fairseq_evaluates_is_no_text(state, tmp_path, option):
    section(state, "model")[option] = payload(tmp_path)
    assert f"--{option.replace('_', '-')}: expected" in refused(state, tmp_path)


@pytest.mark.parametrize("option, value", TYPES)
def test_options_have_the_types_that_are_declared(state, tmp_path, option, value):
    section(state, "model")[option] = value
    message = refused(state, tmp_path, read)
    assert f"--{option.replace('_', '-')}: expected" in message and len(message) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    "option, value", [("source_lang", 3), ("max_source_positions", "9"), ("data", "${common.user_dir}")]
)
def test_options_of_the_task_too(state, tmp_path, option, value):
    section(state, "task")[option] = value
    message = refused(state, tmp_path, ensemble, load_checkpoint_to_cpu, load_models, Checkpoint.read)
    assert f"--{option.replace('_', '-')}: expected" in message


@pytest.mark.parametrize("context", ["x", {"source_context": "1"}, {"context_selection": 3}])
def test_options_in_the_tasks_state_too(pristine, tmp_path, context):
    state = copy.deepcopy(pristine[0])
    if state["cfg"]["task"]["_name"] == "document_window":
        path = save(tmp_path / "hostile.pt", {**state, "task_state": {"context": context}})
        with pytest.raises(BadInput, match="the checkpoint's "):
            ensemble(path)


def test_what_fairseq_reads_without_declaring_it_is_not_passed_on(state, tmp_path):
    """TransformerConfig takes names without their prefix from a namespace, too."""
    gone = str(tmp_path / "gone")
    section(state, "model").update(xformers_att_config=payload(tmp_path), embed_path=gone)
    ensemble(save(tmp_path / "hostile.pt", state))


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_sections_evaluate_nothing(name, state, tmp_path):
    section(state, "model")[name] = {"xformers_att_config": payload(tmp_path)}
    with pytest.raises(BadInput, match=f"--{name}-xformers-att-config: expected nothing, because"):
        ensemble(save(tmp_path / "hostile.pt", state))


def test_sections_open_nothing(state, tmp_path):
    options = section(state, "model")
    for side in ("encoder", "decoder"):
        names = ("layers", "embed_dim", "ffn_embed_dim", "attention_heads")
        sizes = {name: options.get(f"{side}_{name}", options[f"encoder_{name}"]) for name in names}
        options[side] = {**sizes, "embed_path": str(tmp_path / "gone")}
    ensemble(save(tmp_path / "hostile.pt", state))


def test_optimizer_and_other_parts_are_left_out(state, tmp_path):
    if state.get("cfg"):
        for name in ("optimizer", "lr_scheduler", "bpe", "tokenizer", "scoring"):
            state["cfg"][name] = {"_name": "adam", "adam_betas": payload(tmp_path)}
        state["cfg"]["common"]["user_dir"] = str(tmp_path)
    else:
        vars(state["args"]).update(adam_betas=payload(tmp_path), user_dir=str(tmp_path), lr=payload(tmp_path))
    (tmp_path / "__init__.py").write_text(payload(tmp_path))
    _, cfg, _ = ensemble(save(tmp_path / "hostile.pt", state))
    assert sorted(cfg) == ["common", "criterion", "dataset", "model", "optimization", "task"]
    assert cfg.common.user_dir is None


def test_files_that_a_checkpoint_names_are_not_opened(state, tmp_path):
    paths = dict.fromkeys(
        ("encoder_embed_path", "decoder_embed_path", "sentence_checkpoint"), str(tmp_path / "gone")
    )
    section(state, "model").update(paths)
    section(state, "model")["context_store"] = str(tmp_path / "gone")
    ensemble(save(tmp_path / "hostile.pt", state))


def test_a_data_folder_given_keeps_the_saved_one_closed(state, tmp_path):
    data = section(state, "task")["data"]
    section(state, "task")["data"] = str(tmp_path / "gone")
    path = save(tmp_path / "moved.pt", state)
    load_ensemble([str(path)], {"data": data})
    with pytest.raises(BadInput, match="gone"):
        load_ensemble([str(path)])


# ---- what is good stays so


def test_a_good_checkpoint_gives_the_same_model(pristine, state, tmp_path):
    expected = pristine[0]
    (model,), cfg, task = ensemble(save(tmp_path / "good.pt", state))
    assert type(task).__name__ == type(pristine[0]["cfg"]["task"]).__name__ or cfg.task._name
    for name, value in model.state_dict().items():
        assert torch.equal(value, expected["model"][name])
    saved = vars(expected["cfg"]["model"])
    for name in declared_options(type(model)):
        if name in saved:
            assert getattr(cfg.model, name) == saved[name], name
    for name, value in expected["cfg"]["task"].items():
        assert cfg.task[name] == value, name
    assert cfg.criterion == expected["cfg"]["criterion"]


def test_options_that_came_and_went_since_are_no_obstacle(pristine, tmp_path):
    """Checkpoints of earlier versions."""
    state = copy.deepcopy(pristine[0])
    for name in ("task", "model"):
        section(state, name).update(former_text="x", former_number=3, former_list=[1])
    for name in {"seed", "required_seq_len_multiple", "no_separator", "num_batch_buckets"}:
        section(state, "task").pop(name, None)
    _, _, task = ensemble(save(tmp_path / "earlier.pt", state))
    assert task.cfg.required_seq_len_multiple == 1


ARCHITECTURES = [name for name in ARCH_MODEL_REGISTRY if modules_of(ARCH_MODEL_REGISTRY[name]) <= ALLOWED]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_an_architecture_sets_is_kept_or_set_again(arch):
    """Text that is not declared is left out of a checkpoint."""
    first, again = argparse.Namespace(), argparse.Namespace()
    ARCH_CONFIG_REGISTRY[arch](first)
    vars(again).update(checked_options(declared_options(ARCH_MODEL_REGISTRY[arch]), vars(first)))
    ARCH_CONFIG_REGISTRY[arch](again)
    assert again == first


@pytest.mark.parametrize("store", ["x", {"encoder": 3}, {"dimension": "1"}, {"tags": [1]}, {"more": 1}])
def test_facts_of_the_store_are_checked(store, monkeypatch):
    monkeypatch.setattr(folder_symbols, "known_symbols", lambda task: {})
    task = MetadataContextTask.__new__(MetadataContextTask)
    with pytest.raises(BadInput, match="the checkpoint's context store"):
        task.load_state_dict({"context": {}, "store": store})


@pytest.mark.parametrize("text", ["[4, 8]", "4,8", [4, 8], (4, 8), " 4 , 8 "])
def test_cut_offs_may_be_numbers_in_text(tmp_path, text):
    cutoffs = (
        "--criterion",
        "adaptive_loss",
        "--adaptive-softmax-cutoff",
        "4,8",
        "--ddp-backend",
        "legacy_ddp",
    )
    state, _ = trained(tmp_path, *cutoffs, arch="transformer")
    section(state, "model")["adaptive_softmax_cutoff"] = text
    (model,), _, _ = ensemble(save(tmp_path / "good.pt", state))
    assert model.decoder.adaptive_softmax.cutoff == [4, 8, 16]


@pytest.mark.parametrize("text", [f"1{' ' * 2500}x", "9" * 5000])
def test_blanks_and_digits_in_a_list_take_no_cubic_time(text):
    begin = time.process_time()
    with pytest.raises(WrongValue, match="a list"):
        Option((int,), several=True).checked("update_freq", text)
    assert time.process_time() - begin < 5


def test_layers_to_keep_stay_text(tmp_path):
    state, _ = trained(tmp_path, "--encoder-layers", "3", arch="transformer")
    section(state, "model").update(encoder_layers_to_keep="0,2", decoder_layers_to_keep="0")
    (model,), _, _ = ensemble(save(tmp_path / "good.pt", state))
    assert len(model.encoder.layers) == 2
