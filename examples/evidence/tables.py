"""The tables of docs/evidence.md, from the results alone."""

from pathlib import Path
from typing import Sequence

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.files import write_file
from evidence import context_tables, leads, score_tables
from evidence.layout import Columns, by_system, means, seeds, table
from evidence.leads import Results
from evidence.systems import EVALUATED, Run, chosen
from evidence.texts import HELP, SUBTITLES, Text
from evidence.workplace import called

BEGIN, END = "<!-- tables: written by examples/evidence/run.sh -->", "<!-- end of tables -->"
TABLES = (
    score_tables.translation_table,
    score_tables.pronoun_table,
    score_tables.significance_table,
    score_tables.pairs_table,
    score_tables.lengths_table,
    context_tables.context_table,
    context_tables.post_editing_table,
    context_tables.windows_table,
    context_tables.attention_table,
    context_tables.words_table,
    context_tables.groups_table,
    context_tables.consistency_table,
)


def rewrite(page: Path, tables: str) -> None:
    """Put tables between the page's two marks.

    Raises:
        BadInput: it has them not.
    """
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise BadInput(f"expected {BEGIN} and {END}", page)
    write_file(page, f"{before}{BEGIN}\n{tables}\n{END}{after}")


def text(results: Results) -> str:
    """All tables, and what is missing."""
    parts = [score_tables.search_table(results)]
    for each in (SUBTITLES, *HELP.values()):
        ours = {run: one for run, one in results.items() if run[0] in EVALUATED and _text(run) == each}
        parts += [f"### {each.name}", *(made(ours) for made in TABLES)] if ours else []
    missing = [f"`{called(*run)}`" for run in chosen(()) if run not in results]
    parts.append("Missing: " + (", ".join(missing) or "nothing") + ".")
    return "\n\n".join(filter(None, parts))


def recipe_table(results: Results, rows: Sequence[str]) -> str:
    """What a paper's README shows of its rows, of the subtitles, and of what they are compared with."""
    results = {run: one for run, one in results.items() if run[0] in EVALUATED and _text(run) == SUBTITLES}
    controls = [leads.control(results, *run) for run in results if run[0] in rows]
    rows = [*rows, *(one["row"] for one in controls if one)]
    accuracy, bleu = leads.over_control(results), leads.bleu_over_control(results)
    columns: Columns = {
        "pronouns, %": (score_tables.accuracy, 2),
        "random context": (score_tables.random_accuracy, 2),
        "BLEU": (lambda one: leads.score(one, "BLEU"), 2),
        "CPU minutes": (score_tables.minutes, 0),
    }
    found = []
    for name, ones in by_system(results):
        if name in rows:
            right, random, scored, minutes = means(ones, columns)
            more, higher = (
                leads.by_seed([values.get((name, one["seed"])) for one in ones])
                for values in (accuracy, bleu)
            )
            found.append([name, seeds(ones), right, random, more, scored, higher, minutes])
    head = "system", "seeds", *list(columns)[:2], "minus control", "BLEU", "minus control", "CPU minutes"
    return table(head, found)


def _text(run: Run) -> Text:
    return EVALUATED[run[0]].text
