"""The tables of docs/results/, and where they stand there."""

import itertools
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.significance.p_values import holm
from tests.helpers.evidence_runs import result, training_result


@pytest.fixture
def tables(evidence):
    return evidence.tables


def shown(tables, results):
    return tables.text(tables.named(results, {}))


def test_tables_compare_with_the_control_of_the_same_seed(evidence, tmp_path):
    """20 examples that only the system has right: McNemar's exact p is 2 / 2^20, with stars."""
    wins = {"control": "0" * 20 + "1" * 10, "gated": "1" * 30}
    for (row, decisions), seed in itertools.product(wins.items(), (1, 2)):
        (tmp_path / f"{row}.{seed}.json").write_text(json.dumps(result(row, seed, decisions, 10.0 + seed)))
    (tmp_path / "search.json").write_text("{}")
    candidate = {**training_result("search-base", 1), "learning_curve": []}  # has no decisions
    (tmp_path / "search-base.1.json").write_text(json.dumps(candidate))
    text = shown(evidence.tables, evidence.records.read_all(tmp_path))
    test = stats.ttest_1samp([100.0] * 20 + [0.0] * 10, 0)  # both seeds have the same examples right
    low, high = test.confidence_interval()
    over_seeds = f"+66.67** ({low:+.2f} .. {high:+.2f})"
    assert test.pvalue < 5e-5 and f"| gated | +66.67**, +66.67** | {over_seeds} | < 0.0001 |  |  |  |" in text
    assert f"| gated | 1, 2 | 100.00 ± 0.00 |  | {over_seeds} | 11.50 ± 0.71 |  |" in text
    assert "| control | 1, 2 | 2.500 ± 0.000 | 11.50 ± 0.71 |" in text
    assert "| gated | 1, 2 | 100.00 ± 0.00 |  | 100.00 ± 0.00 |" in text
    missing = text.rpartition("Missing: ")[2]
    assert "`sentence.1`" in missing and "`gated.3`" in missing and "`gated.1`" not in missing


def test_a_row_in_float32_is_compared_with_the_control_in_float32(evidence):
    """But not the sentence-level model, from which the fast control started."""
    leads = evidence.leads
    wins = {"control": "10", "float32-control": "00", "gated": "11", "MTCue": "11", "sentence": "11"}
    found = {(row, 1): result(row, 1, decisions) for row, decisions in wins.items()}
    for row in ("float32-control", "MTCue", "sentence"):
        found[row, 1]["train"] = []
    values = {row: lead.value for (row, _), lead in leads.over_control(found).items()}
    assert values == {"gated": 50, "MTCue": 100, "sentence": 50}
    del found["float32-control", 1]
    assert leads.over_control(found)["MTCue", 1].value == 50


def test_a_papers_page_has_the_control_that_its_row_is_compared_with(tables):
    found = {(row, 1): result(row, 1, "10") for row in ("control", "float32-control", "MTCue", "gated")}
    for row in ("float32-control", "MTCue"):
        found[row, 1]["train"] = []
    shown = [line.split(" | ")[0] for line in tables.recipe_table(found, ["control", "MTCue"]).splitlines()]
    assert shown[2:] == ["| control", "| MTCue", "| float32-control"]


def test_tables_replace_those_of_the_page(tables, tmp_path):
    page = tmp_path / "page.md"
    place = tables.BEGIN + "{}" + tables.END
    page.write_text(
        f"# Before\n{place.format('new', 'old', 'new')}\n## After\n{place.format('none', '', 'none')}"
    )
    for _ in range(2):
        tables.rewrite(page, {"new": "| 1 |", "none": "", "other": "| 2 |"})
    first, rest = page.read_text().split("## After\n")
    assert first == f"# Before\n{place.format('new', '| 1 |' + chr(10), 'new')}\n"
    assert rest == place.format("none", "\n", "none")


def test_every_table_has_one_place_in_the_pages_of_results(evidence):
    pages = [evidence.workplace.RESULTS.parent / page for page in evidence.driver.PAGES]
    places = [name for page in pages for name in evidence.tables.places(page.read_text())]
    names = list(evidence.tables.named({}, dict.fromkeys(evidence.workplace.SERIES, {})))
    # What these texts do not have; and the models of the help pages' tagged words are gone.
    never = {f"help pages, {kind}" for kind in ("pronouns", "pairs", "words", "groups", "tagged words")}
    never |= {f"en-fr-subtitles, {kind}" for kind in ("terms", "tagged words")}
    assert sorted(places) == sorted(set(names) - never)


