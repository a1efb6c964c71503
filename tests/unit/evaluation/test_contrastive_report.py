"""Accuracies of contrastive sets: hand-computed tables, ties, and the paper's own Disc. numbers."""

import json
from dataclasses import replace

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import (
    CandidateScore,
    choose,
    contrastive_report,
    disc_numbers,
    example_lines,
)
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
)

SUM_CURRENT, MEAN_CURRENT = Convention("sum", "current"), Convention("mean", "current")
SUM_WINDOW, MEAN_WINDOW = Convention("sum", "window"), Convention("mean", "window")

# Focused concatenation, table 8: accuracies, then Disc., Disc_avg (and Disc_all-d); sizes from its last row.
DISTANCE_SIZES = {"0": 2400, "1": 7075, "2": 1510, "3": 573, ">3": 442}
DISTANCE_ROWS = {
    "base": [68.75, 32.89, 43.97, 47.99, 70.58, 37.27, 48.86, 43.57],
    "s4to4": [75.20, 68.89, 74.96, 79.58, 87.78, 71.35, 77.80, 72.12],
    "s4to4 + CD": [76.66, 72.86, 75.96, 80.10, 84.38, 74.31, 78.33, 74.78],
    "s4to4 + shift + CD": [75.25, 72.56, 77.15, 80.27, 86.65, 74.39, 79.16, 74.56],
    "s4to4 + sin + CD": [76.75, 71.83, 76.82, 80.97, 87.55, 73.88, 79.29, 74.46],
    "s4to4 + lrn + CD": [73.91, 70.21, 75.29, 77.66, 85.06, 72.14, 77.06, 72.49],
}
PHENOMENON_SIZES = {"deixis": 2500, "lex_cohesion": 1500, "ellipsis_infl": 500, "ellipsis_vp": 500}
MISPRINTED_AVERAGES = {"base": 43.67, "s3to3": 67.50}  # what the paper's own formula gives for these rows
PHENOMENON_ROWS = {
    "base": [50.00, 45.87, 51.80, 27.00, 46.64, 47.67],
    "s4to4": [85.80, 46.13, 79.60, 73.20, 72.02, 71.18],
    "s4to4 + CD": [87.16, 46.40, 81.00, 78.20, 73.42, 73.19],
    "s4to4 + shift + CD": [85.76, 48.33, 81.40, 80.40, 73.56, 73.97],
    "s2to2": [61.84, 46.07, 74.60, 69.00, 59.10, 62.88],
    "s3to3": [73.52, 45.87, 78.00, 72.60, 65.58, 66.45],
}


def example(id, phenomenon, distance, correct=0, candidates=2):
    texts = tuple(Candidate((), f"candidate {index}") for index in range(candidates))
    return ContrastiveExample(id, (), "source", (), texts, correct, phenomenon, distance)


def contrastive_set(*examples, format="contrapro"):
    return ContrastiveSet("demo", format, examples, SUM_CURRENT)


def scores(*sums):
    """One token each, so that all conventions agree."""
    return [CandidateScore(value, 1, value, 1) for value in sums]


RIGHT, WRONG, TIE = scores(-1.0, -2.0), scores(-2.0, -1.0), scores(-1.0, -1.0)


@pytest.mark.parametrize("row", DISTANCE_ROWS)
def test_disc_is_the_papers_for_english_german(row):
    *accuracies, disc, disc_avg, disc_all_d = DISTANCE_ROWS[row]
    groups = dict(zip(DISTANCE_SIZES, zip(accuracies, DISTANCE_SIZES.values(), strict=True), strict=True))
    numbers = disc_numbers({name: {"accuracy": a, "examples": n} for name, (a, n) in groups.items()})
    assert numbers["disc"] == pytest.approx(disc, abs=0.0101)
    assert numbers["disc_avg"] == pytest.approx(disc_avg, abs=0.0101)
    assert numbers["disc_all_d"] == pytest.approx(disc_all_d, abs=0.0101)


