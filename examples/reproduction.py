"""Writes docs/results/reproduction.md: every row of every table of the papers, and how far it is reproduced.

python examples/reproduction.py
"""

from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Iterator, List

from recipe_tables import NOTHING, Table, read_tables
from recipes import Recipe

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "reproduction.md"
PAPERS = {
    "focused_concat": "Focused concatenation (Lupo et al., 2022)",
    "gated_context": "Gated context encoder (Voita et al., 2018)",
    "mtcue": "MTCue (Vincent et al., 2023)",
    "sequence_shortening": "Sequence shortening (2024)",
    "thesis": "The thesis on context in NMT",
}
HEAD = """# The papers' numbers, row by row
<!-- written by examples/reproduction.py from examples/*/recipe.py -->

What each row of the papers' tables is made with, what should come out, and what is known of it. Commands
run in the folder of the recipe, whose README says which files to download; ROW is the row's name.
```
python ../results.py ROW=runs/ROW/evaluation --paper PAPER:TABLE --check
```
prints each result beside the published number, and ends with exit code 1 if one is farther off than its
tolerance (±). Tolerances are the papers' own: of an accuracy the 95 % interval that its number of examples
leaves, of BLEU and COMET the spread that the paper gives or calls no difference. Where it has none, the
difference is printed without a verdict.

| status | what it means |
|---|---|
| equal | [the authors' program](authors.md), with our weights, computes the same; the row was not trained |
| small | the architecture was [trained here at demo size](README.md), on other text |
| nobody yet | neither; no row of the papers has been trained at its size |
"""


def status(recipe: ModuleType, row: str) -> str:
    found = [
        name
        for name, rows in (("equal", recipe.COMPARED), ("small", recipe.TRAINED))
        if any(fnmatchcase(row, pattern) for pattern in rows.split())
    ]
    return ", ".join(found) or "nobody yet"


def _cell(table: Table, row: str, column: str) -> str:
    text = table.rows[row][column]
    most = None if text == NOTHING else table.tolerance(row, column)
    return "" if text == NOTHING else text if most is None else f"{text} ± {most:.{_digits(text)}f}"


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def section(recipe: ModuleType, name: str, table: Table) -> Iterator[str]:
    """The lines of a table."""
    yield from ("", f"### {name}", f"{table.title[0].upper()}{table.title[1:]}.")
    if table.commands:
        yield from ("```", *table.commands, "```")
    if table.remarks:
        yield from (f"- {remark}" for remark in table.remarks)
        yield ""
    yield from (f"| ROW | {' | '.join(table.columns)} | status |", "|---" * (len(table.columns) + 2) + "|")
    for row in table.rows:
        cells = (_cell(table, row, column) for column in table.columns)
        yield f"| `{row}` | {' | '.join(cells)} | {status(recipe, row)} |"


def page() -> str:
    lines: List[str] = [HEAD.rstrip("\n")]
    for paper, title in PAPERS.items():
        recipe = Recipe(paper).table
        lines += ["", f"## {title}", f"[examples/{paper}](../../examples/{paper}/README.md)"]
        for name, table in read_tables(recipe).items():
            lines += section(recipe, name, table)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