@pytest.mark.slow
def test_the_pages_of_results_are_what_the_results_say(evidence):
    read = evidence.records.read_all
    series = {name: read(path) for name, path in evidence.workplace.SERIES.items()}
    tables = evidence.tables.named(read(evidence.workplace.RESULTS), series)
    for page in evidence.driver.PAGES:
        text = (evidence.workplace.RESULTS.parent / page).read_text()
        for name in evidence.tables.places(text):
            assert f"written by examples/evidence/run.sh -->\n{tables[name]}\n<!-- end of {name} -->" in text


def test_a_papers_page_has_its_rows(tables):
    found = {(row, 1): result(row, 1, "0" * 20 + "1" * 10) for row in ("control", "gated", "caching")}
    found["gated", 1] = result("gated", 1, "1" * 30)
    table = tables.recipe_table(found, ["gated", "control"]).splitlines()
    assert [line.split(" | ")[0] for line in table[2:]] == ["| control", "| gated"]
    assert "| gated | 1 | 100.00 |  | +66.67 |" in table[3]
    assert tables.recipe_table({}, ["control"]) == ""


def test_rows_are_compared_with_each_other_and_with_their_random_context(evidence):
    found = {("s2to2", 1): result("s2to2", 1, "0" * 20 + "1" * 10)}
    found["s2to2+CD", 1] = result("s2to2+CD", 1, "1" * 30)
    found["s2to2+CD", 1]["pronouns"]["random"] = {"decisions": "1" * 28 + "00", "accuracy": 93.3}
    rows, random = evidence.score_tables.pairs_table(found).splitlines()[2:]
    assert rows == "| s2to2+CD - s2to2 | +66.67** |  |  |  |  |  |"  # a single seed says nothing of others
    assert random == "| s2to2+CD: own - random context | +6.67 |  |  |  |  |  |"
    found["control", 1] = result("control", 1, "1" * 29 + "0")
    *_, last = evidence.score_tables.pairs_table(found).splitlines()
    assert last.startswith("| s2to2+CD: random context - control | -3.33 |  |")
    for seed in (2, 3):
        for row in ("s2to2", "s2to2+CD", "control"):
            right = found[row, 1]["pronouns"]["document"]["decisions"]
            found[row, seed] = result(row, seed, right[seed:] + right[:seed])
            if row == "s2to2+CD":
                found[row, seed]["pronouns"]["random"] = {
                    "decisions": "0" * 10 * seed + "1" * (30 - 10 * seed)
                }
    _, _, rows, own, other = evidence.score_tables.pairs_table(found).splitlines()
    assert rows.startswith("| s2to2+CD - s2to2 | +66.67**, +66.67**, +66.67** | +66.67** (")
    # corrected among pairs of their kind, of which there is one each
    tested = evidence.leads.over_random(found)
    added = zip(*(tested["s2to2+CD", seed].added for seed in (1, 2, 3)), strict=True)
    test = evidence.leads.over_seeds(*map(np.stack, added))
    assert f"| {test.mean:+.2f} ({test.low:+.2f} .. {test.high:+.2f}) | {test.p:.4f} |" in own
    assert test.p > 0.05 and "random context - control" in other


