"""Systems as rows and measures as columns, as papers have them."""

from typing import Any, Dict, List, Mapping, Sequence, Tuple

from ctxmt_fairseq.analysis.value_tables import Placed, cell_of
from ctxmt_fairseq.base.plots.charts import Place, in_order, place_name
from ctxmt_fairseq.base.tables import aligned_table, remark
from ctxmt_fairseq.evaluation.significance.p_values import stars

_NAMES = {
    "bleu": "BLEU",
    "ter": "TER",
    "comet": "COMET",
    **{f"chrf{beta}": f"chrF{beta}" for beta in (1, 2, 3)},
}


def paper_table(found: Sequence[Placed], records: Sequence[Mapping[str, Any]]) -> str:
    """One table of values across systems: mean and deviation over the runs, with stars behind what differs
    significantly (Holm-corrected within its column) by ``records``; below it what all columns share."""
    tested = [record for record in records if record["p"] is not None]
    marks = {
        (record["measure"], record["system"], record["place"]): stars(record["p_holm"]) for record in tested
    }
    cells: Dict[Tuple[str, str, Place], List[Placed]] = {}
    differs: Dict[Tuple[str, str, Place], str] = {}
    for one in found:
        key = one.measure, one.system, one.place
        if one.against:
            differs[key] = marks.get((one.measure, one.system, one.column), "")
        else:
            cells.setdefault(key, []).append(one)
    columns = list(dict.fromkeys((measure, row) for measure, row, _ in cells))
    heads, below = _heads(
        [measure if measure.startswith(row) else f"{measure}, {row}" for measure, row in columns]
    )
    rows = [["system", *heads]]
    for place in in_order(one.place for one in found):
        ones = [cells.get((*column, place), []) for column in columns]
        shown = [cell_of(each, len(each)) for each in ones]
        starred = [differs.get((*column, place), "") for column in columns]
        rows.append([place_name(place), *map("".join, zip(shown, starred, strict=True))])
    return "\n\n".join([aligned_table(rows), *map(remark, below)])


def _heads(columns: Sequence[str]) -> Tuple[List[str], List[str]]:
    """Heads of columns, and the line below the table: what all share, and how many examples (n) each has."""
    parts = [[_NAMES.get(part, part) for part in column.split(", ")] for column in columns]
    common = [part for part in parts[0][1:] if all(part in each[1:] for each in parts)]

    def tells(part: str) -> bool:
        return part not in common and not part.startswith("n = ")

    heads = [", ".join([each[0], *filter(tells, each[1:])]) for each in parts]
    if len(set(heads)) < len(heads):
        return [", ".join(each) for each in parts], []
    sizes: Dict[str, List[str]] = {}
    for head, each in zip(heads, parts, strict=True):
        for part in each:
            if part.startswith("n = ") and part not in common:
                sizes.setdefault(part, []).append(head)
    line = [*common, *(f"{size} ({', '.join(those)})" for size, those in sizes.items())]
    return heads, [", ".join(line)] if line else []
