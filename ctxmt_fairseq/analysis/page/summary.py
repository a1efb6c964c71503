"""What comes first: who wins and by how much, what the systems are, and one table of all sets and systems."""

from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

from ctxmt_fairseq.analysis.page.blocks import Cell, Section, Table, side_by_side
from ctxmt_fairseq.analysis.page.found import Run, title_of
from ctxmt_fairseq.analysis.training_log import TrainingLog

CONTEXT = {
    "source": "source_context",
    "target": "target_context",
    "target on source": "target_context_on_source",
}
VERDICTS = {"**": "significant, p < .01", "*": "significant, p < .05", "": "not significant"}


def summary(
    runs: Sequence[Run], scored: Mapping[str, Table], decided: Mapping[str, Table], stars: Mapping[Any, str]
) -> Section:
    """The section, from the tables of translations and of contrastive sets by name, with ``stars`` for
    differences from the first run, by (run, translation, metric)."""
    names = [run.name for run in runs]
    bleu = {title_of(name): _row(table, "BLEU")[1:] for name, table in scored.items()}
    accuracy = {name: _row(table, "all")[2:] for name, table in decided.items()}
    rows = [[f"BLEU, {name}", *cells] for name, cells in bleu.items() if cells]
    rows += [[f"{name}, accuracy %", *cells] for name, cells in accuracy.items() if cells]
    lines = list(_sets(names, [cells for cells in accuracy.values() if cells]))
    for name, cells in zip(scored, list(bleu.values())[:1], strict=False):
        lines[:0] = _winner(names, cells, {run: stars.get((run, name, "bleu")) for run in names})
    lines[:0] = (f"{run.name} has {'; '.join(run.found.contexts)}." for run in runs if run.found.contexts)
    facts = {run.name: dict(_facts(run.found.log)) for run in runs if run.found.log}
    blocks = [side_by_side(facts, "the systems, as their train.log says")] if facts else []
    if rows:
        blocks.append(Table(["", *names], rows, "all in one table; stars: significant against the first"))
    return Section("Summary", blocks, " ".join(lines))


def _row(table: Table, name: str) -> Sequence[Any]:
    return next((row for row in table.rows if row[0] == name), [])


def _values(names: Sequence[str], cells: Sequence[Any]) -> Dict[str, float]:
    """The numbers of a row by the name of the column, without those that are missing."""
    found = zip(names, cells, strict=False)
    return {name: float(cell.text.split()[0]) for name, cell in found if isinstance(cell, Cell)}


def _winner(names: Sequence[str], cells: Sequence[Any], stars: Mapping[str, Optional[str]]) -> Iterator[str]:
    values = _values(names, cells)
    if len(values) < 2:
        return
    first, *others = values
    best = max(others, key=lambda name: values[name])
    lead, found = values[best] - values[first], stars.get(best)
    if lead > 0:
        yield f"{best} has the best BLEU, {values[best]:.2f}: {lead:+.2f} against {first}"
    else:
        yield f"{first} has the best BLEU, {values[first]:.2f}; the next, {best}, has {lead:+.2f}"
    yield f"({'not tested; ctxmt compare translations does' if found is None else VERDICTS[found]})."


def _sets(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for place, name in enumerate(names[1:], 1):
        both = [row for row in rows if isinstance(row[0], Cell) and isinstance(row[place], Cell)]
        values = [_values(names, row) for row in both]
        better = [row for row, of in zip(both, values, strict=True) if of[name] > of[names[0]]]
        if both:
            significant = sum(bool(row[place].stars) for row in better)
            yield f"{name} decides more than {names[0]} in {len(better)} of {len(both)} contrastive sets,"
            yield f"in {significant} significantly."


def _facts(log: TrainingLog) -> Iterator[Any]:
    sizes = ((log.option(name), side) for side, name in CONTEXT.items())
    shown = [f"{size} {side}" for size, side in sizes if size not in (None, "None", "0")]
    updates = [record.updates for records in log.validations.values() for record in records]
    yield "architecture", log.option("arch") or "-"
    yield "context sentences", ", ".join(shown) or "none"
    yield "parameters", "-" if log.parameters is None else f"{log.parameters:,}"
    yield "updates", f"{max(updates):,}" if updates else "-"
    yield "seed", log.option("seed") or "-"
    yield "data", (log.option("data") or "-").rpartition("/")[2]
    yield "trained on", log.started or "-"
