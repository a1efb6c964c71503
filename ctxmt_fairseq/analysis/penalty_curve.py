"""Scores against the length penalty: what its search on a development set found (the thesis, 6.3.8)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Mapping, Sequence

from ctxmt_fairseq.charts import Panel, Point
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import find_results, sentence_scores
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation

_SCORE = re.compile(r"n(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.score\.json")


@dataclass(frozen=True)
class PenaltySearch:
    """One model's scores by length penalty.

    Attributes:
        sentences: of the development set.
        scores: penalty, ascending -> score.
    """

    path: Path
    sentences: int
    scores: Dict[float, float]

    @property
    def best(self) -> float:
        """The penalty with the highest score, of equals the lowest."""
        return max(self.scores, key=lambda penalty: (self.scores[penalty], -penalty))


def read_penalty_search(path: PathLike, metric: str = "bleu", decoding: str = "prefix") -> PenaltySearch:
    """What ``ctxmt evaluate --lenpen opt`` left in its folder.

    Args:
        path: that folder, or the training's with ``evaluation`` in it.
        decoding: of the translations, with the tag of other windows, such as prefix.w3.

    Raises:
        BadInput: nothing of that kind, or of several texts.
    """
    folder = find_results(path).parent / f"dev.{decoding}"
    scores: Dict[float, float] = {}
    counts = set()
    for file in sorted(folder.glob("n*.score.json")):
        found = _SCORE.fullmatch(file.name)
        if found:
            place, record = Place(file), load_json(file)
            values = dict(sentence_scores(place, record))
            if metric not in values:
                raise place.error(f"expected {metric}, found {', '.join(values) or 'nothing'}")
            scores[float(found[1])] = values[metric]
            counts.add(get(place, record, "sentences", int))
    if len(counts) != 1:
        what = "of one text, found several" if counts else "n*.score.json, as of ctxmt evaluate --lenpen opt"
        raise BadInput(f"expected scores {what}", folder)
    return PenaltySearch(folder, counts.pop(), dict(sorted(scores.items())))


def penalty_values(runs: Sequence[PenaltySearch]) -> Dict[float, List[float]]:
    """Penalty, ascending -> scores of the runs that have it."""
    places = sorted({penalty for run in runs for penalty in run.scores})
    return {place: [run.scores[place] for run in runs if place in run.scores] for place in places}


def penalty_panel(systems: Mapping[str, Sequence[PenaltySearch]], metric: str) -> Panel:
    """A line for each system; raises BadInput where they are of different texts."""
    counts = {run.sentences for runs in systems.values() for run in runs}
    if len(counts) > 1:
        raise BadInput(f"expected scores of one development set, found sets of {sorted(counts)} sentences")
    lines = {
        name: {place: Point.of_runs(values) for place, values in penalty_values(runs).items()}
        for name, runs in systems.items()
    }
    return Panel(f"{metric} (0 to 100), n = {counts.pop():,} sentences", lines)


def penalty_table(systems: Mapping[str, Sequence[PenaltySearch]]) -> str:
    """Scores by penalty, and of each system the penalties that are the best of its runs."""
    columns = {name: penalty_values(runs) for name, runs in systems.items()}
    rows = [["length penalty", *columns]]
    for place in sorted({place for column in columns.values() for place in column}):
        rows.append(
            [f"{place:g}", *(mean_and_deviation(column.get(place, [])) for column in columns.values())]
        )
    best = [f"{name}: {', '.join(f'{run.best:g}' for run in runs)}" for name, runs in systems.items()]
    return "\n".join([aligned_table(rows), "", f"best of each run: {'; '.join(best)}"])
