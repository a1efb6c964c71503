"""``ctxmt score-forms``: which translations have the form, what is counted and written, what is refused."""

import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.page.found import kind_of
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.expected_forms import has_form_as_ctxpro, has_words
from tests.helpers.contrastive_files import write, write_json
from tests.helpers.evaluations import result

CTXPRO = [
    {
        "expected": "sie",
        "rule": "NOM.FEM",
        "ante distance": 1,
        "src pronoun": "it",
        "ref segment": "Da ist sie!",
    },
    {"expected": "er", "rule": "NOM.MASC", "ante distance": 5, "src pronoun": "it", "ref segment": "Er kam."},
    {"expected": "sie", "rule": "NOM.FEM", "ante distance": 0, "src pronoun": "it", "ref segment": "Kam's?"},
    {"expected": "es", "rule": "NOM.NEUT", "src pronoun": "it", "ref segment": "Es kam."},
]
HYPOTHESES = ("Sie ist da.", "Der kam.", "Und Sie?", "Das kam, es kam.")


@pytest.mark.parametrize(
    ("translation", "form", "ctxpro", "by_words"),
    [
        ("Elle arrive.", "elle", True, True),
        ("elle", "Elle", True, True),
        ("Celle-ci arrive.", "elle", False, False),
        ("« Elle » !", "elle", True, True),
        ("«Elle»!", "elle", False, True),  # ctxpro knows ASCII punctuation only
        ("J'accepte.", "accepte", False, True),
        ("Qu'en dit-elle?", "elle", False, True),
        ("Peut-être.", "peut-être", False, True),
        ("Je sais  bien.", "sais bien", False, True),
        ("Ich weiß es nicht mehr", "weiß nicht", False, False),
        ("У неё", "НЕЁ", True, True),
        ("", "elle", False, False),
        ("cafe\u0301 noir", "café", True, True),  # the accent as a sign of its own
        ("是他，不是她。", "她", True, True),  # no blanks between words
        ("是他，不是她。", "不是他", False, False),
        ("これはペンです", "ペン", True, True),
        ("ฉันอยู่ที่นี่", "อยู่", True, True),
    ],
)
def test_which_translations_have_the_form(translation, form, ctxpro, by_words):
    assert has_form_as_ctxpro(translation, form) is ctxpro
    assert has_words(translation, form) is by_words


WORDS = st.lists(st.text("abcé", min_size=1, max_size=2), min_size=1, max_size=8)


@given(WORDS, WORDS, st.text(string.punctuation, max_size=3), st.booleans())
def test_both_rules_find_what_a_search_word_by_word_finds(translation, form, marks, upper):
    """Where punctuation only ends words the two agree."""
    within = any(translation[at : at + len(form)] == form for at in range(len(translation)))
    text = f"{marks} ".join(translation) + marks
    if upper:
        text = text.upper()
    assert has_form_as_ctxpro(text, " ".join(form)) is within
    assert has_words(text, " ".join(form)) is within


def score(tmp_path, *options, records=CTXPRO, hypotheses=HYPOTHESES):
    name = write_json(tmp_path / "gender.json", records)
    main(["score-forms", str(name), str(write(tmp_path / "hyp", *hypotheses)), *map(str, options)])


def test_report(tmp_path, capsys):
    score(tmp_path, "--json", tmp_path / "report.json")
    report = result(tmp_path / "report.json")
    right = [
        bool(re.search(rf"(^|\W){each['expected']}(\W|$)", text, re.IGNORECASE))
        for each, text in zip(CTXPRO, HYPOTHESES, strict=True)
    ]
    assert right == [True, False, True, True]

    def accuracies(kind):
        return {name: (tally["accuracy"], tally["examples"]) for name, tally in report[kind].items()}

    assert (report["name"], report["convention"], report["accuracy"]) == ("gender", "ctxpro", 75.0)
    assert accuracies("phenomena") == {"NOM.FEM": (100, 2), "NOM.MASC": (0, 1), "NOM.NEUT": (100, 1)}
    assert accuracies("forms") == {"sie": (100, 2), "er": (0, 1), "es": (100, 1)}
    assert accuracies("distances") == {"0": (100, 1), "1": (100, 1), ">3": (0, 1), "unknown": (100, 1)}
    assert (report["disc"], report["disc_all_d"]) == (50.0, pytest.approx(200 / 3))
    assert report["references"]["accuracy"] == 75.0
    assert report["references"]["phenomena"]["NOM.FEM"]["accuracy"] == 50.0
    assert kind_of(report) == "contrast"  # what reads those reads this
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert ["all", "4", "3", "75.00", "75.00"] in rows and [
        "form",
        "sie",
        "2",
        "2",
        "100.00",
        "50.00",
    ] in rows
    assert ["distance", ">3", "1", "0", "0.00", "100.00"] in rows


