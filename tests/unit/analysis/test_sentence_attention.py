"""Attention by context sentence: shares and entropy against the map of every sentence alone."""

import json

import numpy as np
import pytest

from ctxmt_fairseq.analysis.attention_map import attention_map
from ctxmt_fairseq.analysis.passage import given_passage
from ctxmt_fairseq.analysis.sentence_attention import sentence_attention, sentence_points, sentence_table
from ctxmt_fairseq.analysis.text_attention import (
    AttendedSentence,
    ContextSentence,
    attended_sentences,
    read_words,
)
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.subwords import Subwords
from tests.helpers.analysed_models import loaded_model
from tests.helpers.probed_models import checkpoint, write_text
from tests.unit.analysis.test_text_attention import PUNCTUATION, SOURCES, text_of


def by_hand(loaded, line, first):
    """Shares and entropy of one sentence, from its map."""
    shown = attention_map(loaded, given_passage(SOURCES[line], SOURCES[first:line]), "encoder", None).map
    kept = [place for place, name in enumerate(shown.rows) if name not in PUNCTUATION]
    start, masses = 0, []
    for _, width in shown.sections[: line - first]:
        own = [at for at in range(start, start + width) if shown.columns[at] not in ("<bos>", "<eos>")]
        masses.append(shown.values[kept][:, own].sum(1))
        start += width
    shares = np.stack(masses, 1) / np.sum(masses, 0)[:, None]
    return shares.mean(0), -(shares * np.log(shares)).sum(1).mean()


def test_shares_and_entropies_are_those_of_each_sentence_alone():
    loaded = loaded_model("context_encoder_transformer", {"source_context": 2})
    found = sentence_attention(attended_sentences(loaded, text_of(loaded), "encoder"))
    assert [(each.places, each.sentences) for each in found] == [(["-1"], 2), (["-2", "-1"], 2)]
    assert found[0].shares == [1] and found[0].entropy == 0
    shares, entropies = zip(*(by_hand(loaded, line, line - 2) for line in (2, 3)), strict=True)
    np.testing.assert_allclose(found[1].shares, np.mean(shares, 0), atol=1e-4)
    assert found[1].entropy == pytest.approx(np.mean(entropies), abs=1e-4) and 0 < found[1].entropy < np.log(
        2
    )


def sentence(line, masses, words="a b ."):
    """Weights of each word to the one word of each context sentence, by place."""
    context = [
        ContextSentence(line + place, target, read_words("x", Subwords()), np.array(column, float)[:, None])
        for (place, target), column in masses.items()
    ]
    return AttendedSentence(line, read_words(words, Subwords()), context)


def test_means_by_hand():
    before, target = (-1, False), (-1, True)
    found = sentence_attention(
        [
            sentence(5, {before: [0.3, 0.2, 9], target: [0.1, 0.2, 0]}),  # 3/4, 1/2; "." does not count
            sentence(6, {before: [0.0, 0.4, 0], target: [0.0, 0.0, 0]}),  # the first attends to neither
            sentence(7, {before: [0, 0, 0], target: [0, 0, 0]}),
            sentence(8, {before: [0.5, 0.1, 0]}),
        ]
    )
    one, both = found
    assert (one.places, one.sentences, both.places, both.sentences) == (["-1"], 1, ["-1", "target -1"], 2)
    np.testing.assert_allclose(both.shares, [(0.625 + 1) / 2, 0.375 / 2])
    quarter = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert both.entropy == pytest.approx((quarter + np.log(2)) / 4)
    assert sentence_table(found).splitlines()[-1].split() == ["2", "2", "0.812", "0.188", "0.314", "0.693"]
    points = {one[1:3]: one.value for one in sentence_points(found)}
    assert points["2 context sentences, n = 2", "target -1"] == pytest.approx(18.75)


def test_the_command(tmp_path, capsys, refusal):
    path = checkpoint(tmp_path / "model", "multi_source", arch="context_encoder_transformer")
    prefix = write_text(tmp_path)
    options = ("--by", "sentence", "--json", tmp_path / "j", "--output", tmp_path / "sentences.png", "--cpu")
    command = [str(each) for each in ("analyse", "attention-words", path, prefix, *options)]
    assert "--length needs --by word" in refusal(main, [*command, "--length", "2"])
    assert not main(command)
    record = json.loads((tmp_path / "j").read_text())
    assert [(each["places"], each["sentences"]) for each in record["attention"]] == [
        (["-1"], 3), (["-2", "-1"], 6),
    ]  # fmt: skip
    assert "entropy (nats)" in capsys.readouterr().out and (tmp_path / "sentences.csv").exists()
