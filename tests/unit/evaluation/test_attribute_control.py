"""Sets with expected forms: reading them, attributes as sentences, and accuracies by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import (
    as_sentences,
    check_attributes,
    read_sentences_of_attributes,
)
from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import metadata_of, read_attribute_set
from ctxmt_fairseq.evaluation.attribute_control.attributes import (
    attribute_report,
    example_lines,
    judge_attributes,
)
from ctxmt_fairseq.evaluation.attribute_control.judging import OutcomeCount, joint_outcome
from ctxmt_fairseq.text.json_files import Place

TIRED = {
    "source": "Are you as tired as I am?",
    "attributes": {"speaker": "feminine", "addressee": "masculine", "formality": "formal"},
    "expected": {"speaker": ["fatiguée que moi", "épuisée"], "formality": ["vous", "Êtes-vous"]},
    "wrong": {"speaker": ["fatigué que moi"], "formality": ["tu", "Es-tu"]},
    "context": ["I am a woman", "Formal"],
}
HAPPY = {
    "source": "I am happy.",
    "attributes": {"speaker": "masculine"},
    "expected": {"speaker": ["heureux", "content"]},
    "wrong": {"speaker": ["heureuse", "contente"]},
}
SENTENCES = {
    "speaker": {"feminine": "I am a woman", "masculine": "I  am a man"},
    "addressee+number": {
        "mixed+many": "I'm talking to a group",
        "feminine+": "I'm talking to a woman",
        "+one": "",
    },
    "formality": {"formal": "Formal", "informal": "Informal"},
}


def write(path, *records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def write_json(path, value):
    path.write_text(json.dumps(value), "utf-8")
    return path


@pytest.fixture
def examples(tmp_path):
    return read_attribute_set(write(tmp_path / "set.jsonl", TIRED, HAPPY))


# --- sets ---


def test_examples_are_read(examples):
    tired, happy = examples
    assert tired.combination == "formality = formal, speaker = feminine"  # the addressee does not show
    assert tired.expected["formality"] == ("vous", "Êtes-vous") and tired.wrong["speaker"] == (
        "fatigué que moi",
    )
    assert tired.context == {"prompt 1": "I am a woman", "prompt 2": "Formal"}
    assert happy.context is None and happy.combination == "speaker = masculine"


def test_contexts_by_field_are_kept(tmp_path):
    (example,) = read_attribute_set(write(tmp_path / "set", {**HAPPY, "context": {"speaker": "I am a man"}}))
    assert example.context == {"speaker": "I am a man"}


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"source": " "}, "one line of text"),
        ({"source": "a\nb"}, "one line of text"),
        ({"source": None}, "a string at the key 'source'"),
        ({"attributes": ["speaker"]}, "an object at the key 'attributes'"),
        ({"attributes": {"speaker": 1}}, "'attributes' to be an object of texts"),
        ({"attributes": {}}, "for the same attributes"),
        ({"expected": {}, "wrong": {}}, "for the same attributes, at least one"),
        ({"wrong": {}}, "for the same attributes"),
        ({"expected": {"speaker": []}}, "lists of phrases"),
        ({"expected": {"speaker": "heureux"}}, "lists of phrases"),
        ({"wrong": {"speaker": [" "]}}, "lists of phrases"),
        ({"wrong": {"speaker": ["content"]}}, "'content' is both expected and wrong for 'speaker'"),
        ({"context": "I am a man"}, "an object at the key 'context'"),
        ({"context": ["I am a man", 3]}, "a list of texts"),
        ({"contexts": []}, "found 'contexts'"),
        ({"source": "\ud800"}, "half a character"),
    ],
)
def test_bad_examples_are_refused_with_file_and_line(tmp_path, change, expected):
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(TIRED) + "\n" + json.dumps({**HAPPY, **change}) + "\n")
    with pytest.raises(BadInput) as caught:
        read_attribute_set(path)
    assert str(caught.value).startswith(f"{path}:2: ") and expected in str(caught.value)


@pytest.mark.parametrize("text", ["", "{\n", "[]\n", "\n"])
def test_what_is_no_set_is_refused(tmp_path, text):
    path = tmp_path / "set.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput):
        read_attribute_set(path)


# --- sentences ---


@pytest.fixture
def sentences(tmp_path):
    return read_sentences_of_attributes(write_json(tmp_path / "sentences.json", SENTENCES))


@pytest.mark.parametrize(
    "attributes, texts",
    [
        ({"speaker": "masculine"}, {"speaker": "I am a man"}),
        ({"addressee": "mixed", "number": "many"}, {"addressee+number": "I'm talking to a group"}),
        ({"addressee": "feminine"}, {"addressee+number": "I'm talking to a woman"}),
        ({"number": "one", "formality": "formal"}, {"formality": "Formal"}),
        ({"genre": "Drama", "speaker": "feminine"}, {"genre": "Drama", "speaker": "I am a woman"}),
        ({}, {}),
        ({"speaker": "feminine "}, {"speaker": "I am a woman"}),  # as a file of the field may have it
    ],
)
def test_attributes_as_sentences(sentences, attributes, texts):
    assert as_sentences(attributes, sentences, Place("set")) == texts


def test_a_value_without_sentence_is_refused(sentences):
    with pytest.raises(BadInput, match="a sentence for 'addressee.number' 'feminine.many', found none"):
        as_sentences({"addressee": "feminine", "number": "many"}, sentences, Place("set", 3))
    check_attributes(sentences, ["speaker", "addressee", "number", "formality"])
    with pytest.raises(BadInput, match="found some for 'number'"):
        check_attributes(sentences, ["speaker", "addressee", "formality"])


@pytest.mark.parametrize(
    "table, expected",
    [
        ([], "an object"),
        ({"speaker": ["a"]}, "an object at the key 'speaker'"),
        ({"speaker": {"feminine": 1}}, "'value' with a sentence, found 'feminine'"),
        ({"speaker": {"": "Hm"}}, "a sentence"),
        ({"a+b": {"x": "Hm"}}, "'value+value' with a sentence, found 'x'"),
        ({"a+b": {"+": "Hm"}}, "'value+value'"),
        ({"a+b": {}, "b": {}}, "each attribute once, found 'b'"),
        ({"a+a": {"x+x": "Hm"}}, "each attribute once"),
        ({"a+": {}}, "each attribute once"),
    ],
)
def test_bad_sentences_are_refused(tmp_path, table, expected):
    path = write_json(tmp_path / "sentences.json", table)
    with pytest.raises(BadInput) as caught:
        read_sentences_of_attributes(path)
    assert str(caught.value).startswith(str(path)) and expected in str(caught.value)


def test_what_a_model_reads(examples, sentences):
    assert metadata_of("set", examples) == [
        {"prompt 1": "I am a woman", "prompt 2": "Formal"},
        HAPPY["attributes"],
    ]
    assert metadata_of("set", examples, sentences)[1] == {"speaker": "I am a man"}
    with pytest.raises(BadInput, match="^set:2: expected a sentence for 'speaker' 'masculine'"):
        metadata_of("set", examples, {("speaker",): {("feminine",): "I am a woman"}})


# --- accuracies ---


TRANSLATIONS = {
    "Êtes-vous aussi fatiguée que moi ?": {"speaker": "right", "formality": "right"},
    "Es-tu aussi fatiguée que moi ?": {"speaker": "right", "formality": "wrong"},
    "Je suis épuisée. Et vous et tu ?": {"speaker": "right", "formality": "both"},
    "Vous aussi ?": {"speaker": "neither", "formality": "neither"},
    "Et vous ?": {"speaker": "neither", "formality": "right"},
}


def test_accuracies_by_hand(examples):
    tired, happy = examples
    all_examples = [tired] * len(TRANSLATIONS) + [happy] * 4
    texts = [*TRANSLATIONS, "Je suis content.", "Je suis contente.", "Je suis contente.", "Heureux !"]
    outcomes = judge_attributes(all_examples, texts)
    assert outcomes[: len(TRANSLATIONS)] == list(TRANSLATIONS.values())
    report = attribute_report(all_examples, outcomes)
    assert report.attributes == {"formality": OutcomeCount(2, 1, 1, 1), "speaker": OutcomeCount(4, 2, 0, 3)}
    assert report.values == {
        "formality = formal": OutcomeCount(2, 1, 1, 1),
        "speaker = feminine": OutcomeCount(3, 0, 0, 2),
        "speaker = masculine": OutcomeCount(1, 2, 0, 1),
    }
    assert report.combinations == {
        "formality = formal, speaker = feminine": OutcomeCount(2, 1, 1, 1),
        "speaker = masculine": OutcomeCount(1, 2, 0, 1),
    }
    assert report.together == OutcomeCount(3, 3, 1, 2)
    assert report.accuracy == pytest.approx((200 / 3 + 400 / 6) / 2)
    content = json.loads(json.dumps(report.as_dict()))
    assert content["values"]["speaker = masculine"]["accuracy"] == pytest.approx(100 / 3)
    assert content["together"] == {**vars(report.together), "examples": 9, "accuracy": 50}
    lines = [json.loads(line) for line in example_lines(all_examples, texts, outcomes)]
    assert lines[1]["outcomes"] == {"speaker": "right", "formality": "wrong"} and lines[1]["line"] == 2


def test_the_table_has_every_group_and_the_accuracy_without_context(examples):
    right = attribute_report(examples, [{"speaker": "right", "formality": "right"}, {"speaker": "right"}])
    plain = attribute_report(examples, [{"speaker": "wrong", "formality": "neither"}, {"speaker": "right"}])
    rows = {" ".join(line.split()) for line in right.table(plain).splitlines()}
    assert {
        "accuracy % no context % right wrong both neither",
        "formality 100.00 - 1 0 0 0",
        "speaker 100.00 50.00 2 0 0 0",
        "speaker = feminine 100.00 0.00 1 0 0 0",
        "together: formality = formal, speaker = feminine 100.00 0.00 1 0 0 0",
        "together: all 100.00 50.00 2 0 0 0",
        "mean over the attributes 100.00 -",
    } <= rows
    assert "no context" not in right.table()
    alone = attribute_report(examples[1:], [{"speaker": "right"}])
    assert "together: speaker" not in alone.table() and "together: all" in alone.table()


OUTCOMES = st.sampled_from(["right", "wrong", "both", "neither"])


@given(st.lists(OUTCOMES, min_size=1))
def test_together_is_right_only_if_nothing_is_wrong(outcomes):
    joint = joint_outcome(outcomes)
    assert (joint == "wrong") == ("wrong" in outcomes)
    assert (joint == "right") == ("right" in outcomes and not {"wrong", "both"} & set(outcomes))
    assert (joint == "neither") == (set(outcomes) == {"neither"})
    assert OutcomeCount.of(outcomes).examples == len(outcomes)
