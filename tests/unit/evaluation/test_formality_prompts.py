"""A model's formality with each prompt: the best one, the mean, the table, and a stand-in for the model."""

import json
from collections import Counter

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formal_references import (
    FORMAL,
    INFORMAL,
    ContrastiveReference,
    parse_annotated,
)
from ctxmt_fairseq.evaluation.attribute_control.formality import (
    PROMPTS,
    FormalityReport,
    control_formality,
    judge,
    read_prompts,
)

REFERENCE = ContrastiveReference(
    parse_annotated("[F]Haben Sie[/F] [F]Ihren[/F] Hut, Anna?"),
    parse_annotated("[F]Hast du[/F] [F]deinen[/F] Hut, Anna?"),
)
UNMARKED = ContrastiveReference(*[parse_annotated("Es regnet.")] * 2)


def test_the_prompts_of_appendix_d():
    assert [len(prompts) for prompts in PROMPTS.values()] == [5, 5]
    assert (PROMPTS[FORMAL][0], PROMPTS[INFORMAL][0]) == ("Formal conversation", "Informal chit-chat")
    assert len({prompt for prompts in PROMPTS.values() for prompt in prompts}) == 10


ANSWERS = {  # prompt -> how many of four sentences are translated as formal
    None: 1,
    "Good day, madam": 3,
    "Your Excellency": 4,
    "Dear Sir": 4,
    "Hi there": 2,
    "Hey": 1,
}


def obedient(calls):
    """A stand-in for a model: as many formal translations as ``ANSWERS`` says of the one context."""

    def translate(sentences, metadata):
        (prompt,) = {fields.get("") for fields in metadata}
        assert all(set(fields) <= {""} for fields in metadata) and len(metadata) == len(sentences)
        calls.append(prompt)
        texts = ["Haben Sie das"] * ANSWERS[prompt] + ["Hast du das"] * (4 - ANSWERS[prompt])
        return texts + ["Na ja"] * (len(sentences) - 4)

    return translate


@pytest.fixture
def report():
    calls = []
    prompts = {FORMAL: ["Good day, madam", "Your Excellency", "Dear Sir"], INFORMAL: ["Hi there", "Hey"]}
    result = control_formality(obedient(calls), ["Have you that?"] * 6, [REFERENCE] * 6, prompts)
    assert Counter(calls) == Counter(list(ANSWERS))  # nothing is translated twice
    return result


def test_every_prompt_counts_for_the_formality_it_asks_for(report):
    assert [(run.wanted, run.prompt, run.count.accuracy) for run in (*report.plain, *report.prompted)] == [
        (FORMAL, None, 25),
        (INFORMAL, None, 75),
        (FORMAL, "Good day, madam", 75),
        (FORMAL, "Your Excellency", 100),
        (FORMAL, "Dear Sir", 100),
        (INFORMAL, "Hi there", 50),
        (INFORMAL, "Hey", 75),
    ]
    assert {run.count.neither for run in report.prompted} == {2}


def test_the_best_prompt_is_the_one_with_the_highest_accuracy(report):
    assert (report.best(FORMAL).prompt, report.best(INFORMAL).prompt) == ("Your Excellency", "Hey")
    assert report.summaries() == {
        "plain": {"formal": 25, "informal": 75, "average": 50},
        "mean": {
            "formal": pytest.approx(275 / 3),
            "informal": 62.5,
            "average": pytest.approx((275 / 3 + 62.5) / 2),
        },
        "best": {"formal": 100, "informal": 75, "average": 87.5},
    }


def test_table_and_json_show_every_prompt(report):
    table = report.table("no context")
    rows = {" ".join(line.split()) for line in table.splitlines()}
    assert {
        "formal: no context 25.00 1 3 0 2",
        "formal: Good day, madam 75.00 3 1 0 2",
        "informal: Hey 75.00 3 1 0 2",
        "no context 25.00 75.00 50.00",
        "mean over the prompts 91.67 62.50 77.08",
        "best prompts 100.00 75.00 87.50",
        "best formal prompt: Your Excellency",
        "best informal prompt: Hey",
    } <= rows
    assert table.count("warning: its accuracy rests on 4 of 6 translations") == 2
    content = json.loads(json.dumps(report.as_dict()))
    assert content["best_decided"] == {"formal": 4, "informal": 4}
    assert (content["accuracy"], content["sentences"]) == (87.5, 6)
    assert content["best_prompts"] == {"formal": "Your Excellency", "informal": "Hey"}
    assert content["runs"][2] == {
        **{"wanted": "formal", "prompt": "Good day, madam", "accuracy": 75.0, "examples": 6},
        **{"right": 3, "wrong": 1, "both": 0, "neither": 2},
    }
    lines = [json.loads(line) for line in report.example_lines([REFERENCE] * 6)]
    assert len(lines) == 7 * 6
    assert lines[12] == {
        **{"line": 1, "wanted": "formal", "prompt": "Good day, madam", "translation": "Haben Sie das"},
        **{"formality": "formal", "reference": "Haben Sie Ihren Hut, Anna?"},
    }


