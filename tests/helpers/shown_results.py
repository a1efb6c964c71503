"""``ctxmt analyse results`` called, and what it prints taken apart, for tests."""

from unittest.mock import patch

import numpy as np

from ctxmt_fairseq.analysis import value_tables
from ctxmt_fairseq.cli.main import main


def analyse(*arguments):
    return main(["analyse", "results", *map(str, arguments)])


def cells(line):
    """Of a line of a table."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def shown(capsys, *arguments):
    """What is printed: measure -> row -> column -> cell, no table turned; and the lines below the tables."""
    with patch.object(value_tables, "WIDTH", 1000):
        assert not analyse(*arguments)
    *tables, rest = capsys.readouterr().out.strip().split("\n\n")
    found = {}
    for table in tables:
        (measure, *heads), _, *rows = map(cells, table.splitlines())
        found[measure] = {name: dict(zip(heads, row, strict=True)) for name, *row in rows}
    return found, rest.splitlines()


def spread(values, sign=""):
    """Mean and deviation as a cell."""
    return f"{np.mean(values):{sign}.2f} ± {np.std(values, ddof=1):.2f}"
