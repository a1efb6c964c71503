"""Significance tests against statsmodels, scipy, sacrebleu's PairedTest, and computations by hand."""

import itertools
import random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.evaluation.significance import resampling
from ctxmt_fairseq.evaluation.significance.measures import MEASURES, measure
from ctxmt_fairseq.evaluation.significance.p_values import holm, holm_within, mcnemar, stars, system_pairs
from ctxmt_fairseq.evaluation.significance.resampling import bootstrap_scores, paired_tests, randomization_p
from ctxmt_fairseq.evaluation.significance.systems import compare_translations, length_ratio, per_unit


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(only_a, only_b):
    table = [[7, only_a], [only_b, 3]]
    exact = only_a + only_b < 25
    if only_a == only_b:  # statsmodels gives more than nothing for no difference, and divides by 0
        assert mcnemar(only_a, only_b)[2:] == ("exact" if exact else "chi-squared", pytest.approx(1.0))
        return
    oracle = statsmodels_mcnemar(table, exact=exact, correction=True)
    assert mcnemar(only_a, only_b) == (
        only_a,
        only_b,
        "exact" if exact else "chi-squared",
        pytest.approx(oracle.pvalue, abs=1e-12),
    )


def test_mcnemar_by_hand():
    assert mcnemar(1, 5).p == pytest.approx(2 * (1 + 6) / 2**6)
    assert mcnemar(12, 12) == (12, 12, "exact", 1.0)
    assert mcnemar(5, 20).test == "chi-squared"  # 25 of them
    assert mcnemar(0, 0) == (0, 0, "exact", 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels(values):
    with patch("gc.collect"):  # which it calls each time, for a tenth of a second
        expected = list(multipletests(values, method="holm")[1])
    assert holm(values) == pytest.approx(expected)


def test_holm_within_families_and_stars():
    rows = [("x", 0.02), ("y", 0.04), ("x", 0.03)]
    corrected = holm_within(rows, lambda row: row[0], lambda row: row[1])
    assert corrected == pytest.approx([0.04, 0.04, 0.04])
    assert [stars(p) for p in (0.05, 0.049, 0.01, 0.0099)] == ["", "*", "*", "**"]


def test_pairs():
    assert system_pairs(3, all_pairs=False) == [(0, 1), (0, 2)]
    assert system_pairs(3, all_pairs=True) == [(0, 1), (0, 2), (1, 2)]
    with pytest.raises(BadInput, match="two or more systems"):
        system_pairs(1, all_pairs=False)


def texts(sentences=60, noise=(0.3, 0.25, 0.3)):
    drawn = random.Random(5)
    words = [f"w{number}" for number in range(40)]
    reference = [" ".join(drawn.choices(words, k=drawn.randint(4, 12))) for _ in range(sentences)]
    systems = [
        [
            " ".join(drawn.choice(words) if drawn.random() < share else w for w in line.split())
            for line in reference
        ]
        for share in noise
    ]
    return reference, systems


@pytest.mark.parametrize("name, metric", [("bleu", BLEU()), ("chrf2", CHRF())])
def test_scores_and_p_are_sacrebleus(name, metric, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    reference, systems = texts()
    named = [(str(place), system) for place, system in enumerate(systems)]
    ours = measure(name)
    statistics = [ours.statistics(system, reference) for system in systems]
    tests = paired_tests(statistics, [(0, 1), (0, 2)], ours.scores, 100, seed=7)

    _, randomized = PairedTest(named, {"metric": metric}, [reference], "ar", n_samples=100)()
    (key,) = [key for key in randomized if key != "System"]
    assert [tests[0].score_a, *(test.score_b for test in tests)] == [each.score for each in randomized[key]]
    assert [test.randomization_p for test in tests] == [each.p_value for each in randomized[key][1:]]

    _, bootstrapped = PairedTest(named, {"metric": metric}, [reference], "bs", n_samples=100)()
    drawn = bootstrap_scores(statistics, ours.scores, 100, seed=7)
    assert drawn.mean(axis=1) == pytest.approx([each.mean for each in bootstrapped[key]], abs=1e-4)
    difference = drawn[1] - drawn[0]
    assert (tests[0].low, tests[0].high) == pytest.approx(tuple(np.percentile(difference, (2.5, 97.5))))
    assert tests[0].wins == (difference > 0).mean()
    far = np.abs(difference - difference.mean()) >= abs(tests[0].difference)
    assert tests[0].bootstrap_p == pytest.approx((far.sum() + 1) / 101)
    assert tests[0].difference == tests[0].score_b - tests[0].score_a


def test_randomization_approaches_the_exact_permutation_test():
    first, second = np.array([[3.0], [1], [4], [1], [5], [9]]), np.array([[2.0], [7], [1], [8], [2], [8]])
    differences = (second - first)[:, 0]
    observed = abs(differences.sum())
    signs = itertools.product((1, -1), repeat=len(differences))
    exact = np.mean([abs(np.dot(sign, differences)) >= observed for sign in signs])

    def scorer(sums):
        return sums[:, 0]

    (p,) = randomization_p([(first, second)], scorer, 20_000, seed=1)
    assert p == pytest.approx(exact, abs=0.015)


def test_the_size_of_a_chunk_changes_nothing(monkeypatch):
    reference, systems = texts(50)
    ours = measure("bleu")
    statistics = [ours.statistics(system, reference) for system in systems]
    whole = paired_tests(statistics, [(0, 1)], ours.scores, 200, seed=3)
    monkeypatch.setattr(resampling, "_CHUNK", 50 * 64)
    assert paired_tests(statistics, [(0, 1)], ours.scores, 200, seed=3) == whole
    assert paired_tests(statistics, [(0, 1)], ours.scores, 200, seed=4) != whole


def test_a_system_does_not_differ_from_itself():
    reference, systems = texts()
    ours = measure("bleu")
    rows = ours.statistics(systems[0], reference)
    (test,) = paired_tests([rows, rows], [(0, 1)], ours.scores, 200, seed=1)
    assert (test.difference, test.low, test.high, test.wins) == (0, 0, 0, 0)
    assert (test.bootstrap_p, test.randomization_p) == (1, 1)


def test_documents_are_drawn_whole():
    reference, systems = texts(60)
    translation = Translation(systems[0], [reference], [1, 20, 4, 35])
    rows = measure("bleu").statistics(systems[0], reference)
    grouped = per_unit(rows, "document", translation)
    ends = (0, 1, 21, 25, 60)
    expected = [rows[start:end].sum(0) for start, end in itertools.pairwise(ends)]
    assert np.array_equal(grouped, expected)
    with pytest.raises(BadInput, match="two or more documents"):
        per_unit(rows, "document", Translation(systems[0], [reference], [60]))
    with pytest.raises(BadInput, match="needs --docids"):
        per_unit(rows, "document", Translation(systems[0], [reference]))


def test_holm_is_applied_within_a_metric_and_unit():
    reference, systems = texts(60)
    translations = [Translation(system, [reference], [10] * 6) for system in systems]
    measures = [measure("bleu"), measure("chrf1"), measure("chrf3")]
    comparisons = compare_translations(["a", "b", "c"], translations, measures, ["sentence", "document"], 100)
    assert [(c.metric, c.unit, c.units, c.a, c.b) for c in comparisons[:2]] == [
        ("bleu", "sentence", 60, "a", "b"),
        ("bleu", "sentence", 60, "a", "c"),
    ]
    assert len(comparisons) == 2 * 3 * 2
    for first, second in zip(comparisons[::2], comparisons[1::2], strict=True):
        assert [first.p_holm, second.p_holm] == holm(
            [first.result.randomization_p, second.result.randomization_p]
        )
    assert {c.result.difference for c in comparisons if c.unit == "document"} == {
        c.result.difference for c in comparisons if c.unit == "sentence"
    }


@pytest.mark.parametrize("lowercase", [False, True])
def test_signatures_are_known_before_anything_is_scored(lowercase):
    """Of several metrics with the same statistics only one counts them; all have a signature."""
    reference, (system, *_) = texts(5)
    fresh = {
        "bleu": BLEU(lowercase=lowercase),
        **{f"chrf{beta}": CHRF(beta=beta, lowercase=lowercase) for beta in (1, 2, 3)},
    }
    assert set(fresh) == set(MEASURES)
    for name, metric in fresh.items():
        metric.corpus_score(system, [reference])
        assert measure(name, lowercase=lowercase).signature == metric.get_signature().format()


def test_length_ratio():
    assert length_ratio(Translation(["a b c", ""], [["a b", "c d"]])) == 0.75
    assert length_ratio(Translation(["a b c", ""], [["", " "]])) is None
