"""Our own contrastive sets, how a format is found, round trips, and the counts of the public files."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    Convention,
    read_contrastive_set,
    read_contrastive_sets,
)
from tests.helpers.contrastive_files import error, voita_record, write, write_json

PUBLIC = Path(__file__).parents[4] / "shared" / "data" / "contrastive"


def own_record(**changes):
    return {
        "id": "cata-1",
        "phenomenon": "cataphora",
        "distance": None,
        "context": "source-next",
        "source": ["Look.", "It arrived.", "The letter did."],
        "current": 1,
        "targets": [["Regarde.", "Elle est arrivée."], ["Regarde.", "Il est arrivé."]],
        "correct": 0,
        "meta": {"speaker": "female"},
        **changes,
    }


def test_jsonl(tmp_path):
    result = read_contrastive_set(write(tmp_path / "cataphora.jsonl", json.dumps(own_record())))
    (example,) = result.examples
    assert (result.name, result.format, result.convention) == (
        "cataphora",
        "jsonl",
        Convention("sum", "current"),
    )
    assert (example.source_before, example.source, example.source_after) == (
        ("Look.",),
        "It arrived.",
        ("The letter did.",),
    )
    assert example.candidates[1] == Candidate(("Regarde.",), "Il est arrivé.")
    assert (example.distance, example.meta) == (None, {"speaker": "female", "context": "source-next"})


@pytest.mark.parametrize("where", ["docs/evaluation.md", "ctxmt_fairseq/cli/contrast.py"])
def test_the_documented_example_is_readable(tmp_path, where):
    """In both places it is broken into lines to be read; as one line it is a set."""
    text = (Path(__file__).parents[3] / where).read_text(encoding="utf-8")
    record = " ".join(re.search(r'\{"id": .*?"correct": 0\}', text, re.DOTALL).group().split())
    (example,) = read_contrastive_set(write(tmp_path / "own.jsonl", record)).examples
    assert (example.source, example.source_after, example.distance) == (
        "It arrived.",
        ("The letter did.",),
        -1,
    )
    assert example.candidates[example.correct].current == "Elle est arrivée."


def test_forms_without_candidates_are_for_another_command(tmp_path, caplog):
    form = own_record(id="form", expected="Elle")
    del form["targets"], form["correct"]
    path = write(tmp_path / "own.jsonl", f"{json.dumps(form)}\n{json.dumps(own_record())}")
    assert [example.id for example in read_contrastive_set(path).examples] == ["cata-1"]
    assert f"{path}: 1 examples without candidates are left out" in caplog.text
    with pytest.raises(
        BadInput, match="expected candidates .'targets'., found forms alone, for ctxmt score-forms"
    ):
        read_contrastive_set(write(path, json.dumps(form)))


@pytest.mark.parametrize(
    "line, expected",
    [
        ("{", "expected JSON"),
        ("[]", "expected an object with the key 'source'"),
        (json.dumps(own_record(current=3)), "expected 'current' from 0 to 2, found 3"),
        (json.dumps(own_record(context="both")), "expected 'context' to be one of source-previous"),
        (json.dumps(own_record(targets=[["a"], ["b"]])), "expected 2 target sentences"),
        (json.dumps(own_record(targets=["a", "b"])), "expected 'targets' to be a list of sentences"),
        (json.dumps(own_record(correct=2)), "expected a correct index from 0 to 1, found 2"),
        (
            json.dumps(own_record(meta={"year": {}})),
            "'meta': expected a JSON object of strings, found",
        ),
        (json.dumps(own_record(distance="far")), "expected a whole number at the key 'distance'"),
        ("", "expected JSON"),
        (json.dumps(own_record(phenomenon="x")), "the example cata-1 is there twice; take one out"),
    ],
)
def test_jsonl_errors_name_the_line(tmp_path, line, expected):
    path = write(tmp_path / "own.jsonl", json.dumps(own_record()), line)
    assert f"{path}:2: {expected}" in error(path) or (
        f"{path}:2: " in error(path) and expected in error(path)
    )


def test_jsonl_empty_file(tmp_path):
    assert "found an empty file" in error(write(tmp_path / "own.jsonl"))


@pytest.mark.parametrize("format", ["bawden", "scat", "contrawsd"])
def test_a_set_without_examples_is_refused(tmp_path, format):
    marked = dict.fromkeys(("en", "fr", "context_en", "context_fr"), "no pronoun is marked")
    content = {"bawden": {"1": {"src": ["a"], "trg": []}}, "scat": [marked]}
    path = write_json(tmp_path / "set.json", content.get(format))
    if format == "contrawsd":
        path = write(tmp_path / "set.en")
        write(tmp_path / "set.de")
    assert error(path, format=format) == f"{path}: expected examples, found none"


# --- detection ---


@pytest.mark.parametrize(
    "content, expected",
    [
        ('[{"true_ind": 0', "set.json:1: expected JSON"),
        ("\n\n[1,]", "set.json:3: expected JSON"),
        ("[]", "set.json: expected a contrastive set (bawden, a JSON object of numbered blocks; contrapro,"),
        ('[{"a": 1}]', "set.json: expected a contrastive set ("),
        ("{}", "set.json: expected an object of numbered blocks"),
        ("[\0]", "set.json:1: expected JSON"),
    ],
)
def test_unreadable_files(tmp_path, content, expected):
    (tmp_path / "set.json").write_text(content)
    assert expected in error(tmp_path / "set.json")


def test_two_sets_of_one_name_are_refused(tmp_path):
    """Their examples would be mixed in what is written."""
    for folder in "ab":
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "set.jsonl", json.dumps(own_record()))
    with pytest.raises(BadInput, match="rename the contrastive sets: 2 of them are called set"):
        read_contrastive_sets([tmp_path / folder / "set.jsonl" for folder in "ab"])


def test_detection_arguments(tmp_path):
    assert "no such file or folder" in error(tmp_path / "none.json")
    path = write_json(tmp_path / "deixis.json", [voita_record()])
    assert "expected a format from bawden" in error(path, format="xml")
    assert "leave out the folder of documents: only the format contrapro reads it" in error(
        path, documents=tmp_path
    )
    assert "expected an object of numbered blocks" in error(path, format="bawden")
    own = write(tmp_path / "own.txt", json.dumps(own_record()))
    assert read_contrastive_set(own, format="jsonl").format == "jsonl"


# --- round trips ---

words = st.sampled_from(["the", "boat", "sinks", "è", "«", "ты", "l'", "_", "eos", "0"])
sentence = st.lists(words, min_size=1, max_size=4).map(" ".join)


@st.composite
def examples(draw, after):
    """Source sentences, the current one's index, distinct candidates, the correct one's index."""
    before = draw(st.integers(0 if after else 1, 3))
    source = draw(st.lists(sentence, min_size=before + 1, max_size=before + (3 if after else 1)))
    candidate = st.lists(sentence, min_size=before + 1, max_size=before + 1)
    targets = draw(st.lists(candidate, min_size=2, max_size=4, unique_by=tuple))
    return source, before, targets, draw(st.integers(0, len(targets) - 1)), draw(st.integers(0, 5))


def assert_same(example, source, current, targets, correct, distance):
    assert [*example.source_before, example.source, *example.source_after] == source
    assert len(example.source_before) == current
    assert [[*candidate.before, candidate.current] for candidate in example.candidates] == targets
    assert (example.correct, example.distance) == (correct, distance)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(examples(after=True), min_size=1, max_size=4))
def test_jsonl_round_trip(tmp_path, records):
    keys = ("source", "current", "targets", "correct", "distance")
    records_of = (dict(zip(keys, record, strict=True)) for record in records)
    lines = [json.dumps(own_record(id=str(n), **each)) for n, each in enumerate(records_of)]
    result = read_contrastive_set(write(tmp_path / "own.jsonl", *lines))
    for example, record in zip(result.examples, records, strict=True):
        assert_same(example, *record)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(examples(after=False), min_size=1, max_size=4))
def test_voita_round_trip(tmp_path, records):
    value = [
        {
            "src": " _eos ".join(source),
            "dst": [" _eos ".join(target) for target in targets],
            "true_ind": correct,
            "ctx_dist": distance,
        }
        for source, _, targets, correct, distance in records
    ]
    result = read_contrastive_set(write_json(tmp_path / "lex_cohesion_test.json", value))
    for example, record in zip(result.examples, records, strict=True):
        assert_same(example, *record)


# --- the public files ---


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sets are not beside this checkout")
@pytest.mark.parametrize(
    "name, format, count, distances, phenomena",
    [
        ("en-fr-pronouns", "opensubs", 1645, {None}, {"il": 381, "elle": 443, "ils": 437, "elles": 384}),
        (
            "discourse-mt-en-fr/anaphora.json",
            "bawden",
            200,
            {1},
            {f"anaphora {gender}.{number}": 50 for gender in "mf" for number in ("sg", "pl")},
        ),
        (
            "discourse-mt-en-fr/lexical-choice.json",
            "bawden",
            200,
            {1},
            {"disambig": 172, "repet": 22, "repet, disambig": 6},
        ),
        (
            "discourse-en-cs/disambig.cs.json",
            "bawden",
            150,
            {1},
            {"disambig": 146, "repet, disambig": 2, "lexical choice": 2},
        ),
        (
            "en-ru-consistency",
            "voita",
            1500,
            {1, 2, 3},
            {"deixis": 500, "lex_cohesion": 500, "ellipsis_infl": 500},
        ),
    ],
)
def test_public_sets(name, format, count, distances, phenomena):
    result = read_contrastive_set(PUBLIC / name)
    assert (result.format, len(result.examples)) == (format, count)
    assert {example.distance for example in result.examples} == distances
    assert Counter(example.phenomenon for example in result.examples) == phenomena
    assert all(example.source_before for example in result.examples)
