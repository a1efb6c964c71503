"""``examples/results.py``: results side by side, their stars, and the papers' values."""

import pytest
import results
from recipes import Recipe

from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast
from tests.helpers.reports import SYSTEMS, write_runs

# Tables of each paper.
PAPERS = {"focused_concat": 2, "gated_context": 1, "sequence_shortening": 2, "mtcue": 2, "thesis": 14}


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


@pytest.mark.parametrize("paper", PAPERS)
def test_published_values_belong_to_rows_of_the_recipe(paper):
    recipe = Recipe(paper)
    tables = recipe.table.PUBLISHED
    assert len(tables) == PAPERS[paper]
    for name, text in tables.items():
        head, *rows = [line.split() for line in text.strip().splitlines()]
        assert len({row[0] for row in rows}) == len(rows)
        for row in rows:
            recipe.row(row[0])
            assert len(row) == len(head) and all(0 < float(cell) <= 100 for cell in row[1:] if cell != "-"), (
                row
            )
        printed = results.published(f"{paper}:{name}", [rows[1][0]])
        assert printed.splitlines()[2].split() == rows[1] and len(printed.splitlines()) == 3
        assert len(results.published(f"{paper}:{name}", ["mine"]).splitlines()) == 2 + len(rows)


def test_no_such_paper(folder, capsys):
    run = str(folder / "runs/sentence/evaluation")
    for paper, message in (("nowhere", "no such recipe"), ("focused_concat:en-xx", "from en-ru, en-de")):
        with pytest.raises(SystemExit, match=message):
            results.main([run, "--paper", paper])
    with pytest.raises(SystemExit, match="error: .*expected what ctxmt evaluate writes"):
        results.main([str(folder)])
