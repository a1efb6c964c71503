"""Scores against the length penalty: what its search on a development set found (the thesis, 6.3.8)."""

import re
from typing import Dict, Iterator, List, Sequence

from ctxmt_fairseq.analysis.side_by_side import Value, scores
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import find_results

_SCORE = re.compile(r"n(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.score\.json")


def penalty_scores(system: str, path: str, metric: str = "bleu", decoding: str = "prefix") -> Iterator[Value]:
    """What ``ctxmt evaluate --lenpen opt`` left in its folder; places are penalties.

    Args:
        path: that folder, or the training's with ``evaluation`` in it.
        decoding: of the translations, with the tag of other windows, such as prefix.w3.

    Raises:
        BadInput: nothing of that kind.
    """
    folder = find_results(path).parent / f"dev.{decoding}"
    found = {float(name[1]): file for file in folder.glob("n*") if (name := _SCORE.fullmatch(file.name))}
    if not found:
        raise BadInput("expected scores n*.score.json, as of ctxmt evaluate --lenpen opt", folder)
    for penalty, file in sorted(found.items()):
        known = {one.measure: one for one in scores(file)[0]}
        if metric not in known:
            raise BadInput(f"expected {metric}, found {', '.join(known) or 'nothing'}", file)
        yield Value(system, metric, penalty, known[metric].value, known[metric].lines, path)


def best_penalties(values: Sequence[Value]) -> Dict[str, List[float]]:
    """System -> of each run the penalty with the highest score, of equals the lowest."""
    best: Dict[tuple, Value] = {}
    for one in sorted(values, key=lambda one: (-one.value, one.place)):
        best.setdefault((one.system, one.run), one)
    runs = dict.fromkeys((one.system, one.run) for one in values)
    found: Dict[str, List[float]] = {}
    for system, run in runs:
        found.setdefault(system, []).append(float(best[system, run].place))
    return found
