"""Every row of every paper's tables is the command that recipe_commands/PAPER.txt holds.

The files were printed by the scripts as they were before the rows stood in tables. Who changes a recipe
changes its lines there in the same commit.
"""

import shlex
from pathlib import Path

import pytest

from tests.integration.recipes import EXAMPLES, recipes

TABLES = sorted((Path(__file__).parent / "recipe_commands").glob("*.txt"))


def entries(path):
    """(variables of the environment, script, its arguments, the commands) of each entry of a file."""
    for entry in path.read_text().strip().split("\n\n"):
        first, *commands = entry.splitlines()
        words = shlex.split(first.removeprefix("$ "))
        at = next(at for at, word in enumerate(words) if word.endswith(".sh"))
        variables = dict(word.split("=", 1) for word in words[:at])
        yield first, variables, EXAMPLES / path.stem / words[at], words[at + 1 :], commands


def meaning(words):
    """What fairseq-train reads: what stands before the options, and the options, of which the last counts."""
    command, options = [], {}
    values = command
    for word in words:
        if word.startswith("--"):
            values = options[word] = []
        else:
            values.append(word)
    return command, options


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_commands_are_those_of_the_table(dry_run, path):
    for first, variables, script, arguments, expected in entries(path):
        printed = dry_run(script, *arguments, **variables)
        assert [meaning(words) for words in printed] == [meaning(shlex.split(line)) for line in expected], (
            first
        )


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_and_part_stands_in_the_table(path):
    """A row or a corpus that is added to a recipe is added to the file."""
    table = recipes.Recipe(path.stem).table
    for corpus in table.CORPORA:
        assert f"--corpus {corpus} " in path.read_text(), corpus
    named = {arguments[0] for _, _, script, arguments, _ in entries(path) if script.name == "train.sh"}
    parts = [part for group in getattr(table, "PARTS", {}).values() for part in group]
    for row in table.ROWS:
        assert any(recipes._pattern(row).fullmatch(name) for name in named), row
    for part in parts:
        assert any(f"+{part.split('{')[0]}" in name for name in named), part
