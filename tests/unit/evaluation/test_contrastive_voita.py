"""Contrastive sets in the format of Voita et al. (2019): one file a phenomenon."""

from collections import Counter

import pytest

from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, contrastive_report
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    Convention,
    read_contrastive_set,
    read_contrastive_sets,
)
from tests.helpers.contrastive_files import error, lexical, voita_record, write_json


def test_voita(tmp_path):
    result = read_contrastive_set(write_json(tmp_path / "deixis_test.json", [voita_record()]))
    (example,) = result.examples
    assert (result.format, result.convention) == ("voita", Convention("sum", "current"))
    assert (example.source_before, example.source) == (("Sit down .",), "You look tired .")
    assert example.candidates[example.correct] == Candidate(("Садись .",), "Ты устал .")
    assert (example.phenomenon, example.distance) == ("deixis", 1)


def test_voita_identical_candidates_count_once(tmp_path):
    record = voita_record()
    right, wrong = record["dst"][1], record["dst"][0]
    record.update(dst=[wrong, right, wrong, right], true_ind=3)
    (example,) = read_contrastive_set(write_json(tmp_path / "ellipsis_vp.json", [record])).examples
    assert [candidate.current for candidate in example.candidates] == ["Вы устали .", "Ты устал ."]
    assert example.correct == 1
    record.update(dst=[right, right], true_ind=1)  # nothing to choose from: kept, to be reported as a tie
    (example,) = read_contrastive_set(write_json(tmp_path / "ellipsis_vp.json", [record])).examples
    assert len(example.candidates) == 2


def test_voita_folder_takes_one_file_per_phenomenon(tmp_path):
    folder = tmp_path / "sets"
    folder.mkdir()
    for name, count in (("deixis_dev", 1), ("deixis_test", 2), ("ellipsis_infl", 3), ("lex_cohesion_dev", 4)):
        write_json(folder / f"{name}.json", [voita_record()] * count)
    result = read_contrastive_set(folder)
    counts = Counter(example.phenomenon for example in result.examples)
    assert (result.name, counts) == ("sets", {"deixis": 2, "ellipsis_infl": 3, "lex_cohesion": 4})
    (tmp_path / "empty").mkdir()
    assert error(tmp_path / "empty").count("a folder of deixis*.json, ") == 1
    assert "expected files named deixis" in error(tmp_path / "empty", format="voita")


def test_voita_files_named_one_by_one_are_one_set(tmp_path):
    names = ("ellipsis_vp", "deixis_test", "lex_cohesion_test", "ellipsis_infl")
    paths = [write_json(tmp_path / f"{name}.json", [voita_record()] * n) for n, name in enumerate(names, 1)]
    other = write_json(tmp_path / "lexical.json", lexical())
    first, second = read_contrastive_sets([other, *paths])
    assert (first.name, second.name) == ("lexical", "+".join(names))
    assert {example.id for example in second.examples} == {
        example.id for example in read_contrastive_set(tmp_path).examples
    }
    right, wrong = CandidateScore(-1.0, 1, -1.0, 1), CandidateScore(-2.0, 1, -2.0, 1)
    scores = [
        [wrong, right] if example.phenomenon == "deixis" else [right, wrong] for example in second.examples
    ]
    numbers = contrastive_report(second, scores).as_dict()
    assert (numbers["disc"], numbers["disc_avg"]) == (20, 25)  # deixis: 2 of 10 examples, 1 of 4 phenomena


@pytest.mark.parametrize("names", [("deixis_dev", "deixis_test"), ("deixis_test", "ellipsis")])
def test_voita_files_that_are_no_parts_of_one_suite_stay_apart(tmp_path, names):
    paths = [write_json(tmp_path / f"{name}.json", [voita_record()]) for name in names]
    assert [one.name for one in read_contrastive_sets(paths)] == list(names)


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"true_ind": 2}, "example 2: expected a correct index from 0 to 1, found 2"),
        ({"true_ind": -1}, "example 2: expected a correct index from 0 to 1, found -1"),
        ({"true_ind": True}, "example 2: expected a whole number at the key 'true_ind', found true"),
        ({"src": "You look tired ."}, "example 2: expected sentences joined by ' _eos ' in 'src'"),
        ({"src": "a _eos b _eos c"}, "example 2: expected 3 target sentences"),
        ({"dst": "a _eos b"}, "example 2: expected a list at the key 'dst'"),
        ({"dst": ["a _eos b"], "true_ind": 0}, "example 2: expected at least two candidates, found 1"),
        ({"dst": ["a _eos b", "a _eos"]}, "example 2: the current sentence is empty"),
        ({"ctx_dist": "1"}, "example 2: expected a whole number at the key 'ctx_dist', found \"1\""),
    ],
)
def test_voita_errors(tmp_path, change, expected):
    path = write_json(tmp_path / "deixis_test.json", [voita_record(), {**voita_record(), **change}])
    assert f"{path}: {expected}" in error(path)


def test_voita_missing_key(tmp_path):
    record = voita_record()
    del record["ctx_dist"]
    path = write_json(tmp_path / "deixis_test.json", [record])
    assert "example 1: expected the key 'ctx_dist', found 'src', 'dst', 'true_ind'" in error(path)
