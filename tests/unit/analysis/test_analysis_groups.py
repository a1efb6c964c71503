"""Tokens in groups against equation 3, and the text of analyses."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.group_use import token_groups, used_groups
from ctxmt_fairseq.analysis.passage import given_passage, read_passage
from ctxmt_fairseq.analysis.tokens import describe, has_letters
from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.analysed_models import POSITIONS, encode, loaded_model
from tests.unit.models.test_shortening import equation_3

SENTENCE = "▁It ▁was ▁a ▁beat ing ▁heart ."
CONTEXT = {"source_context": 1}


@pytest.mark.parametrize("kind", ["group", "select"])
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_the_map_is_equation_3(kind, activation):
    options = {"shortening": kind, "shortening_size": 4, "shortening_activation": activation}
    loaded = loaded_model("caching_transformer", CONTEXT, **options)
    (model,) = loaded.models
    shown = token_groups(loaded, SENTENCE)
    with torch.no_grad():
        out = model.encoder(encode(loaded, *SENTENCE.split(), "</s>")[None])
    weights = {
        name: value.double().numpy() for name, value in model.encoder.context_shortening.state_dict().items()
    }
    states = out["encoder_out"][0][:, 0].double().numpy()
    np.testing.assert_allclose(shown.values, equation_3(states, kind, activation, weights), atol=1e-4)
    np.testing.assert_allclose(shown.values.sum(1 if kind == "group" else 0), 1, atol=1e-6)
    assert shown.rows == [*SENTENCE.split(), "<eos>"] and shown.columns == ["1", "2", "3", "4"]
    assert used_groups(shown.values) == sum(any(column) for column in shown.values.T)


def test_models_without_groups_and_long_sentences_are_refused():
    for arch, context, options, found in (
        (
            "caching_transformer",
            CONTEXT,
            {"shortening": "mean"},
            "caching_transformer with --shortening mean",
        ),
        ("transformer", {}, {}, "transformer$"),
        ("gated_context_transformer", CONTEXT, {}, "gated_context_transformer$"),
    ):
        with pytest.raises(BadInput, match=f"with --shortening group or select, found {found}"):
            token_groups(loaded_model(arch, context, **options), SENTENCE)
    with pytest.raises(BadInput, match="at most 60 tokens, found 61"):
        token_groups(loaded_model("caching_transformer", CONTEXT, shortening="group"), "▁It " * POSITIONS)


@pytest.mark.parametrize("text", ["▁It", "ing", "'s", "3", "ि", "▁été", "中"])
def test_words(text):
    assert has_letters(text)


@pytest.mark.parametrize("text", ["▁", ".", "▁—", "...", "♪", "▁«", "$", "。"])
def test_no_words(text):
    assert not has_letters(text)


def test_special_symbols_are_no_words():
    loaded = loaded_model("gated_context_transformer", CONTEXT)
    tokens = encode(loaded, "<pad>", "<s>", "▁It", "<mask>", "never seen", "<sep>", "</s>", "<pad>")
    found = describe(loaded.task.source_dictionary, tokens)
    assert [token.label for token in found] == ["<bos>", "▁It", "<mask>", "<unk>", "<sep>", "<eos>"]
    assert [token.word for token in found] == [False, True, False, True, False, False]


def test_passages(tmp_path):
    path = tmp_path / "text"
    path.write_text("\na\nb\n\n\nc\nd\ne\n")
    for line, sentences, current in (
        (2, "ab", 0),
        (3, "ab", 1),
        (6, "cde", 0),
        (8, "cde", 2),
        (None, "cde", 2),
    ):
        passage = read_passage(path, line)
        assert ("".join(passage.sentences), passage.current) == (sentences, current)
        assert passage.documents.starts.tolist() == [0, len(sentences)]
    for line in (0, 1, 4, 9):
        with pytest.raises(BadInput, match=f"text:{line}: this line has no sentence"):
            read_passage(path, line)
    path.write_text("\n")
    with pytest.raises(BadInput, match="the file has no sentence"):
        read_passage(path)
    assert given_passage("b", ["a"]).current == 1
    for sentence, context, message in (("  ", (), "sentence is empty"),):
        with pytest.raises(BadInput, match=message):
            given_passage(sentence, context)
