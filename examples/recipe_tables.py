"""The papers' tables, how they are reproduced, and which of our results belongs beside each number.

PUBLISHED of a recipe.py has the numbers of each table by row and column, ``-`` for none. REPRODUCED has, by
the same names, what it is; the commands, in which ROW stands for a row; ``- `` remarks; and for columns
  = COLUMN MEASURE TOLERANCE
A measure, something of results.json, is
  DECODING[.opt][.CONTEXT]/SCORE[/LEVEL]   of the translation of this name, such as window.random/BLEU
  contrast/KEY, contrast/GROUP/NAME        of the only contrastive set that has it: contrast/disc
and ``*0.01`` behind it multiplies. The tolerance, how far a result may lie from the number, is one that the
paper supports, or ``n=500``: the 95 % interval of an accuracy over so many examples. ``-`` is nothing.
COMPARED are the rows that the authors' program computes as ours does (docs/results/authors.md), TRAINED those
whose architecture was trained here in small (docs/results).
"""

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from ctxmt_fairseq.evaluation.runs.results_file import TranslationName, suite_name

NOTHING = "-"


@dataclass(frozen=True)
class Table:
    """A paper's table, with what REPRODUCED says of it."""

    rows: Dict[str, Dict[str, str]]  # the numbers, as text, by row and column
    title: str
    commands: List[str]
    remarks: List[str]
    measures: Dict[str, str]  # by column
    tolerances: Dict[str, str]

    @property
    def columns(self) -> List[str]:
        return list(next(iter(self.rows.values())))

    def tolerance(self, row: str, column: str) -> Optional[float]:
        """How far a result may lie from a number; None: the paper has no spread of it."""
        text = self.tolerances.get(column, NOTHING)
        if not text.startswith("n="):
            return None if text == NOTHING else float(text)
        share = float(self.rows[row][column]) / 100
        return 196 * math.sqrt(share * (1 - share) / int(text[2:]))


def read_tables(recipe: Any) -> Dict[str, Table]:
    """The tables of a recipe.py, a module."""
    published = getattr(recipe, "PUBLISHED", {})
    return {name: _table(text, recipe.REPRODUCED[name]) for name, text in published.items()}


def _table(published: str, reproduced: str) -> Table:
    (_, *columns), *rows = (line.split() for line in published.strip().splitlines())
    numbers = {name: dict(zip(columns, cells, strict=True)) for name, *cells in rows}
    title, *lines = (" ".join(line.split()) for line in reproduced.strip().splitlines())
    remarks: List[str] = []
    commands, specs = [], []
    for line in lines:
        if line.startswith("= "):
            specs.append(line.split()[1:])
        elif line.startswith("- "):
            remarks.append(line[2:])
        elif remarks:
            remarks[-1] += f" {line}"
        else:
            commands.append(line)
    measures = {column: measure for column, measure, _ in specs}
    tolerances = {column: tolerance for column, _, tolerance in specs}
    return Table(numbers, title, commands, remarks, measures, tolerances)


def measured(results: Any, measure: str) -> Optional[float]:
    """What a ``results.json`` has of a measure; None: nothing."""
    path, _, factor = measure.partition("*")
    found = (_of_contrast if path.startswith("contrast/") else _of_translations)(results, *path.split("/"))
    return None if found is None else found * float(factor or 1)


def _of_contrast(results: Any, _: str, key: str, name: str = "") -> Optional[float]:
    """Of the only set that has it, with windows as in training; of several nobody knows which is meant."""
    found = []
    for suite, report in results["contrast"].items():
        value = report.get(key)
        if name:
            value = (value or {}).get(name, {}).get("accuracy")
        if value is not None and not suite_name(suite)[1]:
            found.append(float(value))
    return found[0] if len(found) == 1 else None


def _of_translations(results: Any, place: str, score: str = "", level: str = "sentence") -> Optional[float]:
    decoding, *more = place.split(".")
    found = "opt" in more
    context = next((word for word in more if word != "opt"), "trained")
    for name, scores in results["translations"].items():
        known = TranslationName.of(name)
        if known is None or known.window or (known.penalty is not None) != found:
            continue
        if (known.decoding, known.context) == (decoding, context):
            for each in scores["scores"]:
                if each["name"].startswith(score) and each["level"] == level:
                    return float(each["score"])
    return None