@pytest.mark.parametrize("row", PHENOMENON_ROWS)
def test_disc_is_the_papers_for_english_russian(row):
    *accuracies, disc, disc_avg = PHENOMENON_ROWS[row]
    groups = dict(zip(PHENOMENON_SIZES, zip(accuracies, PHENOMENON_SIZES.values(), strict=True), strict=True))
    numbers = disc_numbers({name: {"accuracy": a, "examples": n} for name, (a, n) in groups.items()})
    assert numbers["disc"] == pytest.approx(disc, abs=0.0101)
    assert numbers["disc_all_d"] == numbers["disc"]
    assert numbers["disc_avg"] == pytest.approx(MISPRINTED_AVERAGES.get(row, disc_avg), abs=0.0101)


def test_report_by_hand():
    """Distance 0: 1 of 2; 1: 3 of 4; 2: 0 of 1; >3 (4 and 7): 1 of 2, by a tie."""
    plan = [
        ("es", 0, RIGHT),
        ("er", 0, WRONG),
        ("es", 1, RIGHT),
        ("es", 1, RIGHT),
        ("er", 1, RIGHT),
        ("er", 1, WRONG),
        ("er", 2, WRONG),
        ("es", 4, RIGHT),
        ("es", 7, TIE),
    ]
    examples = [example(str(i), phenomenon, distance) for i, (phenomenon, distance, _) in enumerate(plan)]
    report = contrastive_report(contrastive_set(*examples), [row for _, _, row in plan])
    numbers = report.as_dict()
    assert (numbers["examples"], numbers["correct"], numbers["ties"]) == (9, 5, 1)
    assert numbers["accuracy"] == pytest.approx(500 / 9)
    assert numbers["tie_share"] == pytest.approx(100 / 9)
    assert {name: group["accuracy"] for name, group in numbers["distances"].items()} == {
        "0": 50,
        "1": 75,
        "2": 0,
        ">3": 50,
    }
    assert list(numbers["distances"]) == ["0", "1", "2", ">3"]
    assert numbers["phenomena"]["es"]["accuracy"] == 80 and numbers["phenomena"]["er"]["accuracy"] == 25
    assert numbers["disc"] == pytest.approx(100 * 4 / 7)
    assert numbers["disc_avg"] == pytest.approx((75 + 0 + 50) / 3)
    assert numbers["disc_all_d"] == pytest.approx(500 / 9)
    assert numbers["conventions"]["sum-current"]["accuracy"] == numbers["accuracy"]
    assert set(numbers["conventions"]) == {"sum-current", "sum-window", "mean-current", "mean-window"}
    json.dumps(numbers)


def test_voita_groups_are_phenomena():
    examples = [example("1", "deixis", 1), example("2", "deixis", 3), example("3", "ellipsis_vp", 1)]
    numbers = contrastive_report(contrastive_set(*examples, format="voita"), [RIGHT, WRONG, RIGHT]).as_dict()
    assert numbers["disc"] == numbers["disc_all_d"] == pytest.approx(200 / 3)
    assert numbers["disc_avg"] == pytest.approx((50 + 100) / 2)


def test_unknown_distance_gives_no_disc():
    examples = [example("1", "il", None), example("2", "elle", None)]
    report = contrastive_report(contrastive_set(*examples, format="opensubs"), [RIGHT, WRONG])
    numbers = report.as_dict()
    assert numbers["accuracy"] == 50 and numbers["distances"]["unknown"]["examples"] == 2
    assert numbers["disc"] is numbers["disc_avg"] is numbers["disc_all_d"] is None
    assert "Disc_all-d" in report.table()


def test_a_following_sentence_needs_context():
    examples = [example("1", "cataphora", -1), example("2", "cataphora", 0)]
    numbers = contrastive_report(contrastive_set(*examples, format="jsonl"), [RIGHT, WRONG]).as_dict()
    assert list(numbers["distances"]) == ["-1", "0"]
    assert (numbers["disc"], numbers["disc_all_d"]) == (100, 50)


@pytest.mark.parametrize(
    "values, correct, chosen, right, tie",
    [
        ((-1.0, -2.0, -3.0), 0, 0, True, False),
        ((-1.0, -2.0, -3.0), 1, 0, False, False),
        ((-1.0, -1.0, -3.0), 0, None, False, True),  # the correct candidate among the best
        ((-1.0, -1.0, -3.0), 2, None, False, True),  # and not among them
        ((-1.0, -3.0, -3.0), 0, 0, True, False),  # a tie of the losers is none
    ],
)
def test_ties(values, correct, chosen, right, tie):
    choice = choose(scores(*values), correct, SUM_CURRENT)
    assert (choice.chosen, choice.correct, choice.tie) == (chosen, right, tie)


