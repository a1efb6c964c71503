"""What a checkpoint may name and say, by crafted ones that would run code or open files."""

import argparse
import copy
import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from fairseq.models.lstm import LSTMModel

from ctxmt_fairseq.checkpoint_options import checked_options, declared_options
from ctxmt_fairseq.checkpoint_rules import ALLOWED, modules_of
from ctxmt_fairseq.checkpoints import Checkpoint
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.models.initialisation import load_sentence_model
from ctxmt_fairseq.safe_checkpoints import load_checkpoint_to_cpu, load_ensemble, read, restoring
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask
from tests.unit.saved_models import as_old, named, save, section, trained

PAIRS = [("concat_transformer", "document_window"), ("transformer", "translation")]


@pytest.fixture(scope="module", params=PAIRS, ids=[arch for arch, _ in PAIRS])
def pristine(request, tmp_path_factory):
    arch, task = request.param
    return trained(tmp_path_factory.mktemp("trained"), arch=arch, task=task)


@pytest.fixture(params=["cfg", "args"])
def state(request, pristine):
    """A good checkpoint of today and one of old, of a plugin's and a stock architecture, to be changed."""
    state, args = copy.deepcopy(pristine)
    return state if request.param == "cfg" else as_old(state, args)


def ensemble(path):
    return load_ensemble([str(path)])


def sentence_checkpoint(path):
    load_sentence_model(torch.nn.Linear(2, 2), str(path))


def fairseqs_own(path):
    """As fairseq-generate, -interactive and -validate load."""
    checkpoint_utils.load_model_ensemble([str(path)])


LOADING = [ensemble, load_checkpoint_to_cpu, load_models, Checkpoint.read, sentence_checkpoint, fairseqs_own]


def refused(state, folder, *loads):
    """The message with which every way of loading refuses a checkpoint."""
    path = save(folder / "hostile.pt", state)
    messages = set()
    for load in loads or LOADING:
        with pytest.raises(BadInput) as error:
            load(str(path) if load is load_models else Path(path))
        messages.add(str(error.value))
    (message,) = messages
    assert "\n" not in message and message.startswith(f"{path}: ")
    return message


def payload(folder):
    return f"__import__('os').mkdir({str(folder / 'victim')!r})"


def unharmed(folder):
    return not (folder / "victim").exists()


@pytest.fixture(autouse=True)
def nothing_ran(tmp_path):
    yield
    assert unharmed(tmp_path)


def test_the_payload_works(tmp_path):
    """Else no test here could fail."""
    eval(payload(tmp_path))
    assert not unharmed(tmp_path)
    os.rmdir(tmp_path / "victim")


# ---- what may be named

FOREIGN = [
    ("fconv", "encoder_layers"), ("fconv_self_att_wp", "pretrained"), ("lstm", "adaptive_softmax_cutoff"),
    ("lightconv", "decoder_kernel_size_list"), ("transformer_lm", "character_filters"),
    ("wav2vec2", "conv_feature_layers"), ("transformer_align", None), ("transformer_ulm", None),
    ("transformer_from_pretrained_xlm", None), ("no_such_model", None),
]  # fmt: skip


@pytest.mark.parametrize("arch, evaluated", FOREIGN, ids=[arch for arch, _ in FOREIGN])
def test_other_architectures_are_refused(state, tmp_path, arch, evaluated):
    named(state, "model", arch)
    if evaluated:
        section(state, "model")[evaluated] = payload(tmp_path)
    assert f"--arch {arch}: expected" in refused(state, tmp_path).replace("'", "")


@pytest.mark.parametrize("task", ["language_modeling", "audio_pretraining", "no_such_task"])
def test_other_tasks_are_refused(state, tmp_path, task):
    named(state, "task", task)
    message = refused(state, tmp_path, ensemble, load_checkpoint_to_cpu, load_models, Checkpoint.read)
    assert f"--task {task}: expected" in message.replace("'", "")


def test_other_criterions_are_refused_where_they_are_built(state, tmp_path):
    """fairseq-validate builds the checkpoint's criterion, and ctc evaluates wer_args."""
    named(state, "criterion", "ctc")
    section(state, "criterion")["wer_args"] = payload(tmp_path)
    assert "--criterion ctc: expected" in refused(
        state, tmp_path, ensemble, load_checkpoint_to_cpu, fairseqs_own
    )
    assert "criterion" not in read(tmp_path / "hostile.pt", sections=("task", "model"))["cfg"]


def test_a_caller_may_admit_more(state, tmp_path):
    path = save(tmp_path / "more.pt", named(state, "model", "transformer_align"))
    allowed = ALLOWED | {"fairseq.models.transformer_align"}
    assert vars(read(path, allowed)["cfg"]["model"])["_name"] == "transformer_align"


def test_training_may_go_on_from_what_its_own_command_line_names(state, tmp_path):
    path = save(tmp_path / "lstm.pt", named(state, "model", "lstm"))
    trainer = SimpleNamespace(_model=LSTMModel.__new__(LSTMModel), load_checkpoint=load_checkpoint_to_cpu)
    with restoring(trainer):
        assert trainer.load_checkpoint(path)["model"]
    trainer._model = None
    for context in (restoring(trainer), nullcontext()):
        with context, pytest.raises(BadInput, match="--arch lstm: expected"):
            trainer.load_checkpoint(path)


def test_a_restored_trainer_says_what_does_not_fit_in_one_line(state, tmp_path):
    """As fairseq does it: an exception about another one."""

    def load_checkpoint(path):
        try:
            torch.nn.Linear(2, 2).load_state_dict({"weight": torch.zeros(3)})
        except Exception:
            raise Exception(f"Cannot load model parameters from checkpoint {path}")  # noqa: B904

    trainer = SimpleNamespace(load_checkpoint=load_checkpoint)
    with restoring(trainer), pytest.raises(BadInput, match='^x.pt: .*Missing key.* "bias"'):
        trainer.load_checkpoint("x.pt")


def test_the_users_own_classes_may_be_named_but_not_what_they_borrow(state, tmp_path, monkeypatch):
    """As if --user-dir had registered them."""
    from fairseq.models import fconv, transformer

    own = type("Own", (transformer.TransformerModel,), {"__module__": "users_own"})
    borrowed = type("Borrowed", (fconv.FConvModel,), {"__module__": "users_own"})
    monkeypatch.setitem(ARCH_MODEL_REGISTRY, "own", own)
    monkeypatch.setitem(ARCH_MODEL_REGISTRY, "borrowed", borrowed)
    assert read(save(tmp_path / "own.pt", named(state, "model", "own")))
    section(state, "model")["encoder_layers"] = payload(tmp_path)
    assert "fairseq.models.fconv" in refused(named(state, "model", "borrowed"), tmp_path)


# ---- what the options may say

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
    """TransformerConfig takes names without their prefix, and whole sub-configurations, from a namespace."""
    hidden = {"xformers_att_config": payload(tmp_path)}
    section(state, "model").update(
        hidden, encoder=hidden, decoder=hidden, embed_path=str(tmp_path / "gone"), quant_noise={"pq": "1"}
    )
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
def test_facts_of_the_store_are_checked(store):
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


def test_layers_to_keep_stay_text(tmp_path):
    state, _ = trained(tmp_path, "--encoder-layers", "3", arch="transformer")
    section(state, "model").update(encoder_layers_to_keep="0,2", decoder_layers_to_keep="0")
    (model,), _, _ = ensemble(save(tmp_path / "good.pt", state))
    assert len(model.encoder.layers) == 2


# ---- what is no checkpoint, or not one of this model


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
