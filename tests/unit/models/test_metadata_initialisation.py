"""Models for ``metadata_context`` that start from a sentence-level one."""

from types import SimpleNamespace

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.initialisation import load_sentence_model
from tests.helpers.metadata_models import CASES, REACH, TASK, batch_of, make
from tests.helpers.random_models import (
    build_random,
    check_whole_after_a_step,
    logits,
    saved,
    stock_model,
)

every_case = pytest.mark.parametrize("case", CASES)


def stock_of(case):
    """A stock model of a case's size."""
    norms = {name: value for name, value in CASES[case][1].items() if name.endswith("normalize_before")}
    return stock_model(**norms)


# The program's decoder normalises queries and keys, which a sentence-level model does not.
@pytest.mark.parametrize("case", [case for case in CASES if case != "mtcue as its program"])
def test_the_sentence_model_is_whole_before_and_after_a_step(case, tmp_path):
    stock, model = stock_of(case), make(case, seed=2, train_context_only=True)
    load_sentence_model(model, saved(stock, tmp_path / "sentence.pt"))
    absent, present = batch_of(model, absent=True), batch_of(model)
    check_whole_after_a_step(model, stock, absent, present)


@every_case
def test_what_is_new_is_trained_and_nothing_else(case):
    stock = {name for name, _ in stock_of(case).named_parameters()}
    model = make(case, train_context_only=True)
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    everything = {name for name, _ in model.named_parameters()}
    assert stock < everything and trained == everything - stock
    assert all(parameter.requires_grad for parameter in make(case).parameters())


@every_case
def test_what_was_taken_over_is_said(case, tmp_path, caplog):
    stock, model = stock_of(case), make(case)
    with caplog.at_level("INFO", "ctxmt_fairseq.models.initialisation"):
        load_sentence_model(model, saved(stock, tmp_path / "sentence.pt"))
    own = {name for name, _ in model.named_parameters()} - stock.state_dict().keys()
    assert f": {len(own)} parameters new: {', '.join(sorted(own))}\n" in caplog.text
    assert ": 0 parameters not used: none" in caplog.text
    assert f": {len(stock.state_dict())} parameters taken over" in caplog.text
    for name, value in stock.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)


@pytest.mark.parametrize("case", ["mtcue", "cue", "tagging"])
def test_a_sentence_model_of_another_size_is_refused(case, tmp_path):
    for options, message in (
        ({"encoder_layers": 1}, "--encoder-layers: the checkpoint has 1, --arch .* has 2"),
        ({"encoder_ffn_embed_dim": 128}, "--encoder-ffn-embed-dim: the checkpoint has 128"),
    ):
        path = saved(stock_model(**options), tmp_path / "sentence.pt")
        with pytest.raises(BadInput, match=message):
            load_sentence_model(make(case), path)


@pytest.mark.parametrize("case", ["mtcue", "cue"])
def test_a_start_from_a_model_with_more_previous_sentences(case, tmp_path):
    path = saved(make(case), tmp_path / "model.pt")
    fewer = SimpleNamespace(**{**vars(TASK), "context_options": lambda: SimpleNamespace(source_context=0)})
    arch = f"{CASES[case][0]}_tiny"
    with pytest.raises(BadInput, match="distance_embeddings.weight: expected the shape"):
        load_sentence_model(build_random(arch, fewer), path)
    model = build_random(arch, fewer, seed=2, farthest_context=REACH)
    load_sentence_model(model, path)
    assert torch.equal(logits(model, batch_of(model)), logits(make(case), batch_of(model)))
