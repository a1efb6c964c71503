"""An option of the training against what it leads to: for the discount figure 2 of Lupo et al. (2022)."""

import statistics
from typing import List

from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.evaluation.whole_runs.results import main_accuracy

ACCURACY = "accuracy (%)"
SHARE = "attention share (%)"


def read_accuracy(path: PathLike) -> float:
    """What ``ctxmt contrast --json`` wrote: Disc., or the accuracy where no example needs context.

    In percent; of several sets the mean. Raises BadInput: something else.
    """
    content = load_json(path)
    records = content if isinstance(content, list) and content else [content]
    return statistics.fmean(main_accuracy(Place(path), record)[1] for record in records)


def read_shares(path: PathLike, count: int) -> List[float]:
    """What ``ctxmt analyse attention-share --json`` wrote of so many models: of each the share, in percent.

    Of encoder and decoder together. Raises BadInput: something else, or other models in number.
    """
    place = Place(path)
    models = get(place, load_json(path), "models", list)
    if len(models) != count:
        raise place.error(f"expected {count} models, one for each LOG, found {len(models)}")
    return [100 * get(place, get(place, model, "means", dict), "share, both", float) for model in models]