def test_bleu_is_compared_without_the_translations(evidence, tmp_path):
    """From what each document adds to it, as ``ctxmt compare translations`` does from the translations; an
    older result, which does not have that, keeps what was found then."""
    place = evidence.workplace.Workplace(tmp_path, tmp_path, tmp_path)
    words = np.random.default_rng(1).integers(0, 9, size=(60, 8)).astype(str)
    reference, other = (tmp_path / f"text/test.{kind}" for kind in ("fr", "docids"))
    reference.parent.mkdir()
    reference.write_text("".join(f"{' '.join(row)}\n" for row in words))
    other.write_text("".join(f"{number // 4}\n" for number in range(60)))
    (tmp_path / "text/test.en").touch()
    found, files = {}, []
    for row, kept in (("control", 6), ("gated", 7), ("s2to2", 5)):
        run = evidence.evaluation.Trained(place, row, 1)
        run.folder.mkdir(parents=True)
        lines = [" ".join([*line[: kept - number % 3], "x", line[-1]]) for number, line in enumerate(words)]
        run.translation.write_text("".join(f"{line}\n" for line in lines))
        files.append(run.translation)
        found[row, 1] = {**result(row, 1, "10"), "statistics": evidence.evaluation.statistics(run)}
    assert len(found["gated", 1]["statistics"]["bleu"]) == 15
    found = {run: json.loads(json.dumps(one)) for run, one in found.items()}
    paths = map(str, (reference, *files))
    record = tmp_path / "compared.json"
    options = f"--docids {other} --all-pairs --metric bleu --json {record}".split()
    assert main(["compare", "translations", *paths, *options]) == 0
    compared = json.loads(record.read_text())["comparisons"]
    pairs = {(each["a"], each["b"]): each for each in compared}
    leads = evidence.leads.bleu_over_control(found)
    for row in ("gated", "s2to2"):
        each = pairs["control", row]
        assert leads[row, 1].value == pytest.approx(each["difference"], abs=1e-9)
    uncorrected = [pairs["control", row]["randomization_p"] for row in ("gated", "s2to2")]
    assert [leads[row, 1].p for row in ("gated", "s2to2")] == holm(uncorrected)
    between = evidence.leads.bleu_between_rows(found)["s2to2", "gated", 1]
    assert between.value == pytest.approx(-pairs["gated", "s2to2"]["difference"], abs=1e-9)
    assert f"| {between} |" in evidence.score_tables.pairs_table(found)
    theirs, ours = between.added  # pseudovalues, with the score as mean
    assert ours.mean() - theirs.mean() == pytest.approx(between.value)
    then = {"metric": "bleu", "score_a": 10.0, "score_b": 12.0, "randomization_p": 0.5}
    found["gated", 1]["compared"] = {"comparisons": [then]}
    assert evidence.leads.bleu_over_control(found) == leads
    del found["gated", 1]["statistics"]
    assert str(evidence.leads.bleu_over_control(found)["gated", 1]) == "+2.00"
    then["score_a"] = 9.0  # another training of the control
    assert ("gated", 1) not in evidence.leads.bleu_over_control(found)


def test_every_text_has_its_tables(tables):
    """Windows of other sizes, attention, and BLEU against the control's, corrected over seeds and rows."""
    found = {("de-help-control", seed): result("de-help-control", seed, "1") for seed in (1, 2)}
    for seed, p in ((1, 0.001), (2, 0.03)):
        comparison = {"metric": "bleu", "score_a": 10.0, "score_b": 10.5 + seed, "randomization_p": p}
        found["de-help-s2to2", seed] = {
            **result("de-help-s2to2", seed, "1"),
            "windows": {"sizes": [{"size": size, "bleu": 10.0 * seed + size} for size in (0, 1)]},
            "attention": {
                "means": dict.fromkeys(("share, encoder", "share, decoder", "share, both"), 0.5)
                | {"entropy, all": 1.25}
            },
            "compared": {"comparisons": [{"metric": "chrf2"}, comparison]},
            "consistency": {
                "systems": [
                    {"system": name, "alike": share}
                    for name, share in (
                        ("de-help-sentence", 60.0),
                        ("de-help-s2to2", 70.0),
                        ("reference", 80.0),
                    )
                ],
                "comparisons": [
                    {
                        "a": name,
                        "b": "de-help-s2to2",
                        "metric": metric,
                        "score_a": 60,
                        "score_b": score,
                        "stars": "*",
                    }
                    for name, metric, score in (
                        ("de-help-sentence", "main", 90),
                        ("de-help-sentence", "alike", 70),
                        ("de-help-control", "alike", 65),
                    )
                ],
            },
        }
        bits = {"n": 9, "bits_per_word": 0.0312 * seed, "bits": 0.3, "low": -0.01, "high": 0.07}
        found["de-help-s2to2", seed]["tagged_words"] = {"cohesion": bits, **({} if seed > 1 else {"x": bits})}
    for one in found.values():
        del one["pronouns"]
    text = shown(tables, {**found, ("control", 1): result("control", 1, "10")})
    subtitles, pages = text.split("### help pages, scores")
    assert "### en-fr-subtitles, scores" in subtitles and "de-help" not in subtitles
    assert "| de-help-s2to2 |  |  |  | +1.50**, +2.50* |  |  |" in pages  # not known by document
    assert "| window of | seeds | 1: BLEU | 2: BLEU |" in pages
    assert "| de-help-s2to2 | 1, 2 | 15.00 ± 7.07 | 16.00 ± 7.07 |" in pages
    assert (
        "| de-help-s2to2 | 1, 2 | 0.5000 ± 0.0000 | 0.5000 ± 0.0000 | 0.5000 ± 0.0000 | 1.2500 ± 0.0000 |"
        in pages
    )
    alike = "| 70.00 ± 0.00 | 80.00 ± 0.00 | +10.00*, +10.00* | +10.00 (+10.00 .. +10.00) | 0.5000 "
    assert f"| de-help-s2to2 | 1, 2 {alike}| +5.00*, +5.00* | +5.00 (+5.00 .. +5.00) | 0.5000 |" in pages
    assert "accuracy in %" not in pages
    spread = "(-0.010 .. +0.070)"
    cells = f"+0.031 {spread}, +0.062 {spread} | +0.031 {spread} |"
    assert "own - random context | seeds | cohesion | x |" in pages and f"| 1, 2 | {cells}" in pages


