"""Scores with windows of other sizes than the trained: figure 4 of Lupo et al. (2022)."""

import statistics
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.side_by_side import Value, read_values, scores
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import TRAINED
from ctxmt_fairseq.tables import aligned_table, mean_and_deviation


def window_scores(
    systems: Sequence[str], metric: str = "bleu", decoding: Optional[str] = None
) -> Tuple[List[Value], Dict[str, int]]:
    """What ``ctxmt evaluate`` (called with several --window) or ``ctxmt probe --json`` wrote of systems.

    Args:
        metric: of translations, such as bleu or chrf2. Accuracies on contrastive sets are read as well.
        decoding: prefix or window; None: the one that there is.

    Returns:
        values whose places are sentences of a window, and of each system those in training.

    Raises:
        BadInput: another file, no score, two decodings, or runs of a system with different trained windows.
    """
    trained: Dict[str, int] = {}

    def read(system: str, path: str) -> Iterator[Value]:
        found, size = scores(path)
        if trained.setdefault(system, size) != size:
            raise BadInput(f"{system}: expected runs that were trained with the same windows", path)
        wanted = [
            one for one in found if one.context is None or (one.context, one.measure) == (TRAINED, metric)
        ]
        decodings = {one.name.decoding for one in wanted if one.name}
        if decoding is None and len(decodings) > 1:
            raise BadInput(f"--decoding: expected one of {', '.join(sorted(decodings))}", path)
        wanted = [one for one in wanted if not one.name or decoding in (None, one.name.decoding)]
        if not wanted or not size:
            raise BadInput(f"expected translations with {metric}, and the trained window, found none", path)
        return (Value(system, one.measure, one.window or size, one.value, one.lines, path) for one in wanted)

    return read_values(systems, read), trained


def window_table(values: Sequence[Value], trained: Mapping[str, int]) -> str:
    """Scores by window size, with their difference from that of the trained size."""
    sizes = sorted({one.place for one in values})
    cells: Dict[Any, Dict[int, List[float]]] = {}
    for one in values:
        cells.setdefault((one.label, one.system), {}).setdefault(one.place, []).append(one.value)
    rows = [["", "system", "trained", *(f"windows of {size}" for size in sizes)]]
    for (measure, system), found in cells.items():
        usual = trained[system]
        rows.append([measure, system, str(usual), *(_cell(found, size, usual) for size in sizes)])
    return aligned_table(rows)


def _cell(values: Mapping[int, Sequence[float]], size: int, trained: int) -> str:
    score = mean_and_deviation(values.get(size, []))
    if size == trained or size not in values or trained not in values:
        return score
    return f"{score} ({statistics.fmean(values[size]) - statistics.fmean(values[trained]):+.2f})"
