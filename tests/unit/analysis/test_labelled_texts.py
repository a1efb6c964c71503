"""Texts and their attributes: from a file, from metadata, with measured scores."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.labelled_texts import (
    Attribute,
    LabelledTexts,
    metadata_and_sentences,
    metadata_texts,
    read_formality_scores,
    read_labelled_texts,
)
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMAL, FORMALITIES, INFORMAL
from ctxmt_fairseq.evaluation.attribute_control.formality import FormalityReport, FormalityRun
from ctxmt_fairseq.vectors.sentence_contexts import contexts_of
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def described(labelled):
    return labelled.texts, {attribute.name: attribute.values.tolist() for attribute in labelled.attributes}


# ---- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "texts", "attributes"),
    [
        ("A cat.\n\nA  dog. \r\nA cat.\n", ["A cat.", "A dog."], {}),
        ("a\t1\nb\t-2.5e1\n", ["a", "b"], {"value": [1.0, -25.0]}),
        ("a\t1\nb\ttwo\n", ["a", "b"], {"value": ["1", "two"]}),
        ("a\tnan\nb\t1\n", ["a", "b"], {"value": ["nan", "1"]}),
        ("\ufeffa\tx\t in\nb\ty\tout", ["a", "b"], {"value": ["x", "y"], "second value": ["in", "out"]}),
    ],
)
def test_lines(tmp_path, text, texts, attributes):
    assert described(read_labelled_texts(write(tmp_path / "texts", text))) == (texts, attributes)


def labelled(*columns, **attributes):
    return LabelledTexts(list(columns), tuple(Attribute.of(*item) for item in attributes.items()))


@pytest.mark.parametrize(
    ("metadata", "sentences", "attributes"),
    [
        (labelled("a"), labelled("b", "a"), {"kind": ["metadata", *["previous sentence"] * 2]}),
        (
            labelled("a", value=["x"]), labelled("b", "a", value=["y", "z"]),
            {"value": ["x", "y", "z"], "kind": ["metadata", *["previous sentence"] * 2]},
        ),
        (
            labelled("a", field=["genre"]), labelled("b", "a"),
            {"field": ["genre", *["previous sentence"] * 2]},
        ),
        (
            labelled("a", value=[1]), labelled("b", "a", value=[2, 3]),
            {"value": [1.0, 2.0, 3.0], "kind": ["metadata", *["previous sentence"] * 2]},
        ),
    ],
)  # fmt: skip
def test_metadata_beside_sentences(metadata, sentences, attributes):
    assert described(metadata_and_sentences(metadata, sentences)) == (["a", "b", "a"], attributes)


def test_sentences_with_other_attributes_are_refused():
    one, two = (
        labelled("a", value=["x"]),
        LabelledTexts(["a"], (Attribute.of("v", [1]), Attribute.of("w", [1]))),
    )
    for metadata, sentences, found in (
        (labelled("a"), one, "1 and 0"),
        (one, labelled("a"), "0 and 1"),
        (two, two, 2),
    ):
        with pytest.raises(BadInput, match=f"--previous: give its texts as many attributes .* found {found}"):
            metadata_and_sentences(metadata, sentences)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "texts: expected a text per line, found none"),
        ("\n \n", "texts: expected a text per line, found none"),
        ("a\tx\nb\n", "texts:2: expected 1 tabs, as on the first line, found 0"),
        ("a\nb\tx\n", "texts:2: expected 0 tabs, as on the first line, found 1"),
        ("a\tx\ty\tz\n", "texts:1: expected a text and at most two attributes, found 3"),
        ("a\tx\n\tx\n", "texts:2: expected text on both sides of each tab"),
        ("a\t \n", "texts:1: expected text on both sides of each tab"),
        ("a\tx\nb\tx\na\ty\n", "texts:3: the text is there twice, with different attributes"),
    ],
)
def test_lines_that_do_not_fit_are_refused(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read_labelled_texts(write(tmp_path / "texts", text))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_finite_numbers_are_numbers(numbers):
    attribute = Attribute.of("score", [repr(number) for number in numbers])
    assert attribute.numeric and attribute.values.tolist() == numbers
    assert not Attribute.of("score", [*map(repr, numbers), "inf"]).numeric


# ---- metadata --------------------------------------------------------------------------------------------


def test_metadata_is_each_distinct_text_with_its_field():
    metadata = [{"genre": "Drama", "rated": "R"}, {}, {"genre": "Crime", "rated": "N/A"}, {"plot": "Drama"}]
    contexts = contexts_of(load_text_encoder("discrete"), ["A.", "B.", "C.", "Drama"], metadata)
    assert described(metadata_texts(contexts)) == (
        ["Drama", "Crime", "PG rating: R"],
        {"field": ["genre", "genre", "rated"]},
    )
    with pytest.raises(BadInput, match="expected metadata in the context store, found none"):
        metadata_texts(contexts_of(load_text_encoder("discrete"), ["A."], [{"rated": "N/A"}]))


# ---- scores ----------------------------------------------------------------------------------------------


def report(path, prompted):
    """What ``ctxmt control formality`` writes of runs (wanted, prompt, labels)."""
    runs = [FormalityRun(wanted, prompt, labels, labels) for wanted, prompt, labels in prompted]
    plain = [FormalityRun(wanted, None, ["formal"], ["formal"]) for wanted in FORMALITIES]
    result = {"system": "s", "setting": None, **FormalityReport(plain, runs).as_dict()}
    return write(path, json.dumps(result))


def test_scores_are_the_share_of_formal_translations(tmp_path):
    labels = ["formal", "formal", "formal", "informal", "both", "neither"]
    runs = [
        (FORMAL, "Formal", labels),
        (INFORMAL, "Madam,  good day", labels),
        (FORMAL, "Says nothing", ["both", "neither"]),
        (INFORMAL, "Hey", ["informal"]),
    ]
    scores = read_formality_scores(report(tmp_path / "scores.json", runs))
    assert scores == {"Formal": 75, "Madam, good day": 75, "Hey": 0}


def test_what_has_no_scores_is_refused(tmp_path):
    with pytest.raises(BadInput, match="expected prompts whose translations are formal or informal"):
        read_formality_scores(
            report(tmp_path / "none.json", [(wanted, "a", ["both"]) for wanted in FORMALITIES])
        )
    for content, message in (
        ("[", "expected JSON"),
        ("[]", "expected an object with the key 'runs'"),
        ('{"runs": [{"right": 1}]}', "expected the key 'wrong'"),
        ('{"runs": [{"right": 1, "wrong": 1, "wanted": "formal", "prompt": 1}]}', "expected a string at"),
    ):
        with pytest.raises(BadInput, match=message):
            read_formality_scores(write(tmp_path / "bad.json", content))


def test_scores_come_first_and_texts_without_one_are_left_out():
    labelled = LabelledTexts(["a", "b", "c"], (Attribute.of("domain", ["in", "out", "in"]),))
    scored = labelled.scored("formal", {"c": 0.25, "a": 100, "z": 3})
    assert described(scored) == (["a", "c"], {"formal": [100, 0.25], "domain": ["in", "in"]})
    assert scored.attributes[0].numeric
    with pytest.raises(BadInput, match="none of the texts has a score"):
        labelled.scored("formal", {"z": 1})
    both = LabelledTexts(["a"], (Attribute("x", np.array(["1"])), Attribute("y", np.array(["2"]))))
    with pytest.raises(BadInput, match="at most one attribute besides the scores, found two"):
        both.scored("formal", {"a": 1})
