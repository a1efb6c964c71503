"""Attention over a text against the map of every sentence alone, and what is counted of it."""

import json

import numpy as np
import pytest

from ctxmt_fairseq.analysis.attention_map import attention_map
from ctxmt_fairseq.analysis.passage import given_passage
from ctxmt_fairseq.analysis.text_attention import (
    AttendedSentence,
    ContextSentence,
    attended_sentences,
    read_words,
)
from ctxmt_fairseq.analysis.word_attention import word_attention
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.analysed_models import loaded_model
from tests.helpers.probed_models import TASKS, checkpoint, randomised, write_text

SOURCES = [
    "▁It ▁was ▁a ▁heart .", "▁It ▁beat !", "▁was ▁It , ▁a ing", "▁a ▁heart ▁heart", "▁It", "▁was ▁beat .",
]  # fmt: skip
TARGETS = ["▁Il ▁bat .", "▁un ▁coeur", "▁Il , ▁un", "▁coeur ▁bat ▁Il", "▁Il", "▁bat ▁un !"]
LENGTHS = [4, 2]
PUNCTUATION = {".", "!", ",", "<bos>", "<eos>"}


def text_of(loaded):
    """The text, of two documents."""
    tokens = (
        [loaded.encode_source(line) for line in SOURCES],
        [loaded.encode_target(line) for line in TARGETS],
    )
    documents = Documents.from_lengths(LENGTHS)
    return ProbedText(TARGETS, documents, np.arange(len(SOURCES)), *tokens, None, SOURCES, TARGETS)


