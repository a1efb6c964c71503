"""``examples/results.py``: results side by side, their stars, and the papers' values."""

import json

import pytest
import results
from recipe_tables import measured, read_tables
from recipes import Recipe

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast
from tests.helpers.reports import SYSTEMS, write_runs

# Tables of each paper.
PAPERS = {"focused_concat": 2, "gated_context": 1, "sequence_shortening": 2, "mtcue": 14, "thesis": 14}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    write_runs(path)
    return path


def rows_of(printed):
    lines = [line.rsplit("  ", 2) for line in printed.splitlines() if "  " in line]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


def test_stars_are_those_of_mcnemar(folder, capsys):
    results.main([f"{folder}/runs/{name}/evaluation" for name in SYSTEMS])
    printed = rows_of(capsys.readouterr().out)
    paths = [f"{folder}/runs/{name}/evaluation/pronouns.examples.jsonl" for name in SYSTEMS]
    tests = {row.group: row.as_dict() for row in compare_contrast(list(zip("ab", paths, strict=True)))}
    names = {"all": "pronouns, accuracy (sum-current)", "disc": "pronouns, Disc."}
    assert tests["all"]["stars"] and not tests["distance 0"]["stars"]
    for group, row in tests.items():
        first, second = printed[names.get(group, f"pronouns, {group}")]
        assert first == f"{100 * row['correct_a'] / row['examples']:.2f}"
        assert second == f"{100 * row['correct_b'] / row['examples']:.2f}{row['stars']}"
    assert not any("*" in cell for cell in printed["BLEU, own context"])


def test_translations_are_tested_against_a_reference(folder, monkeypatch):
    columns = results.read_columns([f"{folder}/runs/{name}/evaluation" for name in SYSTEMS])
    asked = []
    compare = results.compare_translations

    def spied(names, texts, measures, units):
        asked.append(([each.name for each in measures], units, len(texts[0].hypotheses)))
        return compare(names, texts, measures, units, samples=100)

    monkeypatch.setattr(results, "compare_translations", spied)
    found = results.translation_stars(columns, str(folder / "text.fr"), str(folder / "text.docids"))
    assert asked == [(["bleu", "chrf2"], ["document"], 5)]
    assert set(found) == {("s2to2", "BLEU, own context"), ("s2to2", "chrF2, own context")}


@pytest.mark.parametrize(
    "signature, tokenizer, lowercase",
    [("nrefs:1|case:lc|eff:no|tok:zh|smooth:exp", "zh", True), ("nrefs:1|case:mixed|tok:13a", "13a", False),
     ("nrefs:1|case:mixed|tok:ja-mecab-0.996-IPA", "ja-mecab", False), ("", None, False)],
)  # fmt: skip
def test_translations_are_tested_as_they_were_scored(monkeypatch, signature, tokenizer, lowercase):
    monkeypatch.setattr(results, "measure", lambda *how: how)
    found = results.measured_as([{"name": name, "signature": signature} for name in ("BLEU", "chrF2")])
    assert found == [("bleu", tokenizer, lowercase), ("chrf2", tokenizer, lowercase)]


@pytest.mark.parametrize("paper", PAPERS)
def test_published_values_belong_to_rows_of_the_recipe(paper):
    recipe = Recipe(paper)
    tables = read_tables(recipe.table)
    assert len(tables) == PAPERS[paper] and set(recipe.table.REPRODUCED) == set(tables)
    for name, table in tables.items():
        assert len(recipe.table.PUBLISHED[name].strip().splitlines()) == 1 + len(table.rows)
        assert {*table.measures} <= {*table.columns}
        for row, cells in table.rows.items():
            recipe.row(row)
            assert all(-1 < float(cell) <= 100 for cell in cells.values() if cell != "-"), row
        row, cells = list(table.rows.items())[1]
        printed = results.published(f"{paper}:{name}", [row])
        assert printed.splitlines()[2].split() == [row, *cells.values()] and len(printed.splitlines()) == 3
        assert len(results.published(f"{paper}:{name}", ["mine"]).splitlines()) == 2 + len(table.rows)


