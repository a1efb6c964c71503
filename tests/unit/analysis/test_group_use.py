"""Latent groups over a text against equation 3 in NumPy, and the annotation that tells words apart."""

import json

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.group_use import END, PUNCTUATION, UNKNOWN, WORD, group_use
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.text.annotation import AnnotatedWord, read_annotation
from tests.helpers.analysed_models import POSITIONS, encode, loaded_model
from tests.helpers.probed_models import checkpoint
from tests.unit.models.test_shortening import equation_3

SENTENCES = ["▁It ▁was ▁a ▁beat ing ▁heart .", "▁heart , ▁heart !", "▁It ▁was", "", "▁beat ing"]
CLASSES = [
    [*[WORD] * 6, PUNCTUATION, END], [WORD, PUNCTUATION, WORD, PUNCTUATION, END], [WORD, WORD, END], [END],
    [WORD, WORD, END],
]  # fmt: skip
NOUNS = {"▁heart": "NOUN", "▁It": "PRON", "▁was": "VERB", "▁beating": "VERB"}


def model(kind, activation="sparsemax", size=4):
    options = {"shortening": kind, "shortening_size": size, "shortening_activation": activation}
    return loaded_model("caching_transformer", {"source_context": 1}, **options)


def expected_weights(loaded, kind, activation):
    """(L, K) of every sentence, each computed alone."""
    (net,) = loaded.models
    parameters = {
        name: value.double().numpy() for name, value in net.encoder.context_shortening.state_dict().items()
    }
    for sentence in SENTENCES:
        with torch.no_grad():
            out = net.encoder(encode(loaded, *sentence.split(), "</s>")[None])
        yield equation_3(out["encoder_out"][0][:, 0].double().numpy(), kind, activation, parameters)


@pytest.mark.parametrize("kind", ["group", "select"])
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_means_over_a_text_are_those_of_equation_3(kind, activation):
    loaded = model(kind, activation)
    found = group_use(loaded, SENTENCES, max_tokens=12)
    weights = list(expected_weights(loaded, kind, activation))
    assert found.classes == [WORD, PUNCTUATION, END] and found.counts.tolist() == [12, 3, 5]
    for row, name in enumerate(found.classes):
        own = [np.array(w)[np.array(c) == name].sum(0) for w, c in zip(weights, CLASSES, strict=True)]
        divided = len(SENTENCES) if kind == "select" else found.counts[row]
        np.testing.assert_allclose(found.means[row], np.sum(own, 0) / divided, atol=1e-4)
    np.testing.assert_allclose(found.means.sum(0 if kind == "select" else 1), 1, atol=1e-6)
    used = np.array([(w > 0).any(0) for w in weights])
    assert found.used.tolist() == used.sum(0).tolist()
    assert found.as_dict()["used_groups_per_sentence"] == used.sum() / 5
    shares = found.table().splitlines()[-1].split()[-4:]
    assert shares == [f"{share:.1f}" for share in 100 * used.mean(0)]
    assert (
        f"{int(used.any(0).sum())} of 4 groups are used ({used.sum() / 5:.2f} in a sentence)" in found.summary
    )
    assert "n = 5 sentences, 20 tokens" in found.summary


def annotated(sentence):
    """Words as people have them: "▁beat ing" is one."""
    words, at = [], 0
    for text in sentence.replace("beat ing", "beating").split():
        end = at + len(text) + (text == "▁beating")
        words.append(AnnotatedWord(sentence[at:end], at, end, NOUNS.get(text)))
        at = end + 1
    return words


def test_words_by_their_part_of_speech():
    loaded = model("group")
    annotation = [annotated(sentence) for sentence in SENTENCES]
    found = group_use(loaded, SENTENCES, annotation)
    assert dict(zip(found.classes, found.counts.tolist(), strict=True)) == {
        "NOUN": 3, "PRON": 2, "VERB": 6, UNKNOWN: 1, PUNCTUATION: 3, END: 5,
    }  # fmt: skip
    plain = group_use(loaded, SENTENCES)
    np.testing.assert_allclose(found.weights[:4].sum(0), plain.weights[0])
    weights = list(expected_weights(loaded, "group", "sparsemax"))
    nouns = np.sum([weights[0][5], weights[1][0], weights[1][2]], 0) / 3
    np.testing.assert_allclose(found.means[0], nouns, atol=1e-4)
    assert found.unmatched == 0 and found.map().rows[0] == "NOUN (3)"