CASES = {
    "gated": ("gated_context_transformer", {}, "encoder", None),
    "context encoder, first layer": ("context_encoder_transformer", {}, "encoder", 1),
    "context encoder's decoder": ("context_encoder_transformer", {}, "decoder", None),
    "dual": ("dual_encoder_transformer", {"context_fusion": "hierarchical"}, None, None),
    "caching": ("caching_transformer", {}, None, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_weights_are_those_of_each_sentence_alone(case):
    arch, options, side, layer = CASES[case]
    loaded = loaded_model(arch, {"source_context": 2}, **options)
    decoder = side != "encoder"
    found = {
        each.line: each for each in attended_sentences(loaded, text_of(loaded), side, layer, max_tokens=30)
    }
    assert sorted(found) == [1, 2, 3, 5]  # the first of a document has no context
    for line, sentence in found.items():
        first = max(line - 2, 0 if line < 4 else 4)
        passage = given_passage(SOURCES[line], SOURCES[first:line])
        shown = attention_map(loaded, passage, side, layer, TARGETS[line] if decoder else None).map
        rows = (TARGETS if decoder else SOURCES)[line].split()
        assert sentence.words.words == rows == shown.rows[:-1]
        assert [part.line for part in sentence.context] == list(range(first, line))
        start, useful = 0, np.zeros(len(rows))
        for part, (_, width) in zip(sentence.context, shown.sections, strict=False):
            labels = shown.columns[start : start + width]
            inside = [start + at for at, label in enumerate(labels) if label not in ("<bos>", "<eos>")]
            assert part.words.words == [shown.columns[at] for at in inside] and not part.target
            np.testing.assert_allclose(part.weights, shown.values[:-1][:, inside], atol=1e-5)
            words = [at for at in inside if shown.columns[at] not in PUNCTUATION]
            useful += shown.values[:-1][:, words].sum(1)
            start += width
        np.testing.assert_allclose(sentence.useful, useful, atol=1e-5)
        assert 0.01 < useful.min() and useful.max() < 0.99  # neither nothing nor all


class Pieces(Subwords):
    """Words cut into pieces of two characters."""

    def encode(self, text):
        words = [[word[at : at + 2] for at in range(0, len(word), 2)] for word in text.split()]
        return " ".join("▁" + piece if not at else piece for word in words for at, piece in enumerate(word))

    def word_starts(self, pieces):
        return [piece.startswith("▁") for piece in pieces]

    def bare(self, piece):
        return piece.replace("▁", "")


def test_words_of_subwords():
    words = read_words("It's  beating, now .", Pieces())
    assert words.words == ["It's", "beating,", "now", "."]
    assert words.spans == [(0, 4), (6, 14), (15, 18), (19, 20)]
    assert words.place.tolist() == [0, 0, 1, 1, 1, 1, 2, 2, 3]
    assert words.lexical.tolist() == [True] * 8 + [False] and words.lexical_words.tolist() == [True] * 3 + [
        False
    ]
    assert words.within((5, 7)).tolist() == [False, True, False, False]
    assert not words.within((4, 6)).any()  # the blanks between


def test_words_that_the_subword_model_reads_in_another_form():
    class Tokenised(Pieces):
        def encode(self, text):
            return super().encode(text.lower().replace(",", " ,").replace("…", "..."))

    words = read_words("Well, NO… Well", Tokenised())
    assert words.words == ["well", ",", "no...", "well"]
    assert words.spans == [(0, 4), (4, 5), None, (10, 14)]


def sentence(line, text, context, weights):
    """With the weights (W, P) of its words to the context's pieces."""
    own, other = read_words(text, Pieces()), read_words(context, Pieces())
    return AttendedSentence(line, own, [ContextSentence(line - 1, False, other, np.array(weights))])


def made_up():
    """Useful mass of the words: 0.5, 0.2; 0.6, 0.1, 0.3."""
    return [
        sentence(1, "It won .", "Yes !", [[0.5, 0.0, 0.4], [0.1, 0.1, 0.7], [0.9, 0, 0]]),
        sentence(2, "Now, it ran", "a b .", [[0.2, 0.4, 0.1], [0.1, 0, 0.9], [0.3, 0, 0.5]]),
        sentence(3, "...", "a b", [[1, 0]]),  # no word
        sentence(4, "it", ".", [[1]]),  # no word to look at
    ]


def test_words_lengths_and_positions_by_hand():
    found = word_attention(made_up())
    assert found.sentences == 2 and found.mean == pytest.approx((0.5 + 0.2 + 0.6 + 0.1 + 0.3) / 5)
    record = found.as_dict(1)
    assert [row["word"] for row in record["words"]] == ["now", "it", "ran", "won"]
    it = record["words"][1]
    assert (it["n"], it["useful"], it["position"]) == (2, pytest.approx(0.3), 1.5)
    later = {row["word"]: row["useful"] for row in record["later_words"]}
    assert later == pytest.approx({"ran": 0.3, "won": 0.2, "it": 0.1})
    lengths = {row["length"]: row["useful"] for row in record["source_lengths"]}
    assert lengths == pytest.approx({2: 0.35, 3: 1 / 3})
    assert {row["length"]: row["useful"] for row in record["context_lengths"]} == pytest.approx(
        {1: 0.35, 2: 1 / 3}
    )
    positions = {row["position"]: row["useful"] for row in record["positions"]}
    assert positions == pytest.approx({1: 0.55, 2: 0.15, 3: 0.3})
    assert [row["word"] for row in found.top("word", 2)] == ["it"]
    (_, points), (places, _) = found.points(1).items()
    useful = {one[1:3]: one.value for one in points}
    assert useful["sentence", 3] == pytest.approx(1 / 3) and places == "position of the word"
    of_two = word_attention(made_up(), length=2)
    positions = {row["position"]: row["useful"] for row in of_two.as_dict(1)["positions"]}
    assert positions == pytest.approx({1: 0.5, 2: 0.2})
    assert "sentences of 2 words" in list(of_two.points(1))[1]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return checkpoint(tmp_path_factory.mktemp("model"), "multi_source", arch="gated_context_transformer")


def test_the_command_writes_the_table_the_numbers_and_two_pictures(model, tmp_path, capsys):
    text = write_text(tmp_path)
    files = ("--json", tmp_path / "w.json", "--output", tmp_path / "w.png")
    assert not main(
        [str(a) for a in ("analyse", "attention-words", model, text, "--cpu", "--min-count", 2, *files)]
    )
    record = json.loads((tmp_path / "w.json").read_text())
    printed = capsys.readouterr().out
    assert f"{record['sentences']} sentences with context" in printed and "word, not the first" in printed
    best = record["words"][0]
    assert f"{best['word']}" in printed and f"{best['useful']:.4f}" in printed and best["n"] >= 2
    for name in ("w", "w.positions"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.csv").read_text().startswith("measure,system,")
    assert record["made_by"]["command"].startswith("ctxmt analyse attention-words")


def test_curves_without_a_point_are_refused(model, tmp_path, capsys):
    options = ("--cpu", "--min-count", "1000", "--output", str(tmp_path / "w.png"))
    with pytest.raises(SystemExit):
        main(["analyse", "attention-words", str(model), write_text(tmp_path), *options])
    assert "found none for w.png; lower --min-count" in capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert not (tmp_path / "w.png").exists()


def test_models_whose_context_is_no_words_are_refused(tmp_path, refusal):
    windows = randomised(tmp_path / "w", "concat_transformer", *TASKS["document_window"])
    command = ["analyse", "attention-words", str(windows), write_text(tmp_path), "--cpu"]
    assert "expected a model with an attention to context alone" in refusal(main, command)
    for arch, options, message in (
        ("caching_transformer", {"shortening": "mean", "shortening_size": 2}, "shortens its context"),
        ("dual_encoder_transformer", {"context_fusion": "serial", "context_layout": "joined"}, "apart"),
    ):
        loaded = loaded_model(arch, {"source_context": 1}, **options)
        with pytest.raises(BadInput, match=message):
            next(attended_sentences(loaded, text_of(loaded)))