def evaluated(folder, name, bleu, deixis):
    """A folder of results with a document-level BLEU and an accuracy."""
    scores = [{"name": "BLEU", "level": level, "score": score, "signature": ""}
              for level, score in (("sentence", 1.0), ("document", bleu))]  # fmt: skip
    phenomena = {"deixis": {"accuracy": deixis}}
    report = {"convention": "mean-window", "accuracy": deixis, "distances": {}, "phenomena": phenomena,
              "disc": None, "disc_avg": None, "disc_all_d": None}  # fmt: skip
    (folder / name / "evaluation").mkdir(parents=True)
    record = {"translations": {"window": {"scores": scores}, "window.n0.9.random": {"scores": scores}},
              "contrast": {"suites": report}}  # fmt: skip
    (folder / name / "evaluation" / "results.json").write_text(json.dumps(record))
    return str(folder / name / "evaluation")


def test_a_result_is_held_against_its_row(tmp_path, capsys):
    near = evaluated(tmp_path, "s4to4", 32.0, 87.0)
    with pytest.raises(SystemExit) as end:
        results.main([near, "--paper", "focused_concat:en-ru", "--check"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[-2:]]
    assert end.value.code == 0
    # of 2,500 examples: 1.96 * sqrt(.858 * .142 / 2500)
    assert ["s4to4", "Deixis", "85.80", "87.00", "+1.20", "1.37", "near"] in lines
    assert ["s4to4", "BLEU", "32.45", "32.00", "-0.45", "0.47", "near"] in lines
    far = evaluated(tmp_path, "s4to4+CD", 31.0, 87.0)
    with pytest.raises(SystemExit) as end:
        results.main([near, far, "--paper", "focused_concat:en-ru", "--check"])
    assert end.value.code == 1 and capsys.readouterr().out.count(" far") == 1
    for arguments, message in (
        ([f"mine={near}", "--paper", "focused_concat:en-ru"], "name folders after its rows"),
        ([near, "--paper", "focused_concat"], "--check needs --paper PAPER:TABLE"),
        ([near], "--check needs --paper PAPER:TABLE"),
        ([near, near], "s4to4: two folders have this name"),
    ):
        with pytest.raises(BadInput, match=message):
            results.main([*arguments, "--check"])


def test_a_row_whose_name_has_an_equals_sign_is_named_as_the_page_says(tmp_path, monkeypatch):
    """docs/results/reproduction.md: ROW=runs/ROW/evaluation."""
    monkeypatch.chdir(tmp_path)
    row = "s4to4+shift=100+CD"
    evaluated(tmp_path / "runs", row, 32.0, 87.0)
    assert [*results.read_columns([f"{row}=runs/{row}/evaluation"])] == [row]
    assert [*results.read_columns([f"runs/{row}/evaluation/"])] == [row]
    monkeypatch.chdir(tmp_path / "runs" / row)
    assert [*results.read_columns(["evaluation"])] == [row]


def test_measures():
    """By decoding, context and whether a length penalty was found; ``*`` multiplies."""
    scores = {
        name: {"scores": [{"name": "COMET-22", "level": "sentence", "score": number}]}
        for number, name in enumerate(("window", "window.n0.9", "window.n0.9.random", "prefix.w3", "prefix"))
    }
    found = {"translations": scores, "contrast": {}}
    for number, name in enumerate(("window", "window.opt", "window.opt.random")):
        assert measured(found, f"{name}/COMET") == number
    assert measured(found, "prefix/COMET*100") == 400 and measured(found, "prefix/BLEU") is None
    assert measured(found, "contrast/disc") is None and measured(found, "-") is None


def test_measures_of_contrastive_sets_are_those_of_the_only_set():
    """Not of windows of another size, and not of one of several."""

    def accuracy(**sets):
        contrast = {name.replace("_", "."): {"accuracy": value} for name, value in sets.items()}
        return measured({"contrast": contrast}, "contrast/accuracy")

    assert accuracy(disambig=60, disambig_w3=50) == 60
    assert accuracy(disambig_w3=50) is None
    assert accuracy(anaphora=50, disambig=60) is None


def test_no_such_paper(folder, capsys):
    run = str(folder / "runs/sentence/evaluation")
    for paper, message in (("nowhere", "no such recipe"), ("focused_concat:en-xx", "from en-ru, en-de")):
        with pytest.raises(BadInput, match=message):
            results.main([run, "--paper", paper])
    with pytest.raises(BadInput, match="expected what ctxmt evaluate writes"):
        results.main([str(folder)])
