"""The page of the papers' numbers is what the recipes say, and its commands are the scripts'."""

import shlex

import pytest
import reproduction
from recipe_tables import read_tables

from tests.integration.recipes import EXAMPLES, PAPERS, recipes


def test_the_page_is_current():
    assert reproduction.PAGE.read_text(encoding="utf-8") == reproduction.page()
    assert set(reproduction.PAPERS) == {paper.name for paper in PAPERS}


@pytest.mark.parametrize("paper", reproduction.PAPERS)
def test_its_commands_are_understood(dry_run, paper):
    for table in read_tables(recipes.Recipe(paper).table).values():
        for line in table.commands:
            if not line.startswith("./"):
                continue
            for row in table.rows if line.startswith("./train.sh") else [next(iter(table.rows))]:
                script, *words = shlex.split(line.replace("ROW", row))
                assert dry_run(EXAMPLES / paper / script, *words)


def test_status():
    thesis = recipes.Recipe("thesis").table
    assert reproduction.status(thesis, "DE") == "small"
    assert reproduction.status(thesis, "DE+shared") == "nobody yet"
    assert reproduction.status(recipes.Recipe("focused_concat").table, "s2to2+CD") == "equal, small"