def test_matching_words(tmp_path, capsys):
    records = [{"expected": "accepte", "rule": "DO", "ref segment": "J'accepte."}]
    for matching, found in (("ctxpro", ("0", "0.00", "0.00")), ("words", ("1", "100.00", "100.00"))):
        score(tmp_path, "--matching", matching, records=records, hypotheses=["J'accepte !"])
        assert capsys.readouterr().out.splitlines()[2].split() == ["all", "1", *found]


def test_decisions_compare(tmp_path, capsys):
    files = []
    for name, hypotheses in (("a", HYPOTHESES), ("b", ("Da.", "Er.", "Nein.", "Es."))):
        files.append(str(tmp_path / name))
        score(tmp_path, "--examples", files[-1], hypotheses=hypotheses)
    main(["compare", "contrast", *files, "--json", str(tmp_path / "compared")])
    (overall, *groups) = result(tmp_path / "compared")["comparisons"]
    assert (overall["only_a"], overall["only_b"], overall["correct_a"]) == (2, 1, 3)
    assert {group["group"] for group in groups} >= {"NOM.FEM", "distance >3", "disc"}


def test_json_lines_and_context_lines(tmp_path, capsys, refusal):
    example = {"id": "x", "expected": "elle", "phenomenon": "all", "distance": None}
    path = write(tmp_path / "own.jsonl", json.dumps(example))
    hypotheses = write(tmp_path / "hyp", "Il dort.", "Elle dort.")
    marks = ("--current", str(write(tmp_path / "marks", "0", "1")))
    main(["score-forms", str(path), str(hypotheses), *marks, "--examples", str(tmp_path / "mine")])
    head, _, overall, group, *_ = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert head == ["own", "(ctxpro)", "examples", "found", "%"] and overall == ["all", "1", "1", "100.00"]
    assert group[:2] == ["phenomenon", "all"]  # the row of all examples has this name already
    write(path, json.dumps({**example, "expected": "il"}))
    main(["score-forms", str(path), str(hypotheses), *marks, "--examples", str(tmp_path / "other")])
    assert "x of own is another example than in" in refusal(
        main, ["compare", "contrast", str(tmp_path / "mine"), str(tmp_path / "other")]
    )


def test_contrapro(tmp_path, capsys):
    record = {"ref pronoun": "Es", "ref segment": "Es sank.", "ante distance": 1, "errors": []}
    score(tmp_path, "--json", tmp_path / "json", records=[record], hypotheses=["Dann sank es."])
    report = result(tmp_path / "json")
    assert report["phenomena"]["es"]["accuracy"] == report["distances"]["1"]["accuracy"] == 100
    assert "form es" not in capsys.readouterr().out  # the phenomena are the forms


GOOD = CTXPRO[0]
OWN = {"id": "x", "expected": "elle", "phenomenon": "pronoun", "distance": 1}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("set.json", [], "set.json: expected a list of objects"),
        ("set.json", {"a": 1}, "set.json: expected a list of objects"),
        ("set.json", [GOOD, 3], "set.json: example 2: expected an object with the key 'expected'"),
        ("set.json", [GOOD, {**GOOD, "expected": 3}], "example 2: expected a string at the key 'expected'"),
        (
            "set.json",
            [{**GOOD, "expected": "?!"}],
            "example 1: expected a word at the key 'expected', found '?!'",
        ),
        ("set.json", [{**GOOD, "ante distance": "1"}], "expected a whole number at the key 'ante distance'"),
        ("set.json", [{"expected": "er", "ref segment": "Er."}], "example 1: expected the key 'rule'"),
        ("set.json", [GOOD], "hyp: expected a translation of each of the 1 examples of "),
        ("set.jsonl", [OWN, OWN], "set.jsonl:2: the example x is there twice"),
        ("set.jsonl", [OWN, {**OWN, "id": "y", "distance": 1.5}], "set.jsonl:2: expected a whole number"),
        ("set.jsonl", [], "set.jsonl: expected examples, found none"),
    ],
)
def test_refused(tmp_path, refusal, name, content, message):
    path = tmp_path / name
    text = (
        json.dumps(content) if name.endswith("json") else "".join(json.dumps(one) + "\n" for one in content)
    )
    path.write_text(text)
    line = refusal(main, ["score-forms", str(path), str(write(tmp_path / "hyp", "Ja.", "Nein."))])
    assert message in line


@pytest.mark.parametrize("marks", [(), ("1", "0", "1", "1")])
def test_a_translation_of_other_sentences_is_refused(tmp_path, refusal, marks):
    path = write(tmp_path / "set.jsonl", *(json.dumps({**OWN, "id": str(at)}) for at in range(3)))
    given = ["--current", str(write(tmp_path / "marks", *marks))] if marks else []
    line = refusal(main, ["score-forms", str(path), str(write(tmp_path / "hyp", "Ja.", "Nein.")), *given])
    wanted = "4 lines, as in .*marks" if marks else "a translation of each of the 3 examples of .*"
    assert re.search(f"hyp: expected {wanted}, found 2; if .*mweralign", line)
