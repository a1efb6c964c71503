"""The vectors of contexts before and after the context encoder."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.context_space import METADATA, PREVIOUS, check_distance, context_space
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.vectors.sentence_contexts import contexts_of
from ctxmt_fairseq.vectors.text_encoders import DiscreteEncoder
from tests.helpers.metadata_models import VECTOR_DIM, make
from tests.helpers.numpy_layers import array, feed_forward, layer_norm, linear, sublayer
from tests.helpers.random_models import stock_model
from tests.helpers.window_datasets import sentences

TEXTS = ["Formal conversation", "Informal chit-chat", "Drama, Family", "PG rating: R", "中文"]
CASES = ("mtcue", "mtcue pre-norm", "mtcue no encoder", "mtcue no positions", "cue", "cue no QK-norm")


class ShortEncoder(DiscreteEncoder):
    """Discrete vectors, as short as the tests' models want them."""

    dimension = VECTOR_DIM

    def encode(self, texts):
        return np.ascontiguousarray(super().encode(texts)[:, :VECTOR_DIM])


def loaded(model):
    task = SimpleNamespace(
        contexts_of=lambda texts, values, device: contexts_of(ShortEncoder(), texts, values)
    )
    return LoadedModels([model], task, torch.device("cpu"), Subwords(), Subwords())


def own_value(attention, x):
    """Attention to nothing but itself: whatever the query and key."""
    return linear(attention.out_proj, linear(attention.v_proj, x))


def alone(encoder, vector, distance, pre_norm):
    """The context encoder on one vector."""
    x = linear(encoder.projection, vector)
    if distance > 0 and encoder.distance_embeddings is not None:
        x = x + array(encoder.distance_embeddings.weight)[distance]
    for layer in encoder.layers:
        x = sublayer(x, layer.self_attn_layer_norm, partial(own_value, layer.self_attn), pre_norm)
        x = sublayer(x, layer.final_layer_norm, partial(feed_forward, layer), pre_norm)
    return layer_norm(encoder.layer_norm, x) if pre_norm else x


@pytest.mark.parametrize("distance", [METADATA, PREVIOUS])
@pytest.mark.parametrize("case", CASES)
def test_before_and_after_the_context_encoder(case, distance):
    model = make(case)
    space = context_space(loaded(model), TEXTS, distance)
    np.testing.assert_array_equal(space.before, ShortEncoder().encode(TEXTS))
    encoder = model.encoder.context_encoder
    expected = [alone(encoder, vector, distance, "pre-norm" in case) for vector in space.before]
    assert space.after.shape == (len(TEXTS), 128) and space.after.dtype == np.float32
    np.testing.assert_allclose(space.after, expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(("case", "entry"), [("mtcue", "context_states"), ("cue", "encoder_out")])
def test_after_is_what_the_decoder_sees_of_a_sentence_with_this_context_alone(case, entry):
    model = make(case)
    space = context_space(loaded(model), TEXTS)
    (source,) = sentences(1, 4)
    with torch.no_grad():
        out = model.encoder(
            source[None],
            torch.tensor([len(source)]),
            context={
                "vectors": torch.from_numpy(space.before[:1])[None],
                "distances": torch.tensor([[METADATA]]),
            },
        )
    seen = out[entry][0][0, 0] if case == "mtcue" else out[entry][0][-1, 0]
    np.testing.assert_allclose(space.after[0], seen.numpy(), atol=1e-5)


def test_many_texts_give_what_each_gives(monkeypatch):
    monkeypatch.setattr("ctxmt_fairseq.analysis.context_space._BATCH", 2)
    model = loaded(make())
    space = context_space(model, TEXTS)
    for number, text in enumerate(TEXTS):
        single = context_space(model, [text])
        np.testing.assert_array_equal(single.before[0], space.before[number])
        np.testing.assert_allclose(single.after[0], space.after[number], atol=1e-5)


def test_metadata_and_sentences_in_one_space():
    model = loaded(make())
    places = [METADATA, PREVIOUS, PREVIOUS, METADATA][: len(TEXTS)]
    space = context_space(model, TEXTS[: len(places)], places)
    for text, place, vector in zip(TEXTS, places, space.after, strict=False):
        np.testing.assert_allclose(vector, context_space(model, [text], place).after[0], atol=1e-5)
    assert not np.allclose(space.after, context_space(model, TEXTS[: len(places)]).after)


def test_models_without_context_encoder_are_refused():
    for model, name in ((make("tagging"), "tagging_transformer"), (stock_model(), "transformer")):
        with pytest.raises(BadInput, match=rf"mtcue_transformer or cue_transformer\), found {name}$"):
            context_space(loaded(model), TEXTS)


def test_previous_sentences_are_refused_by_a_model_that_never_saw_one():
    model = make(farthest_context=0)
    check_distance(model, METADATA)
    with pytest.raises(BadInput, match="--sentences: mtcue_transformer was trained without previous"):
        context_space(loaded(model), TEXTS, PREVIOUS)
    check_distance(make(farthest_context=0, context_positions="no"), PREVIOUS)