@pytest.mark.parametrize("decided", [29, 30])
def test_a_best_prompt_that_rests_on_few_translations_is_warned_about(decided):
    texts = ["Haben Sie das"] * decided + ["Na ja"] * 20
    plain = judge(dict.fromkeys((FORMAL, INFORMAL), texts), [REFERENCE] * len(texts))
    prompted = [*judge({FORMAL: texts, INFORMAL: texts}, [REFERENCE] * len(texts), prompt="Sir")]
    table = FormalityReport(plain, prompted).table("no context")
    assert (f"rests on {decided} of {decided + 20} translations" in table) == (decided < 30)
    assert "warning" not in FormalityReport(plain).table("translations")


def test_a_prompt_that_decides_nothing_is_never_the_best():
    silent = judge({FORMAL: ["Na ja"]}, [REFERENCE], prompt="Hm") + judge(
        {INFORMAL: ["Na ja"]}, [REFERENCE], prompt="Hm"
    )
    speaking = judge({FORMAL: ["Hast du"]}, [REFERENCE], prompt="Sir")
    plain = judge(dict.fromkeys((FORMAL, INFORMAL), ["Na ja"]), [REFERENCE])
    report = FormalityReport(plain, silent + speaking)
    assert report.best(FORMAL).prompt == "Sir" and report.best(FORMAL).count.accuracy == 0
    assert report.summaries()["best"] == {"formal": 0, "informal": None, "average": None}
    assert report.summaries()["mean"]["formal"] is None
    assert report.as_dict()["accuracy"] is None
    assert "-" in report.table("no context").splitlines()[2].split()


def test_references_as_translations_are_all_right():
    texts = {FORMAL: [REFERENCE.formal.text, "Es regnet."], INFORMAL: [REFERENCE.informal.text, "Es regnet."]}
    right = FormalityReport(judge(texts, [REFERENCE, UNMARKED]))
    wrong = FormalityReport(judge({FORMAL: texts[INFORMAL], INFORMAL: texts[FORMAL]}, [REFERENCE, UNMARKED]))
    assert right.as_dict()["accuracy"] == 100 and wrong.as_dict()["accuracy"] == 0
    assert right.as_dict()["best_prompts"] == {} and "mean" not in right.table("translations")
    assert [run.count.neither for run in right.plain] == [1, 1]


# --- prompts of a file ---


def test_prompts_of_a_file(tmp_path):
    path = tmp_path / "prompts"
    path.write_text(
        "formal\tYour  Excellency\n\nA wedding\ninformal\tHey\t you\nA wedding\nformal\tA wedding\n"
    )
    assert read_prompts(path) == {
        FORMAL: ["Your Excellency", "A wedding"],
        INFORMAL: ["A wedding", "Hey you"],
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Formal\tx\n",
            ":1: write a prompt, or formal or informal, a tab and a prompt; found 'Formal\\tx'",
        ),
        ("formal\t \n", ":1: write a prompt"),
        ("formal\tx\n", ": expected prompts for informal translation, found none"),
        ("", ": expected prompts for formal"),
    ],
)
def test_other_files_are_refused(tmp_path, text, expected):
    path = tmp_path / "prompts"
    path.write_text(text)
    with pytest.raises(BadInput) as refused:
        read_prompts(path)
    assert str(refused.value).startswith(f"{path}{expected}")


def test_a_prompt_for_both_formalities_is_translated_once():
    calls = []
    prompts = {FORMAL: ["Dear Sir", "Hey"], INFORMAL: ["Hey"]}
    result = control_formality(obedient(calls), ["Have you that?"] * 4, [REFERENCE] * 4, prompts)
    assert Counter(calls) == {None: 1, "Dear Sir": 1, "Hey": 1}
    accuracies = [(run.wanted, run.prompt, run.count.accuracy) for run in result.prompted]
    assert accuracies == [(FORMAL, "Dear Sir", 100), (FORMAL, "Hey", 25), (INFORMAL, "Hey", 75)]
