"""Differences over seeds and examples: against the papers' analysis of variance, and by simulation."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.seeds import ONE_RUN, about, over_seeds, pseudovalues
from tests.unit.evaluation.test_compare import examples

RUNS = Path(__file__).parents[3] / "docs/results/runs"


def drawn(generator, seeds, units, of_seeds=1.0, of_units=3.0, rest=3.0):
    """Values of one system's runs, (S, N)."""
    values = of_seeds * generator.standard_normal((seeds, 1)) + rest * generator.standard_normal(
        (seeds, units)
    )
    return values + of_units * generator.standard_normal((1, units))


def published(first, second):
    """The parts of the variance of the difference, of seeds and of examples, by the mean squares of Dorfman,
    Berbaum and Metz (1992): treatments x readers x cases, with F = ms_t / (ms_tr + ms_tc - ms_trc)."""
    x = np.stack([first, second])
    t, r, c = x.shape
    of_t, of_r, of_c = (x.mean(axes, keepdims=True) for axes in ((1, 2), (0, 2), (0, 1)))
    tr, tc, rc = (x.mean(axis, keepdims=True) for axis in (2, 1, 0))
    ms_t = r * c * ((of_t - x.mean()) ** 2).sum()
    ms_tr = c * ((tr - of_t - of_r + x.mean()) ** 2).sum() / (r - 1)
    ms_tc = r * ((tc - of_t - of_c + x.mean()) ** 2).sum() / (c - 1)
    rest = x - tr - tc - rc + of_t + of_r + of_c - x.mean()
    ms_trc = (rest**2).sum() / ((r - 1) * (c - 1))
    assert ms_tc > ms_trc
    scale = (second.mean() - first.mean()) ** 2 / ms_t
    return scale * ms_tr, scale * (ms_tc - ms_trc)


def test_p_and_interval_are_those_of_the_papers():
    """p is where the interval of Cochran and Cox ends at 0."""
    generator = np.random.default_rng(2)
    for seeds, units in ((2, 200), (3, 40), (4, 400), (6, 30)):
        first, second = (drawn(generator, seeds, units, of_seeds=2.0) for _ in range(2))
        found, parts = over_seeds(first, second), published(first, second)
        deviation = sum(parts) ** 0.5

        def quantile(p, parts=parts, degrees=(seeds - 1, units - 1)):
            each = [part * stats.t.ppf(1 - p / 2, df) for part, df in zip(parts, degrees, strict=True)]
            return sum(each) / sum(parts)

        assert quantile(found.p) * deviation == pytest.approx(abs(found.mean), rel=1e-6)
        assert (found.high - found.mean, found.mean - found.low) == pytest.approx(
            (quantile(0.05) * deviation,) * 2
        )
        assert found.mean == pytest.approx(second.mean() - first.mean()) and 0.01 < found.p < 1
        assert (found.score_a, found.score_b) == pytest.approx((first.mean(), second.mean()))


def test_runs_of_different_numbers_are_independent():
    """The t of Cochran and Cox where examples do not vary; and a single run is taken as the only one."""
    first, second = np.array([[1.0], [4.0], [2.0]]), np.array([[7.0], [5.0], [9.0], [6.0]])
    found = over_seeds(first, second)
    parts = [runs.var(ddof=1) / len(runs) for runs in (first, second)]
    t = sum(part * stats.t.ppf(0.975, df) for part, df in zip(parts, (2, 3), strict=True)) / sum(parts)
    assert found.high - found.mean == pytest.approx(t * sum(parts) ** 0.5) and found.seeds == (3, 4)
    one = over_seeds(first[:1], second)
    assert one.p == pytest.approx(stats.ttest_1samp(second[:, 0], 1.0).pvalue)
    pair = drawn(np.random.default_rng(1), 2, 50)
    both = over_seeds(pair[:1], pair[1:])
    assert both.p == pytest.approx(stats.ttest_rel(pair[0], pair[1]).pvalue)
    for method, text in (
        (found.method, "independent"),
        (one.method, "Student"),
        (both.method, "Cochran and Cox"),
    ):
        assert text in method