def test_the_four_conventions_differ():
    """Candidate 0 is best by mean-current and sum-window, candidate 1 by sum-current and mean-window."""
    row = [CandidateScore(-4.0, 8, -5.0, 9), CandidateScore(-3.0, 3, -9.0, 27)]
    chosen = {
        each: choose(row, 0, each).chosen for each in (SUM_CURRENT, MEAN_CURRENT, SUM_WINDOW, MEAN_WINDOW)
    }
    assert chosen == {SUM_CURRENT: 1, MEAN_CURRENT: 0, SUM_WINDOW: 0, MEAN_WINDOW: 1}
    the_set = contrastive_set(example("1", "es", 1))
    assert contrastive_report(the_set, [row]).as_dict()["accuracy"] == 0
    report = contrastive_report(the_set, [row], MEAN_CURRENT)
    numbers = report.as_dict()
    assert (numbers["convention"], numbers["accuracy"]) == ("mean-current", 100)
    assert {key: each["accuracy"] for key, each in numbers["conventions"].items()} == {
        "sum-current": 0,
        "sum-window": 100,
        "mean-current": 100,
        "mean-window": 0,
    }
    assert "100.00" in report.table()


def test_table():
    examples = [example("1", "es", 0), example("2", "sie", 1), example("3", "sie", 1)]
    table = contrastive_report(contrastive_set(*examples), [RIGHT, WRONG, TIE]).table()
    assert table.splitlines() == [
        "demo (sum-current)  examples  accuracy %  ties  ties %",
        "------------------------------------------------------",
        "all                        3       33.33     1   33.33",
        "es                         1      100.00     0    0.00",
        "sie                        2        0.00     1   50.00",
        "distance 0                 1      100.00     0    0.00",
        "distance 1                 2        0.00     1   50.00",
        "Disc.                               0.00",
        "Disc_avg                            0.00",
        "Disc_all-d                         33.33",
    ]


def test_a_phenomenon_with_the_name_of_another_group_replaces_none():
    examples = [example("1", "all", 1), example("2", "distance 1", 0), example("3", "x", 0)]
    rows = contrastive_report(contrastive_set(*examples), [RIGHT, WRONG, WRONG]).table().splitlines()[2:7]
    assert [row.rsplit(None, 4)[:3] for row in rows] == [
        ["all", "3", "33.33"],
        ["phenomenon all", "1", "100.00"],
        ["phenomenon distance 1", "1", "0.00"],
        ["x", "1", "0.00"],
        ["distance 0", "2", "0.00"],
    ]


def test_example_lines():
    the_set = contrastive_set(example("a", "es", 2), example("b", "er", None))
    rows = [[CandidateScore(-1.5, 3, -4.0, 9), CandidateScore(-2.0, 3, -4.5, 9)], TIE]
    first, second = map(json.loads, example_lines(the_set, rows, SUM_CURRENT))
    other = replace(the_set.examples[0], source="another source")
    (third,) = map(json.loads, example_lines(contrastive_set(other), rows[:1], SUM_CURRENT))
    assert first.pop("content") == second["content"] != third["content"]
    assert first == {
        "set": "demo",
        "id": "a",
        "phenomenon": "es",
        "distance": 2,
        "correct": 0,
        "chosen": 0,
        "tie": False,
        "convention": "sum-current",
        "scores": [
            {"current_sum": -1.5, "current_tokens": 3, "window_sum": -4.0, "window_tokens": 9},
            {"current_sum": -2.0, "current_tokens": 3, "window_sum": -4.5, "window_tokens": 9},
        ],
    }
    assert (second["chosen"], second["tie"], second["distance"]) == (None, True, None)


def test_scores_that_do_not_fit():
    the_set = contrastive_set(example("a", "es", 2))
    for rows in ([], [RIGHT, RIGHT], [scores(-1.0)]):
        with pytest.raises(ValueError, match="one score per candidate"):
            contrastive_report(the_set, rows)
    with pytest.raises(BadInput, match="not a number"):
        contrastive_report(the_set, [scores(-1.0, float("nan"))])
