"""``ctxmt analyse results --across system --table ..``: one table, as papers have them."""

import pytest

from ctxmt_fairseq.analysis.paper_table import paper_table
from ctxmt_fairseq.analysis.value_tables import Placed
from tests.helpers.result_files import contrast, results, write_results
from tests.helpers.shown_results import analyse


@pytest.fixture
def runs(tmp_path):
    """Two runs of A, one of B: BLEU over 10 sentences, a contrastive set of 4 examples."""
    scores = {"A1": (20.0, 50.0), "A2": (22.0, 52.0), "B": (30.0, 71.5)}
    for name, (bleu, accuracy) in scores.items():
        write_results(tmp_path / name, results({"prefix": bleu}, {"set": contrast(3.0, accuracy)}, 2))
    return f"A={tmp_path / 'A1'}", f"A={tmp_path / 'A2'}", f"B={tmp_path / 'B'}"


def test_systems_are_rows_and_measures_columns(runs, capsys):
    assert not analyse(*runs, "--across", "system", "--table", "markdown", "--metrics", "bleu", "set")
    table, below, *_ = capsys.readouterr().out.split("\n\n")
    assert table.splitlines() == [
        "| system | BLEU | set, Disc. |",
        "|---|---:|---:|",
        "| A | 21.00 ± 1.41 | 51.00 ± 1.41 |",
        "| B | 30.00 | 71.50 |",
    ]
    assert "n = 10 (BLEU)" in below and "n = 4 (set, Disc.)" in below


def test_columns_of_one_name_keep_what_tells_them_apart():
    found = [Placed(f"bleu, n = {n}", "context real", "A", float(n), "r", (0.0, float(n))) for n in (3, 5)]
    table = paper_table(found, [])
    assert all(head in table for head in ("BLEU, n = 3, context real", "BLEU, n = 5, context real"))
    alone = paper_table(found[:1], []).split("\n\n")
    assert alone[0].split() == ["system", "BLEU", *alone[0].split()[2:]] and alone[1] == "n = 3, context real"