@pytest.mark.parametrize(("runs", "of_seeds"), [((3, 3), 0.5), ((3, 3), 0.0), ((3, 5), 0.5)])
def test_one_in_twenty_differences_of_nothing_is_significant(runs, of_seeds):
    """Decisions (0 or 1) on 100 examples, whose difficulty all runs share; seeds make a run better or worse.
    The test over examples alone is significant far more often where seeds differ."""
    generator = np.random.default_rng(3)
    significant, alone, rounds = 0, 0, 300
    for _ in range(rounds):
        difficulty = generator.standard_normal(100)
        systems = []
        for count in runs:
            ability = of_seeds * generator.standard_normal((count, 1)) + difficulty
            systems.append((ability + generator.standard_normal((count, 100)) > 0).astype(float))
        significant += over_seeds(*systems).p < 0.05
        differences = systems[1].mean(0) - systems[0].mean(0)
        alone += abs(differences.mean()) > 1.984 * differences.std(ddof=1) / 10
    assert 0.005 <= significant / rounds <= 0.06
    assert alone / rounds > (0.25 if of_seeds else 0.02)


def test_nineteen_in_twenty_intervals_hold_the_difference():
    generator = np.random.default_rng(7)
    held, rounds = 0, 300
    for _ in range(rounds):
        units = 3.0 * generator.standard_normal((2, 1, 60))
        first, second = (drawn(generator, 3, 60, of_units=0) + each for each in units)
        found = over_seeds(first, second + 2.0)
        held += found.low <= 2 <= found.high
    assert 0.94 <= held / rounds <= 0.99


def test_variance_is_not_below_that_of_the_examples():
    """Runs that lie together by chance."""
    values = drawn(np.random.default_rng(4), 3, 200)
    values += 0.3 - values.mean(1, keepdims=True)
    found = over_seeds(np.zeros_like(values), values)
    assert found.p >= stats.ttest_1samp(values.mean(0), 0).pvalue > 0


def test_differences_without_spread():
    same = over_seeds(np.ones((3, 4)), np.ones((3, 4)))
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)
    other = over_seeds(np.zeros((3, 4)), np.ones((3, 4)))
    assert (other.low, other.high, other.p) == (1, 1, 1 / 8)  # the sign test of four examples


def test_pseudovalues_have_the_score_as_mean():
    """Of a mean they are the values; of BLEU what leaving out a sentence takes away."""
    rows = np.random.default_rng(5).integers(1, 9, size=(7, 1)).astype(float)
    ones = np.concatenate([rows, np.ones_like(rows)], axis=1)
    assert pseudovalues(ones, lambda sums: sums[:, 0] / sums[:, 1]) == pytest.approx(rows[:, 0])
    bleu = measure("bleu")
    lines = [f"a b c d e {word} g" for word in "vwxyz"]
    rows = bleu.statistics(lines, [f"a b c d e w {word}" for word in "ghghg"])
    score = bleu.scores(rows.sum(0)[None])[0]
    plain = np.array(
        [5 * score - 4 * bleu.scores(np.delete(rows, place, 0).sum(0)[None])[0] for place in range(5)]
    )
    assert pseudovalues(rows, bleu.scores) == pytest.approx(plain - plain.mean() + score)


def test_what_tests_are_about():
    assert about(["a", "a"]) == "" and about(["a", "b"]) == ONE_RUN and "trained models" in ONE_RUN
    result = over_seeds(np.eye(3), np.ones((3, 3)))
    said = about(["a", "a", "a", "b", "b", "c"], [result, result]).splitlines()
    assert said[0] == result.method and "c has one run" in said[1] and "b: two runs are too few" in said[2]


# ---- the commands ------------------------------------------------------------------------------------


def decisions(row, seed):
    record = json.loads((RUNS / f"{row}.{seed}.json").read_text())
    return np.array(list(record["pronouns"]["document"]["decisions"])) == "1"


def test_claims_of_the_results_that_hold_and_do_not():
    """By seeds alone +1.72 has p .13, +1.38 .12, +11.65 .002 and 9.2 to 14.1; examples add to that."""
    right = {
        row: np.array([100.0 * decisions(row, seed) for seed in (1, 2, 3)])
        for row in ("control", "gated", "s2to2", "s2to2+CD", "s2to2+shift+CD")
    }
    discount, shift, gated = (
        over_seeds(right[a], right[b])
        for a, b in (("s2to2", "s2to2+CD"), ("s2to2+CD", "s2to2+shift+CD"), ("control", "gated"))
    )
    assert [round(each.mean, 2) for each in (discount, shift, gated)] == [1.72, 1.38, 11.65]
    assert (discount.p, shift.p, gated.p) == pytest.approx((0.13, 0.12, 0.002), abs=0.025)
    assert (gated.low, gated.high) == pytest.approx((9.2, 14.1), abs=0.5)


