"""Attention maps against a plain computation from each sentence encoded alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.attention_map import attention_map
from ctxmt_fairseq.analysis.captured_weights import context_attentions
from ctxmt_fairseq.analysis.passage import given_passage
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import PREVIOUS_SOURCE
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask
from tests.helpers.analysed_models import POSITIONS, encode, loaded_model
from tests.unit.models.test_shortening import softmax

GATED, ENCODER = "gated_context_transformer", "context_encoder_transformer"
DUAL, CACHING = "dual_encoder_transformer", "caching_transformer"
PASSAGE = given_passage("▁It ▁was ▁beat ing !", ["▁a , ▁heart .", "▁It ▁was"])
TARGET = "▁Il ▁bat ."
FIRST, SECOND, CURRENT = (sentence.split() for sentence in PASSAGE.sentences)
BOTH = {"source_context": 2}


def rows_of(tokens):
    """Two sentences as the context of one row."""
    index, lengths = np.array([[0, 1]]), tokens.ne(1).sum(1).numpy()
    return {
        "tokens": tokens,
        "index": torch.from_numpy(index),
        "sizes": ContextSizes(index, np.array([len(CURRENT) + 1]), lengths),
    }


def states(encoder, tokens):
    """(L, D) of one sentence alone."""
    return encoder(tokens[None])["encoder_out"][0][:, 0]


def vectors(loaded, side_by_side):
    """(K, D): what the attention sees of [(tokens, distance), ...]."""
    (model,) = loaded.models
    encoder = model.encoder
    if model.args.arch.startswith(CACHING):
        rows = []
        for tokens, distance in side_by_side:
            full = states(encoder, tokens)[None]
            short, _ = encoder.context_shortening(full, torch.zeros(full.shape[:2], dtype=torch.bool))
            here = torch.tensor([[distance]]), torch.tensor([[PREVIOUS_SOURCE]])
            rows.append(encoder.context_embeddings(short[None], *here)[0, 0])
        return torch.cat(rows)
    return torch.cat([states(encoder.context_encoder or encoder, tokens) for tokens, _ in side_by_side])


def plain_weights(attention, query, keys):
    """(T, K), averaged over heads, of queries (T, D) and keys (K, D) in NumPy."""
    parts = {name: value.double().numpy() for name, value in attention.state_dict().items()}

    def project(name, values):
        values = values.double().numpy() @ parts[f"{name}.weight"].T + parts[f"{name}.bias"]
        return np.split(values, attention.num_heads, axis=1)

    heads = zip(project("q_proj", query), project("k_proj", keys), strict=True)
    scale = np.sqrt(attention.head_dim)
    return np.mean([[softmax(row @ k.T / scale) for row in q] for q, k in heads], axis=0)


@pytest.fixture
def queries(monkeypatch):
    """What the attentions were asked, in the order of the calls: (module, (T, D))."""
    from ctxmt_fairseq.models.blocks.context_attention import ContextAttention

    asked, forward = [], ContextAttention.forward

    def spy(self, query, *args, **kwargs):
        if query.size(1) == 1:  # not the beams of the search
            asked.append((self, query[:, 0]))
        return forward(self, query, *args, **kwargs)

    monkeypatch.setattr(ContextAttention, "forward", spy)
    return asked


CASES = {
    "gated": (GATED, {}, "encoder", 2),
    "context encoder": (ENCODER, {}, "encoder", 1),
    "context encoder's last": (ENCODER, {"context_layers": 2}, "encoder", None),
    "context encoder, decoder": (ENCODER, {}, "decoder", 2),
    "dual": (DUAL, {"context_fusion": "hierarchical"}, None, None),
    "dual with token": (DUAL, {"context_encoder": "shared-token"}, None, 1),
    "caching tokens": (CACHING, {}, None, None),
    "caching groups": (CACHING, {"shortening": "group", "shortening_size": 3}, None, 1),
    "caching sentences": (CACHING, {"shortening": "sentence", "current_in_context": "no"}, None, None),
    "caching pooled": (CACHING, {"shortening": "max", "shortening_size": 2}, None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_map_is_that_of_sentences_encoded_alone(case, queries):
    arch, options, side, layer = CASES[case]
    loaded = loaded_model(arch, BOTH, **options)
    (model,) = loaded.models
    decoder = side != "encoder"
    shown = attention_map(loaded, PASSAGE, side, layer, TARGET if decoder else None)

    (chosen,) = {
        module
        for name in ("encoder", "decoder")
        for number, module in context_attentions(model, name).items()
        if (name, number) == ("decoder" if decoder else "encoder", layer or 2)
    }
    (query,) = [asked for module, asked in queries if module is chosen]
    bos = ["<s>"] if model.context_format.bos else []
    sentences = [([*bos, *words, "</s>"], distance) for words, distance in ((FIRST, 2), (SECOND, 1))]
    if getattr(model.encoder, "current_in_context", False):
        sentences.append(([*CURRENT, "</s>"], 0))
    with torch.no_grad():
        keys = vectors(loaded, [(encode(loaded, *words), distance) for words, distance in sentences])
    expected = plain_weights(chosen.attention, query, keys)
    np.testing.assert_allclose(shown.map.values, expected, atol=1e-5)
    np.testing.assert_allclose(shown.map.values.sum(1), 1, atol=1e-6)
    # A wrong order of columns or rows would show.
    assert np.ptp(expected, axis=1).min() > 0.01 and np.ptp(expected, axis=0).max() > 0.01
    assert shown.map.rows == [*(TARGET.split() if decoder else CURRENT), "<eos>"]
    assert shown.words == ([True, True, False, False] if decoder else [True] * 4 + [False, False])
    assert sum(width for _, width in shown.map.sections) == len(shown.map.columns) == len(keys)
    assert not chosen.attention._forward_hooks and not chosen.attention._forward_pre_hooks


@pytest.mark.parametrize("side, layer", [(None, None), ("encoder", 1)])
def test_windows_are_drawn_with_their_borders(side, layer):
    """concat_transformer: its decoder looks at the source window, its encoder at the window itself."""
    context = {"source_context": 2, "source_context_after": 1, "target_context": 1}
    windows = (DocumentWindowTask, DocumentWindowConfig)
    loaded = loaded_model("concat_transformer", context, task=windows)
    (model,) = loaded.models
    passage = replace(given_passage(" ".join(CURRENT), [" ".join(FIRST), " ".join(SECOND)]), current=1)
    target = None if side else TARGET
    translator = DocumentTranslator(loaded, SearchSettings(beam=4), width=1)
    if not side:
        sources = [loaded.encode_source(text) for text in passage.sentences]
        running = translator.running(sources, passage.documents)
        list(translator.translate(running, [0]))
        before = running.targets[0][:-1].tolist()
    window = encode(loaded, *FIRST, "<sep>", *SECOND, "<sep>", *CURRENT, "</s>")
    chosen = model.encoder.layers[0].self_attn if side else model.decoder.layers[1].encoder_attn
    asked = []
    hook = chosen.register_forward_pre_hook(
        lambda module, args, kwargs: asked.append(kwargs), with_kwargs=True
    )
    shown = attention_map(loaded, passage, side, layer, target)
    hook.remove()
    query, key = (asked[-1][name][:, 0] for name in ("query", "key"))
    rows = (
        slice(len(FIRST) + 1, len(FIRST) + len(SECOND) + 2) if side else slice(-len(TARGET.split()) - 1, None)
    )
    if not side:
        assert len(query) == len(before) + 1 + len(TARGET.split()) + 1
        with torch.no_grad():
            torch.testing.assert_close(key, states(model.encoder, window))
    expected = plain_weights(chosen, query[rows], key)
    np.testing.assert_allclose(shown.map.values, expected, atol=1e-5)
    assert shown.map.rows == ([*SECOND, "<sep>"] if side else [*TARGET.split(), "<eos>"])
    assert shown.map.columns == [*FIRST, "<sep>", *SECOND, "<sep>", *CURRENT, "<eos>"]
    assert shown.map.sections == [("source −1", 5), ("current", 3), ("source +1", 6)]
    words = [*(name.startswith("▁") and name[1:].isalpha() for name in FIRST), False, *[False] * 3]
    assert shown.context_words == [*words, True, True, True, True, False, False]


def test_useful_mass_is_that_of_words():
    shown = attention_map(loaded_model(GATED, BOTH), PASSAGE)
    values = shown.map.values
    assert shown.map.columns == "<bos> ▁a , ▁heart . <eos> <bos> ▁It ▁was <eos>".split()
    assert shown.map.sections == [("source −2", 6), ("source −1", 4)]
    expected = values[:, 1] + values[:, 3] + values[:, 7] + values[:, 8]
    np.testing.assert_allclose(shown.useful, expected)
    assert shown.mean_useful == pytest.approx(expected[:4].mean())  # not of ! and <eos>
    assert shown.as_dict()["useful"] == shown.useful.tolist()
    table = shown.table().splitlines()
    best = [1, 3, 7, 8][values[2][[1, 3, 7, 8]].argmax()]
    sentence = "−1" if best > 5 else "−2"
    expected = [f"{expected[2]:.3f}", shown.map.columns[best], "source", sentence, f"{values[2, best]:.3f}"]
    assert table[4].split() == ["▁beat", *expected]
    no_words = attention_map(loaded_model(GATED, BOTH), given_passage("▁It", [". !"]))
    assert no_words.mean_useful == 0
    assert [line.split()[1:] for line in no_words.table().splitlines()[2:]] == [["0.000", *"---"]] * 2


def test_tokens_of_languages_are_no_words():
    """As in attended_sentences: nobody wrote them."""
    context = {"source_context": 1}
    windows = (DocumentWindowTask, DocumentWindowConfig)
    for loaded in (loaded_model(GATED, context), loaded_model("concat_transformer", context, task=windows)):
        loaded.source_subwords.token = loaded.target_subwords.token = "▁un"
        shown = attention_map(loaded, PASSAGE, "encoder")
        names, words = shown.map.columns, shown.context_words
        assert "▁un" in names and not any(words[at] for at, name in enumerate(names) if name == "▁un")
        assert "▁un" in shown.map.rows and not shown.words[shown.map.rows.index("▁un")]


def test_vectors_of_several_tokens_are_neither_useful_nor_not():
    pooled = {"shortening": "mean", "shortening_size": 3, "current_in_context": "yes"}
    shown = attention_map(loaded_model(CACHING, BOTH, **pooled), PASSAGE, target=TARGET)
    assert shown.map.columns == [
        "▁a , ▁heart", ". <eos>", "▁It ▁was <eos>", "▁It ▁was ▁beat", "ing ! <eos>",
    ]  # fmt: skip
    assert [width for _, width in shown.map.sections] == [2, 1, 2]
    assert shown.map.sections[-1][0] == "current"
    assert shown.useful is None and shown.mean_useful is None
    assert [line.split()[1] for line in shown.table().splitlines()[2:]] == ["-"] * 4
    groups = attention_map(loaded_model(CACHING, BOTH, shortening="select"), PASSAGE, target=TARGET)
    assert groups.map.columns[:11] == [*(f"group {number}" for number in range(1, 11)), "group 1"]


def test_following_target_side_and_joined_sentences_are_named():
    task = {"source_context": 1, "source_context_after": 1, "target_context_on_source": 1}
    shown = attention_map(loaded_model(GATED, task), replace(PASSAGE, current=1))
    names = [name for name, _ in shown.map.sections]
    assert names == ["target −1", "source −1", "source +1"]
    assert shown.map.columns[-len(CURRENT) - 2 :] == ["<bos>", *CURRENT, "<eos>"]
    joined = attention_map(loaded_model(DUAL, BOTH, context_layout="joined"), PASSAGE, target=TARGET)
    assert joined.map.columns == [*FIRST, "<sep>", *SECOND, "<eos>"]
    assert joined.map.sections == [("context", 8)] and joined.context_words[4] is False


@pytest.mark.parametrize(
    ("context", "names"),
    [
        ({"source_context": 1, "target_context_on_source": 2}, "target −2, target −1, source −1, current"),
        ({"source_context": 2, "context_selection": "swapped"}, "current, source −2, source −1"),
        ({"source_context": 1, "context_selection": "reference"}, "reference, current"),
        ({"source_context": 2, "no_separator": True}, "context, current"),
        ({"source_context_after": 1, "context_end": "eos"}, "context, current"),
    ],
)
def test_sentences_of_windows_are_named_by_what_they_are(context, names):
    windows = (DocumentWindowTask, DocumentWindowConfig)
    shown = attention_map(loaded_model("concat_transformer", context, task=windows), PASSAGE)
    assert ", ".join(name for name, _ in shown.map.sections) == names
    assert sum(width for _, width in shown.map.sections) == len(shown.map.columns)


def test_rows_are_the_current_sentence_after_forced_target_context(queries):
    loaded = loaded_model(DUAL, {**BOTH, "target_context": 1})
    (model,) = loaded.models
    before = attention_map(loaded, replace(PASSAGE, current=1)).map.rows  # its own translation
    shown = attention_map(loaded, PASSAGE, target=TARGET)
    assert shown.map.rows == [*TARGET.split(), "<eos>"]

    prefix = [word.replace("<bos>", "<s>").replace("<eos>", "<sep>") for word in before]
    contexts = [encode(loaded, *words, "</s>") for words in (FIRST, SECOND)]
    padded = torch.nn.utils.rnn.pad_sequence(contexts, batch_first=True, padding_value=1)
    with torch.no_grad():
        out = model.encoder(encode(loaded, *CURRENT, "</s>")[None], context=rows_of(padded))
        model.decoder(encode(loaded, "</s>", *prefix, *TARGET.split())[None], encoder_out=out)
    (*_, (_, query), _, (module, plain)) = queries
    torch.testing.assert_close(query, plain)
    assert module is model.decoder.layers[-1].context_attn and len(query) == len(before) + 4
    keys = vectors(loaded, [(tokens, 0) for tokens in contexts]).detach()
    np.testing.assert_allclose(shown.map.values, plain_weights(module.attention, query, keys)[-4:], atol=1e-5)


@pytest.mark.parametrize("arch", [DUAL, CACHING])
def test_the_default_translation_is_the_models_own(arch):
    loaded = loaded_model(arch, BOTH)
    own = attention_map(loaded, PASSAGE)
    assert own.map.row_name == "translation" and own.map.rows[-1] == "<eos>" and len(own.map.rows) > 1
    text = " ".join(own.map.rows[:-1]).replace("<bos>", "<s>")  # an untrained model says anything
    given = attention_map(loaded, PASSAGE, target=text)
    np.testing.assert_allclose(given.map.values, own.map.values, atol=1e-6)
    assert attention_map(loaded, PASSAGE, target=TARGET).map.rows != own.map.rows


def test_pads_of_the_batch_do_not_show():
    padded = loaded_model(GATED, {**BOTH, "required_seq_len_multiple": 8})
    plain = loaded_model(GATED, BOTH)
    for left in (True, False):
        padded.task.cfg.left_pad_source = left
        expected, found = (attention_map(loaded, PASSAGE).map.values for loaded in (plain, padded))
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_reference_as_context():
    loaded = loaded_model(GATED, {**BOTH, "context_selection": "reference"})
    assert attention_map(loaded, PASSAGE, target=TARGET).map.columns == [
        "<bos>",
        *TARGET.split(),
        "<eos>",
    ]
    assert attention_map(loaded, PASSAGE, target=TARGET).map.sections == [("reference", 5)]


@pytest.mark.parametrize(
    ("arch", "options", "arguments", "message"),
    [
        (DUAL, {"context_fusion": "flat"}, {}, "context alone.*dual.* with --context-fusion flat"),
        ("context_gru", {}, {}, "context alone.*, found context_gru$"),
        (DUAL, {}, {"side": "encoder"}, "--side encoder: expected decoder"),
        (GATED, {}, {"layer": 1}, "--layer 1: expected one of 2 for the encoder"),
        (ENCODER, {}, {"layer": 0}, "--layer 0: expected one of 1, 2"),
        (ENCODER, {}, {"target": TARGET}, "--target: leave it out"),
        (GATED, {}, {"passage": given_passage("▁It")}, "has no context that the model reads"),
        (DUAL, {}, {"target": "▁Il " * POSITIONS}, "translation of at most 60 tokens, found 61"),
    ],
)
def test_bad_input(arch, options, arguments, message):
    arguments = {"passage": PASSAGE, **arguments}
    with pytest.raises(BadInput, match=message):
        attention_map(loaded_model(arch, {} if arch == "context_gru" else BOTH, **options), **arguments)
