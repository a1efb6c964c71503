"""Scores of the sentences whose pronoun has an antecedent in the context."""

import json
import random

import pytest
from sacrebleu.metrics import BLEU, CHRF

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.significance.subsets import pronoun_subsets, translated_as
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.coreference import Antecedent, Reference
from tests.helpers.coreference_files import record, write_lines


@pytest.fixture
def text(tmp_path):
    """Eight lines; even ones (from 1) begin with a pronoun."""
    draw = random.Random(2)
    sources = ["a dog sleeps" if n % 2 == 0 else ("It barks" if n < 6 else "I bark") for n in range(8)]
    targets = [f"{'La Elle Le Il Les Ils Le Je'.split()[n]} mot numéro {n} est ici ." for n in range(8)]
    hypotheses = [" ".join(w for w in line.split() if draw.random() < 0.8) for line in targets]
    coreference = [
        record(2, [0, 2], 1, [2, 5]),
        record(4, [0, 2], 3, [0, 1], nominal=False),
        record(6, [0, 2], 5, [2, 5]),
        record(6, [3, 8], 6, [0, 2]),  # in its own line
        record(8, [0, 1], 7, [2, 5]),
        record(7, [0, 1], None, None),
    ]
    words = [{"words": []} for _ in range(8)]
    words[1] = {
        "words": [{"text": "Elle", "start": 0, "end": 4, "pos": "PRON", "gender": "Fem", "number": "Sing"}]
    }
    words[5] = {
        "words": [{"text": "Ils", "start": 0, "end": 3, "pos": "PRON", "gender": "Masc", "number": "Plur"}]
    }
    files = {
        "src": write_lines(tmp_path / "src", sources), "ref": write_lines(tmp_path / "ref", targets),
        "a": write_lines(tmp_path / "a", hypotheses), "b": write_lines(tmp_path / "b", targets),
        "coref": write_lines(tmp_path / "coref.jsonl", coreference),
        "align": write_lines(tmp_path / "align", ["0-0 1-1"] * 8),
        "words": write_lines(tmp_path / "words.jsonl", map(json.dumps, words)),
    }  # fmt: skip
    return files, sources, targets, hypotheses


def test_scores_of_subsets_are_sacrebleus_on_their_lines(text, tmp_path, capsys, refusal):
    files, _, targets, hypotheses = text
    arguments = (
        "compare", "pronouns", files["src"], files["ref"], files["a"], files["b"],
        "--coreference", files["coref"], "--alignment", files["align"],
        "--annotation", files["words"], "--samples", "100", "--json", str(tmp_path / "json"),
    )  # fmt: skip
    cut = arguments.index("--annotation")
    alone = [*arguments[:cut], *arguments[cut + 2 :]]
    assert "give --alignment and --annotation together" in refusal(main, alone)
    said = "--coreference-source: expected one of the sources"
    assert said in refusal(main, [*arguments, "--coreference-source", "other"])
    assert not main(list(arguments))
    found = {row["subset"]: row for row in json.loads((tmp_path / "json").read_text())["subsets"]}
    lines = {
        "it": [1, 3, 5], "it, nominal": [1, 5], "it, nominal, feminine": [1], "it, nominal, plural": [5],
        "I": [7], "I, nominal": [7],
    }  # fmt: skip
    assert {name: row["sentences"] for name, row in found.items()} == {k: len(v) for k, v in lines.items()}
    for name, chosen in lines.items():
        score = (
            BLEU(force=True)
            .corpus_score([hypotheses[n] for n in chosen], [[targets[n] for n in chosen]])
            .score
        )
        assert found[name]["scores"] == pytest.approx({"a": score, "b": 100})
    assert not main([*arguments, "--least", "2"])
    larger = json.loads((tmp_path / "json").read_text())["subsets"]
    assert [row["subset"] for row in larger] == ["it", "it, nominal"]
    (row,) = found["it"]["comparisons"]
    assert row["difference"] == pytest.approx(100 - found["it"]["scores"]["a"])
    assert (found["it"]["pronouns"], found["it"]["pronominal_antecedents"]) == (3, 1)
    assert "it, nominal, feminine" in capsys.readouterr().out


def test_seeds_of_a_system(text, tmp_path, capsys):
    """Scores are means of runs, and differences are over seeds and sentences."""
    files, _, targets, hypotheses = text
    again = write_lines(tmp_path / "a2", [f"{line} ici" for line in hypotheses])
    systems = [f"a={files['a']}", f"a={again}", f"b={files['b']}"]
    options = ["--coreference", files["coref"], "--metric", "chrf2", "--json", str(tmp_path / "json")]
    assert not main(["compare", "pronouns", files["src"], files["ref"], *systems, *options])
    record = json.loads((tmp_path / "json").read_text())
    it = next(row for row in record["subsets"] if row["subset"] == "it")
    scores = [
        CHRF().corpus_score([lines[n] for n in (1, 3, 5)], [[targets[n] for n in (1, 3, 5)]]).score
        for lines in (hypotheses, [f"{line} ici" for line in hypotheses])
    ]
    assert it["scores"] == pytest.approx({"a": sum(scores) / 2, "b": 100})
    (row,) = it["comparisons"]
    assert (row["seeds"], row["mean"]) == ([2, 1], pytest.approx(100 - sum(scores) / 2))
    printed = capsys.readouterr().out
    for words in ("b has one run", "a: two runs are too few"):
        assert words in record["about"] and words in printed


def test_a_pronoun_that_stands_twice_in_a_line_puts_it_there_once():
    references = [
        Reference(4, span, "it", Antecedent(3, (0, 2), True), "x") for span in ((0, 2), (9, 11))
    ]  # fmt: skip
    (all_of_them, nominal) = pronoun_subsets(references)
    assert all_of_them.lines == nominal.lines == [4] and all_of_them.pronouns == 2


def test_the_translation_of_a_pronoun():
    source, target = "Did it, fall ?", "La voiture , elle est tombée ?"
    words = [
        AnnotatedWord("voiture", 3, 10, "NOUN", None, "Fem", "Plur"),
        AnnotatedWord("elle", 13, 17, "PRON", None, "Fem", "Sing"),
    ]
    it = Reference(0, (4, 6), "it", None, "x")
    assert translated_as(it, source, target, {1: [1, 3]}, words) == "feminine"  # the pronoun counts first
    assert translated_as(it, source, target, {1: [1]}, words) == "plural"
    assert translated_as(it, source, target, {0: [3], 1: [5]}, words) is None  # not annotated
    assert translated_as(it, source, target, {}, words) is None
