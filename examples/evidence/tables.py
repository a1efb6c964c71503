"""The tables of docs/results/ and of the papers' READMEs, from the results alone."""

import re
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Mapping, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file
from evidence import context_tables, leads, score_tables
from evidence.layout import Columns, by_system, means, seeds, table
from evidence.leads import Results
from evidence.systems import EVALUATED, SYSTEMS, Run, chosen
from evidence.texts import HELP, SUBTITLES, Text
from evidence.workplace import called

# Where a page has a table: between two marks with its name.
BEGIN, END = "<!-- {}: written by examples/evidence/run.sh -->\n", "<!-- end of {} -->"
PLACE = re.compile(f"{BEGIN.format('(?P<name>[^:>]+)')}(?P<old>.*?){END.format('(?P=name)')}", re.DOTALL)
OF_A_TEXT: Mapping[str, Callable[[Results], str]] = {
    "scores": score_tables.translation_table,
    "pronouns": score_tables.pronoun_table,
    "minus control": score_tables.significance_table,
    "pairs": score_tables.pairs_table,
    "lengths": score_tables.lengths_table,
    "contexts": context_tables.context_table,
    "behind the reference": context_tables.post_editing_table,
    "windows": context_tables.windows_table,
    "attention": context_tables.attention_table,
    "words": context_tables.words_table,
    "groups": context_tables.groups_table,
    "terms": context_tables.consistency_table,
    "tagged words": context_tables.tags_table,
}
TEXTS: Mapping[str, Sequence[Text]] = {SUBTITLES.name: (SUBTITLES,), "help pages": tuple(HELP.values())}


def rewrite(page: Path, tables: Mapping[str, str]) -> None:
    """Put the tables where the page has their names.

    Raises:
        BadInput: it has no such place, or one of a table that there is not.
    """
    text = page.read_text(encoding="utf-8")
    names = places(text)
    if not names or not set(names) <= set(tables):
        begin = BEGIN.format("NAME").strip()
        raise BadInput(f"expected {begin} and {END.format('NAME')}, NAME one of {', '.join(tables)}", page)

    def place(match: "re.Match[str]") -> str:
        name = match["name"]
        return f"{BEGIN.format(name)}{tables[name]}\n{END.format(name)}"

    write_file(page, PLACE.sub(place, text))


def places(text: str) -> Sequence[str]:
    """The names of the tables that a page has a place for."""
    return [match["name"] for match in PLACE.finditer(text)]


def named(results: Results, series: Mapping[str, Results]) -> Dict[str, str]:
    """Every table by its name, empty without results, and the runs that are missing.

    Args:
        series: results of other machines and first stages, whose tables stand together but for the first.
    """
    found = {"search": score_tables.search_table(results), **_of_runs(results)}
    for name, runs in series.items():
        own = _of_runs(runs)
        found[f"systems, {name} series"] = own.pop("systems")
        found[f"{name} series"] = text(own)
    there = {run for runs in (results, *series.values()) for run in runs}
    missing = [f"`{called(*run)}`" for run in chosen(()) if run not in there]
    return {**found, "missing": f"Missing: {', '.join(missing) or 'nothing'}."}


def _of_runs(results: Results) -> Dict[str, str]:
    found = {"systems": recipe_table(results, [*SYSTEMS])}
    for name, texts in TEXTS.items():
        ours = [_of(text, results) for text in texts]
        for kind, made in OF_A_TEXT.items():
            found[f"{name}, {kind}"] = _below_each_other(map(made, ours))
    return found


def text(tables: Mapping[str, str]) -> str:
    """Those that have rows, below each other."""
    return "\n\n".join(f"### {name}\n{each}" for name, each in tables.items() if each)


def recipe_table(results: Results, rows: Sequence[str]) -> str:
    """What a paper's README shows of its rows, of the subtitles, and of what they are compared with: means,
    and differences over seeds, or of a single one."""
    results = _of(SUBTITLES, results)
    controls = [leads.control(results, *run) for run in results if run[0] in rows]
    rows = [*rows, *(one["row"] for one in controls if one)]
    accuracy, bleu = leads.over_control(results), leads.bleu_over_control(results)
    columns: Columns = {
        "pronouns, %": (score_tables.accuracy, 2),
        "random context": (score_tables.random_accuracy, 2),
        "BLEU": (lambda one: leads.score(one, "BLEU"), 2),
        "CPU minutes": (score_tables.minutes, 0),
    }
    systems = by_system(results, "pronouns")

    def more(values: Mapping[Run, leads.Lead]) -> List[str]:
        """Over seeds; of a single one without its stars, which are about that model alone."""
        found = [[values.get((name, one["seed"])) for one in ones] for name, ones in systems]
        return [over or single.rstrip("*") for single, over, _ in leads.cells(found)]

    found = []
    for (name, ones), *higher in zip(systems, more(accuracy), more(bleu), strict=True):
        if name in rows:
            right, random, scored, minutes = means(ones, columns)
            found.append([name, seeds(ones), right, random, higher[0], scored, higher[1], minutes])
    head = "system", "seeds", *list(columns)[:2], "minus control", "BLEU", "minus control", "CPU minutes"
    return table(head, found)


def _of(text: Text, results: Results) -> Results:
    return {
        run: one for run, one in results.items() if run[0] in EVALUATED and EVALUATED[run[0]].text == text
    }


def _below_each_other(tables: Iterable[str]) -> str:
    """Tables with the same columns as one."""
    found = [each.splitlines() for each in tables if each]
    return "\n".join([*found[0][:2], *(row for each in found for row in each[2:])]) if found else ""