def test_text_that_the_subword_model_reads_otherwise_is_counted():
    loaded = model("group")
    loaded.source_subwords.encode_all = lambda texts, threads=1: [
        text.replace("!", "&excl;") for text in texts
    ]
    found = group_use(loaded, SENTENCES[:2], [annotated(sentence) for sentence in SENTENCES[:2]])
    assert found.unmatched == 1 and "1 sentences without their annotation" in found.summary
    assert (
        dict(zip(found.classes, found.counts.tolist(), strict=True))[UNKNOWN] == 4
    )  # ▁a; ▁heart ▁heart &excl;


def test_the_command(tmp_path, capsys):
    path = checkpoint(tmp_path / "model", "multi_source", "--shortening", "group", arch="caching_transformer")
    (tmp_path / "text").write_text("a b c\nd . e\n")
    words = [[{"text": text, "start": 2 * at, "end": 2 * at + 1, "pos": "X"} for at, text in enumerate(line)]
             for line in ("abc", "d.e")]  # fmt: skip
    (tmp_path / "words").write_text("".join(json.dumps({"words": each}) + "\n" for each in words))
    options = ("--annotation", tmp_path / "words", "--json", tmp_path / "j", "--output", tmp_path / "use.png")
    arguments = ["analyse", "group-use", path, tmp_path / "text", *options, "--cpu"]
    assert not main([str(argument) for argument in arguments])
    record = json.loads((tmp_path / "j").read_text())
    assert record["counts"] == {"X": 5, "punctuation": 1, "</s>": 2} and record["sentences"] == 2
    assert np.sum(record["values"], axis=1) == pytest.approx(np.ones(3))
    assert json.loads((tmp_path / "use.json").read_text())["values"] == record["values"]
    assert "groups are used" in capsys.readouterr().out and (tmp_path / "use.png").exists()


def test_refusals():
    with pytest.raises(BadInput, match="found caching_transformer with --shortening mean"):
        group_use(loaded_model("caching_transformer", {"source_context": 1}, shortening="mean"), SENTENCES)
    with pytest.raises(BadInput, match="found 61"):
        group_use(model("group"), ["▁It " * POSITIONS])
    with pytest.raises(BadInput, match="found none"):
        group_use(model("group"), [])


def test_annotation_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [
        {"words": [{"text": "Dogs", "start": 0, "end": 4, "pos": "NOUN", "number": None, "x": 1}]},
        {"words": []},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_annotation(path, ["Dogs bark", ""]) == [[AnnotatedWord("Dogs", 0, 4, "NOUN")], []]


@pytest.mark.parametrize(
    ("words", "sentences", "message"),
    [
        (
            [{"text": "Dog", "start": 0, "end": 4}],
            ["Dogs"],
            "a.jsonl:1: expected the word 'Dog' at 0 to 4, found 'Dogs'",
        ),
        ([{"text": "s", "start": 3, "end": 5}], ["Dogs"], "found 's'"),
        ([{"text": "D", "start": -4, "end": 1}], ["Dogs"], "found ''"),
        (
            [{"text": "Do", "start": 0, "end": 2}, {"text": "og", "start": 1, "end": 3}],
            ["Dogs"],
            "'og' at 1 to 3",
        ),
        ([{"text": "D", "start": 0, "end": 1, "pos": 3}], ["Dogs"], "a string at the key 'pos'"),
        ([{"text": "D", "start": 0}], ["Dogs"], "the key 'end'"),
        ([], [], "expected 0 lines, one for each sentence, found more"),
        ([], ["a", "b"], "expected 2 lines, one for each sentence, found 1"),
    ],
)
def test_annotation_that_is_refused(tmp_path, words, sentences, message):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"words": words}) + "\n")
    with pytest.raises(BadInput) as refused:
        read_annotation(path, sentences)
    assert message in str(refused.value)
