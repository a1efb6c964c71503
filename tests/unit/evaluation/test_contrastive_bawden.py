"""Contrastive sets in the format of Bawden et al. (2018): twins that share a current sentence."""

import json

import pytest

from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, contrastive_report
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    read_contrastive_set,
)
from tests.helpers.contrastive_files import error, lexical, write_json


def anaphora():
    return {
        "7": {
            "inspired by": ["x"],
            "src": ["I lost the key.", "Where is it?"],
            "trg": [
                {
                    "correct": ["J'ai perdu la clé.", " Où est-elle ?"],
                    "incorrect": ["J'ai perdu la clé.", "Où est-il ?"],
                    "type": "f.sg",
                },
                {
                    "semi-correct": ["J'ai perdu le passe.", "Où est-il ?"],
                    "incorrect": ["J'ai perdu le passe.", "Où est-elle ?"],
                    "type": "m.sg",
                },
            ],
        }
    }


def test_bawden_anaphora(tmp_path):
    result = read_contrastive_set(write_json(tmp_path / "anaphora.json", anaphora()))
    first, second = result.examples
    assert (result.name, result.format) == ("anaphora", "bawden")
    assert (first.id, second.id) == ("7.1", "7.2")
    assert first.candidates[first.correct] == Candidate(("J'ai perdu la clé.",), "Où est-elle ?")
    assert second.candidates[second.correct] == Candidate(("J'ai perdu le passe.",), "Où est-il ?")
    assert [example.phenomenon for example in result.examples] == ["anaphora f.sg", "anaphora m.sg"]
    assert [example.meta["quality"] for example in result.examples] == ["correct", "semi-correct"]
    assert first.source_before == second.source_before == ("I lost the key.",)
    assert first.distance == second.distance == 1  # where the twins' target contexts differ


def test_bawden_lexical_choice_keeps_each_candidates_own_context(tmp_path):
    (example,) = read_contrastive_set(write_json(tmp_path / "lexical.json", lexical())).examples
    assert example.candidates == (
        Candidate(("La rive.",), "Au bord !"),
        Candidate(("La banque.",), "Au guichet !"),
    )
    assert (example.id, example.phenomenon, example.source) == ("3.1", "disambig", "To the bank!")


def twins(*contexts):
    """Examples of one current sentence after these contexts, source and target alike; the first is right with
    a bank, the others with a shore."""
    words = ("Au guichet !", "Au bord !")
    return {
        "type": "disambig",
        "examples": [
            {
                "src": [*context, "To the bank!"],
                "trg": {"correct": [*context, words[at > 0]], "incorrect": [*context, words[at == 0]]},
            }
            for at, context in enumerate(contexts)
        ],
    }


@pytest.mark.parametrize(
    "contexts, expected",
    [
        ((["River", "Then"], ["Money", "Then"]), [2, 2]),
        ((["Then", "River"], ["Then", "Money"]), [1, 1]),
        ((["River", "Then"], ["Money", "Now"]), [None, None]),  # either of the two
        (
            (["River", "Then"], ["Money", "Then"], ["Money", "Now"]),
            [2, 2, None],
        ),  # 2 in every twin of the first
        ((["Then"], ["Then"]), [None, None]),  # nothing decides
        ((["River"],), [None]),  # no twin
        ((["River"], ["Then", "Money"]), [None, None]),  # not side by side
    ],
)
def test_bawden_distance_is_where_twins_differ(tmp_path, contexts, expected):
    result = read_contrastive_set(write_json(tmp_path / "set.json", {"1": twins(*contexts)}))
    assert [example.distance for example in result.examples] == expected


def test_bawden_twins_have_the_same_current_sentence(tmp_path):
    block = twins(["River"], ["Money"])
    block["examples"][1]["src"][-1] = "To the other bank!"
    result = read_contrastive_set(write_json(tmp_path / "set.json", {"1": block}))
    assert [example.distance for example in result.examples] == [None, None]


def test_bawden_distances_are_told_apart_in_the_report(tmp_path):
    """Right at distance 1 and by chance at distance 2: one line would hide both behind 75 %."""
    blocks = {
        "1": twins(["Then", "River"], ["Then", "Money"]),
        "2": twins(["River", "Then"], ["Money", "Then"]),
    }
    result = read_contrastive_set(write_json(tmp_path / "set.json", blocks))
    better = [CandidateScore(-1.0, 1, -1.0, 1), CandidateScore(-2.0, 1, -2.0, 1)]
    report = contrastive_report(result, [better, better, better, better[::-1]])
    accuracies = {name: tally["accuracy"] for name, tally in report.as_dict()["distances"].items()}
    assert accuracies == {"1": 100, "2": 50} and report.as_dict()["accuracy"] == 75


def test_bawden_candidates_must_differ_in_the_current_sentence(tmp_path):
    blocks = anaphora()
    for sentences in (blocks["7"]["src"], *(blocks["7"]["trg"][0][key] for key in ("correct", "incorrect"))):
        sentences.append("Oh !")
    path = write_json(tmp_path / "set.json", blocks)
    assert f"{path}: block '7', target 1: both candidates end with" in error(path)


def test_bawden_repeated_block_is_warned_about(tmp_path, caplog):
    block = json.dumps(lexical()["3"])
    path = tmp_path / "twice.json"
    path.write_text(f'{{"3": {block}, "3": {block}}}')
    assert len(read_contrastive_set(path).examples) == 1
    assert "twice.json: the key '3' is repeated" in caplog.text


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda block: block.pop("trg"), "block '7': expected the key 'trg', found 'inspired by', 'src'"),
        (lambda block: block.pop("src"), "block '7', target 1: expected the key 'src'"),
        (lambda block: block["trg"][1].pop("incorrect"), "block '7', target 2: expected the key 'incorrect'"),
        (lambda block: block["trg"][0].pop("correct"), "block '7', target 1: expected the key 'correct'"),
        (
            lambda block: block["trg"][0]["correct"].pop(),
            "expected 2 target sentences",
        ),
        (lambda block: block.update(src="one"), "expected a list at the key 'src', found \"one\""),
        (lambda block: block.update(src=[1, 2]), "expected 'src' to be a list of sentences"),
    ],
)
def test_bawden_errors(tmp_path, change, expected):
    blocks = anaphora()
    change(blocks["7"])
    path = write_json(tmp_path / "bad.json", blocks)
    assert f"{path}: block '7'" in error(path) and expected in error(path)