def test_post_editing_is_compared_with_own_translations(evidence):
    """Of documents of 20 words, those behind the reference have every word."""
    found = {}
    for seed in (1, 2):
        own, best = (
            {
                "scores": {"scores": [{"name": "BLEU", "level": "sentence", "score": score}]},
                "statistics": {"bleu": [f"20 20 {right} {right} {right} {right} 20 19 18 17"] * 12},
            }
            for right, score in ((10, 50.0), (17, 90.0))
        )
        found["gated", seed] = {**training_result("gated", seed), **own, "post_editing": best}
    del found["gated", 2]["statistics"]  # an old one
    rows = evidence.context_tables.post_editing_table(found).splitlines()
    scorer = evidence.leads.measure("bleu").scores
    lead = evidence.leads.bleu_of_post_editing(found)["gated", 1]
    both = np.array([[20, 20, right, right, right, right, 20, 19, 18, 17.0] for right in (10, 17)])
    assert lead.value == pytest.approx(np.diff(scorer(12 * both))[0])
    assert rows[2] == f"| gated | 1, 2 | 50.00 ± 0.00 | 90.00 ± 0.00 | {lead.value:+.2f}**, - |  |  |"


def test_what_attention_and_groups_do_is_averaged_over_seeds(tables):
    """The words with most attention are those of all seeds."""
    found = {}
    for seed, words in ((1, {"it": 0.4, "oh": 0.9, "who": 0.8}), (2, {"it": 0.5, "who": 0.6, "her": 0.7})):
        found["gated", seed] = {
            **result("gated", seed, "1"),
            "lengths": {"1-5": 20.0, "6-": 10.0 + seed},
            "words": {"mean": 0.25 * seed, "words": words},
        }
    groups = {"used_in_sentences": [5, 0, 1], "used_groups_per_sentence": 1.5}
    found["grouping", 1] = {**result("grouping", 1, "1"), "groups": groups}
    text = shown(tables, found)
    assert "| BLEU of | seeds | 1-5 words | 6- words |" in text
    assert "| gated | 1, 2 | 20.00 ± 0.00 | 11.50 ± 0.71 |" in text
    assert "| attention to the context | seeds | mean | it | they | most |" in text
    assert "| gated | 1, 2 | 0.375 ± 0.177 | 0.450 ± 0.071 |  | who, it |" in text
    assert "| grouping | 1 | 3 | 2 | 1.50 |" in text


def test_figures_name_the_systems_and_are_the_same_each_time(evidence, tmp_path):
    """As SVG with its text as text: the page's pictures change only with the results."""
    pytest.importorskip("matplotlib")
    found = {(row, seed): result(row, seed, "10" * seed) for row in ("control", "gated") for seed in (1, 2)}
    found["gated", 1]["pronouns"]["random"] = {"accuracy": 40.0}
    found["de-help-control", 1] = {**result("de-help-control", 1, "1"), "pronouns": {}}
    written = []
    for _ in range(2):
        evidence.figures.write(tmp_path, found)
        written.append({path.name: path.read_text() for path in tmp_path.iterdir()})
    assert written[0] == written[1] and sorted(written[0]) == ["accuracy.svg", "learning.svg"]
    for content in written[0].values():
        words = "".join(ElementTree.fromstring(content).itertext())
        assert "control" in words and "gated" in words and "help" not in words
    assert "random context" in written[0]["accuracy.svg"]
    words = " ".join(ElementTree.fromstring(written[0]["accuracy.svg"]).itertext()).split()
    assert "n = 2, 4" in " ".join(words)
