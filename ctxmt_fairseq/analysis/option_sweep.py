"""An option of the training against what it leads to: for the discount figure 2 of Lupo et al. (2022)."""

import statistics
from typing import Any, Dict, List, Mapping, Sequence

from ctxmt_fairseq.analysis.training_log import TrainingLog
from ctxmt_fairseq.charts import Panel, Point
from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.evaluation.whole_runs.results import main_accuracy
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation

ACCURACY = "accuracy (%)"
SHARE = "attention share (%)"
Values = Mapping[str, Mapping[float, Sequence[float]]]  # measure -> value of the option -> of each training


def best_losses(logs: Sequence[TrainingLog], subset: str, metric: str) -> List[float]:
    """Of each training the lowest value in validation; raises BadInput where there is none."""
    return [log.best(subset, metric)[1].values[metric] for log in logs]


def read_accuracy(path: PathLike) -> float:
    """What ``ctxmt contrast --json`` wrote: Disc., or the accuracy where no example needs context.

    In percent; of several sets the mean. Raises BadInput: something else.
    """
    content = load_json(path)
    place = Place(path)
    found = []
    for record in content if isinstance(content, list) and content else [content]:
        found.append(main_accuracy(place, record)[1])
    return statistics.fmean(found)


def read_shares(path: PathLike, count: int) -> List[float]:
    """What ``ctxmt analyse attention-share --json`` wrote of so many models: of each the share, in percent.

    Of encoder and decoder together. Raises BadInput: something else, or other models in number.
    """
    place = Place(path)
    models = get(place, load_json(path), "models", list)
    if len(models) != count:
        raise place.error(f"expected {count} models, one for each LOG, found {len(models)}")
    return [100 * get(place, get(place, model, "means", dict), "share, both", float) for model in models]


def sweep(
    at: Sequence[float], measures: Mapping[str, Sequence[float]]
) -> Dict[str, Dict[float, List[float]]]:
    """Measure -> option's value, in ascending order -> the measured values of its trainings.

    Args:
        at: the option's value in each training.
        measures: name -> value of each training.
    """
    found: Dict[str, Dict[float, List[float]]] = {}
    for name, values in measures.items():
        places: Dict[float, List[float]] = {place: [] for place in sorted(set(at))}
        for place, value in zip(at, values, strict=True):
            places[place].append(value)
        found[name] = places
    return found


def sweep_panels(found: Values) -> List[Panel]:
    """A panel for each measure, each in its own colour as in the paper."""
    return [
        Panel(name, {name: {place: Point.of_runs(values) for place, values in places.items()}})
        for name, places in found.items()
    ]


def sweep_table(option: str, found: Values) -> str:
    """A row for each value of the option: mean and standard deviation over its trainings."""
    rows: List[List[Any]] = [[option, "trainings", *found]]
    for place in next(iter(found.values())):
        of_place = [places[place] for places in found.values()]
        cells = [mean_and_deviation(values, 3) for values in of_place]
        rows.append([f"{place:g}", str(len(of_place[0])), *cells])
    return aligned_table(rows)
