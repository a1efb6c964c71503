"""What a checkpoint may name, by crafted ones that would run code or open files."""

import os
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.masked_lm import MaskedLMModel

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED
from ctxmt_fairseq.checkpoints.averaging import Checkpoint
from ctxmt_fairseq.checkpoints.reading import load_checkpoint_to_cpu, read, restoring
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.hostile_checkpoints import ensemble, fairseqs_own, payload, refused, unharmed
from tests.helpers.saved_models import begun, named, save, section

pytestmark = pytest.mark.usefixtures("nothing_ran")


def test_the_payload_works(tmp_path):
    """Else no test here could fail."""
    eval(payload(tmp_path))
    assert not unharmed(tmp_path)
    os.rmdir(tmp_path / "victim")


# ---- what may be named

FOREIGN = [
    ("fconv", "encoder_layers"), ("fconv_self_att_wp", "pretrained"), ("transformer_lm", "character_filters"),
    ("wav2vec2", "conv_feature_layers"), ("transformer_ulm", None), ("transformer_from_pretrained_xlm", None),
    ("no_such_model", None),
]  # fmt: skip


@pytest.mark.parametrize("arch, evaluated", FOREIGN, ids=[arch for arch, _ in FOREIGN])
def test_other_architectures_are_refused(state, tmp_path, arch, evaluated):
    named(state, "model", arch)
    if evaluated:
        section(state, "model")[evaluated] = payload(tmp_path)
    refusal = "fairseq runs what" if arch.startswith("fconv") else "expected"
    assert f"--arch {arch}: {refusal}" in refused(state, tmp_path).replace("'", "")


@pytest.mark.parametrize(
    "arch, evaluated", [("lstm", "adaptive_softmax_cutoff"), ("lightconv", "decoder_kernel_size_list")]
)
def test_what_allowed_architectures_evaluate_is_numbers(state, tmp_path, arch, evaluated):
    section(named(state, "model", arch), "model")[evaluated] = payload(tmp_path)
    assert f"--{evaluated.replace('_', '-')}: expected" in refused(state, tmp_path)


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
    path = save(tmp_path / "more.pt", named(state, "model", "xlm_base"))
    allowed = ALLOWED | {"fairseq.models.masked_lm"}
    assert vars(read(path, allowed)["cfg"]["model"])["_name"] == "xlm_base"


def test_training_may_go_on_from_what_its_own_command_line_names(state, tmp_path):
    path = save(tmp_path / "xlm.pt", named(state, "model", "xlm_base"))
    trainer = SimpleNamespace(
        _model=MaskedLMModel.__new__(MaskedLMModel), load_checkpoint=load_checkpoint_to_cpu
    )
    with restoring(trainer):
        assert trainer.load_checkpoint(path)["model"]
    trainer._model = None
    for context in (restoring(trainer), nullcontext()):
        with context, pytest.raises(BadInput, match="--arch xlm_base: expected"):
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


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("given", ["", "--encoder-attention-heads 1", "--activation-fn gelu"])
def test_a_training_takes_over_what_computes_the_same(pristine, tmp_path, given, goes_on):
    """These options show in no parameter's shape."""
    state = pristine[0]
    path = save(tmp_path / "model.pt", state)
    trainer, args = begun(tmp_path, *given.split(), arch=section(state, "model")["arch"])
    trainer.load_checkpoint = load_checkpoint_to_cpu
    message = given.replace(" ", f": the checkpoint has .*, --arch {args.arch} has ")
    with restoring(trainer, goes_on), pytest.raises(BadInput, match=message) if given else nullcontext():
        trainer.load_checkpoint(path)


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
