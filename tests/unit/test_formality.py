"""Formality by annotated phrases: the shared task's rule, prompts, and refusals."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.annotated_references import (
    AnnotatedReference,
    parse_annotated,
    read_annotated,
)
from ctxmt_fairseq.evaluation.attribute_control.formality import (
    FORMAL,
    INFORMAL,
    ContrastiveReference,
    count_formality,
    formality_of,
    read_references,
)
from ctxmt_fairseq.evaluation.attribute_control.formality_report import (
    PROMPTS,
    FormalityReport,
    control_formality,
    judge,
)
from ctxmt_fairseq.evaluation.attribute_control.phrases import anywhere, whole_words, words_among

FORMAL_LINE = "[F]Haben Sie[/F] [F]Ihren[/F] Hut, Anna?"
INFORMAL_LINE = "[F]Hast du[/F] [F]deinen[/F] Hut, Anna?"
REFERENCE = ContrastiveReference(parse_annotated(FORMAL_LINE), parse_annotated(INFORMAL_LINE))
UNMARKED = ContrastiveReference(*[parse_annotated("Es regnet.")] * 2)


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --- annotations ---


def test_tags_are_taken_out_and_phrases_kept():
    assert parse_annotated(FORMAL_LINE) == AnnotatedReference(
        "Haben Sie Ihren Hut, Anna?", ("Haben Sie", "Ihren")
    )
    glued = parse_annotated("je [F]t'[/F]aime, [F]toi[/F] ?")
    assert glued == AnnotatedReference("je t'aime, toi ?", ("t'", "toi"))
    assert parse_annotated("  ") == AnnotatedReference("", ())


@given(
    st.lists(st.tuples(st.text("ab ,[]F/", max_size=5), st.text("abc'", min_size=1, max_size=4)), max_size=4)
)
def test_any_annotation_is_read_back(parts):
    parts = [(text.replace("[", "("), phrase) for text, phrase in parts]
    line = "".join(f"{text}[F]{phrase}[/F]" for text, phrase in parts)
    reference = parse_annotated(line)
    assert reference.phrases == tuple(phrase for _, phrase in parts)
    assert reference.text == "".join(text + phrase for text, phrase in parts).strip()


@pytest.mark.parametrize(
    "line, expected",
    [
        ("[F]Haben Sie das?", "[F] without [/F]"),
        ("Haben Sie[/F] das?", "[/F] without [F]"),
        ("[/F]Haben Sie[F] das?", "[/F] without [F]"),
        ("[F]Haben [F]Sie[/F] das?", "[/F] before the next [F]"),
        ("[F]Haben Sie[/F][/F] das?", "[/F] without [F]"),
        ("Haben [F] [/F] das?", "a phrase between"),
    ],
)
def test_malformed_annotations_are_refused_with_file_and_line(tmp_path, line, expected):
    path = write(tmp_path / "formal.annotated.de", FORMAL_LINE, line)
    with pytest.raises(BadInput) as caught:
        read_annotated(path)
    assert str(caught.value).startswith(f"{path}:2: ") and expected in str(caught.value)


# --- the rule ---


@pytest.mark.parametrize(
    "translation, label",
    [
        ("Haben Sie einen Hut?", FORMAL),
        ("Wo haben Sie den Hut? Haben alle einen?", FORMAL),  # the words, in whatever place
        ("Ist das Ihren", FORMAL),  # one phrase is enough
        ("Haben wir einen Hut?", "neither"),  # one word of a phrase is not
        ("Was haben Sie?", "neither"),  # upper and lower case, and punctuation attached to a word
        ("Hast du deinen Hut?", INFORMAL),
        ("Hast du Ihren Hut?", "both"),
        ("", "neither"),
    ],
)
def test_labels(translation, label):
    assert formality_of(translation, REFERENCE) == label
    assert formality_of(translation, UNMARKED) == "neither"


def test_a_language_without_spaces():
    reference = ContrastiveReference(
        parse_annotated("残念に[F]思います[/F]。"), parse_annotated("残念に[F]思う[/F]。")
    )
    assert formality_of("とても残念に思います。", reference, anywhere) == FORMAL
    assert formality_of("とても残念に思います。", reference, words_among) == "neither"


WORDS = st.lists(st.sampled_from(["Sie", "du", "Ihr", "dein", "haben", "hast"]), max_size=4)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3)), min_size=1))
def test_counts_follow_the_rule_of_the_shared_task(rows):
    labels, formal, informal, both, neither = [], 0, 0, 0, 0
    for words, formal_phrases, informal_phrases in rows:
        formal_phrases, informal_phrases = (list(filter(None, p)) for p in (formal_phrases, informal_phrases))
        reference = ContrastiveReference(
            *(AnnotatedReference("", tuple(map(" ".join, p))) for p in (formal_phrases, informal_phrases))
        )
        labels.append(formality_of(" ".join(words), reference))
        has_formal = any(all(word in words for word in phrase) for phrase in formal_phrases)
        has_informal = any(all(word in words for word in phrase) for phrase in informal_phrases)
        formal += has_formal and not has_informal
        informal += has_informal and not has_formal
        both += has_formal and has_informal
        neither += not has_formal and not has_informal
    wanted_formal, wanted_informal = (count_formality(wanted, labels) for wanted in (FORMAL, INFORMAL))
    assert vars(wanted_formal) == {"right": formal, "wrong": informal, "both": both, "neither": neither}
    assert vars(wanted_informal) == {"right": informal, "wrong": formal, "both": both, "neither": neither}
    if formal + informal:
        assert wanted_formal.accuracy == pytest.approx(100 * formal / (formal + informal))
        assert wanted_formal.accuracy + wanted_informal.accuracy == pytest.approx(100)
    else:
        assert wanted_formal.accuracy is None


@pytest.mark.parametrize(
    "phrase, text, found",
    [
        ("fatigué", "Je suis fatigué.", True),
        ("fatigué", "Je suis fatiguée.", False),
        ("fatigué", "fatiguée, fatigué", True),  # the second place
        ("fatigué", "infatigué", False),
        ("t'", "je t'aime", True),
        ("t'", "il saint'", False),
        ("suis allée", "je suis  allée", False),
        ("दे", "न दें", False),  # the vowel sign continues the word
        ("दे", "न दे।", True),
        ("Sie", "sie", False),
    ],
)
def test_whole_words(phrase, text, found):
    assert whole_words(phrase, text) == found


# --- files ---


def test_files_of_several_domains_are_one_set(tmp_path):
    formal = [write(tmp_path / f"formal.{d}", line) for d, line in enumerate([FORMAL_LINE, "Es regnet."])]
    informal = [
        write(tmp_path / f"informal.{d}", line) for d, line in enumerate([INFORMAL_LINE, "Es regnet."])
    ]
    source = [
        write(tmp_path / f"source.{d}", line) for d, line in enumerate(["Have you your hat?", "It rains."])
    ]
    references, lines = read_references(formal, informal, {"--source": source})
    assert references == [REFERENCE, UNMARKED]
    assert lines == {"--source": ["Have you your hat?", "It rains."]}


def refusal(*arguments):
    with pytest.raises(BadInput) as caught:
        read_references(*arguments)
    return str(caught.value)


def test_files_that_do_not_match_are_refused(tmp_path):
    formal = write(tmp_path / "formal", FORMAL_LINE, "Es regnet.")
    informal = write(tmp_path / "informal", INFORMAL_LINE)
    unmarked = write(tmp_path / "unmarked", "Hast du es?", "Es regnet.")
    assert refusal([formal], [informal], {}) == f"{informal}:2: ends after 1 lines, but {formal} goes on"
    assert refusal([informal], [informal], {"--source": [formal]}).startswith(
        f"{informal}:2: ends after 1 lines"
    )
    assert (
        refusal([formal], [informal, informal], {})
        == "--informal: expected as many files as for --formal, 1, found 2"
    )
    assert "--source" in refusal([formal], [formal], {"--source": []})
    assert refusal([formal], [unmarked], {}).startswith(
        f"{unmarked}: expected informal references with phrases"
    )
    empty = write(tmp_path / "empty")
    assert "found no line" in refusal([empty], [empty], {})
    assert "no such file" in refusal([tmp_path / "nowhere"], [informal], {})


# --- prompts ---


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
    content = json.loads(json.dumps(report.as_dict()))
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