def test_contrast_of_several_seeds(tmp_path, capsys, refusal):
    """Every seed of b beats its seed of a by McNemar's test, but by 10, 25 and 60 of 100 examples."""
    shape = {"distances": (1,) * 100, "phenomena": "x" * 99 + "y"}
    wins, systems = (10, 25, 60), {"a": [], "b": []}
    for seed, more in enumerate(wins):
        for name, count in (("a", 20), ("b", 20 + more)):
            path = examples(tmp_path / f"{name}.{seed}", "1" * count + "0" * (100 - count), **shape)
            systems[name].append(path)
    record = tmp_path / "json"
    for pair in zip(*systems.values(), strict=True):
        main(["compare", "contrast", *pair, "--json", str(record)])
        found = json.loads(record.read_text())
        assert found["comparisons"][0]["p"] < 0.01 and found["about"] == ONE_RUN
    named = [f"{name}={path}" for name, paths in systems.items() for path in paths]
    main(["compare", "contrast", *named, "--json", str(record)])
    found = json.loads(record.read_text())
    whole = found["comparisons"][0]
    assert [each["group"] for each in found["comparisons"]] == ["all", "x", "distance 1", "disc"]
    assert (whole["a"], whole["b"], whole["seeds"], whole["stars"]) == ("a", "b", [3, 3], "")
    assert (
        whole["mean"] == pytest.approx(np.mean(wins))
        and whole["p"] > 0.05
        and whole["low"] < 0 < whole["high"]
    )
    assert (whole["correct_a"], whole["correct_b"]) == pytest.approx((20, 20 + np.mean(wins)))
    printed = capsys.readouterr().out
    assert (
        "Cochran and Cox (1957)" in printed
        and "95 % interval" in printed
        and whole["method"] in found["about"]
    )
    assert "give each run of a once" in refusal(main, ["compare", "contrast", *named, named[0]])


def test_translations_of_several_seeds(tmp_path, capsys):
    """Corrected over the systems; over documents, whose pseudovalues are those of sacrebleu's BLEU."""
    generator = np.random.default_rng(6)
    words = generator.integers(0, 9, size=(40, 8)).astype(str)
    texts = {"ref": words, "docids": [[f"{number // 4}"] for number in range(40)]}
    for name, kept in (("a", 0.7), ("b", 0.75), ("c", 0.95)):
        for seed in range(3):
            texts[f"{name}.{seed}"] = np.where(generator.random(words.shape) < kept - 0.02 * seed, words, "x")
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{' '.join(line)}\n" for line in lines))
    systems = [f"{name}={tmp_path}/{name}.{seed}" for name, seed in itertools.product("abc", range(3))]
    files = [str(tmp_path / "ref"), *systems, "--docids", str(tmp_path / "docids"), "--metric", "bleu"]
    main(["compare", "translations", *files, "--json", str(tmp_path / "json")])
    first, second = json.loads((tmp_path / "json").read_text())["comparisons"]
    assert [(each["a"], each["b"], each["unit"], each["units"]) for each in (first, second)] == [
        ("a", "b", "document", 10),
        ("a", "c", "document", 10),
    ]
    bleu = measure("bleu")
    rows = {
        name: bleu.statistics(*([" ".join(line) for line in lines] for lines in (texts[name], words)))
        for name in texts
        if "." in name
    }
    grouped = {name: each.reshape(10, 4, -1).sum(1) for name, each in rows.items()}
    values = [
        np.array([pseudovalues(grouped[f"{name}.{seed}"], bleu.scores) for seed in range(3)]) for name in "ac"
    ]
    expected = over_seeds(*values, "document")
    assert (second["p"], second["low"], second["mean"]) == pytest.approx(
        (expected.p, expected.low, expected.mean)
    )
    assert second["stars"] == "**" and second["p_holm"] == pytest.approx(2 * second["p"])
    printed = capsys.readouterr().out
    assert expected.method in printed and "bootstrap p" not in printed and "samples" not in printed
