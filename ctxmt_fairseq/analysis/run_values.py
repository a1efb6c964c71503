"""Reads what commands measured of the runs of systems into one flat list of values."""

import re
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.result_kinds import kind_of
from ctxmt_fairseq.analysis.result_values import WRITTEN, At, Value, conditions, of_result, scores_of
from ctxmt_fairseq.analysis.system_names import distinct_runs
from ctxmt_fairseq.analysis.training_curves import named_with_unit
from ctxmt_fairseq.analysis.training_log import NAME, TrainingLog, read_training_log
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.runs.results_file import TranslationName, find_results
from ctxmt_fairseq.text.json_files import Place as FilePlace
from ctxmt_fairseq.text.json_files import get, load_json

TRAININGS = "trainings"  # the system, if all runs are trainings that differ in an option
CURRENT_LOSS = "current_loss"  # comparable between context discounts, while the loss is not
_DEV_SCORE = re.compile(r"n(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.score\.json")

Result = Tuple[FilePlace, Any]  # a file and its content


def read_values(
    systems: Sequence[str],
    option: Optional[str] = None,
    losses: Sequence[str] = (),
    beside: Sequence[Sequence[str]] = (),
) -> List[Value]:
    """The values of all runs of systems, given as PATH or NAME=PATH (see ``named_paths``).

    PATH is the folder of a training or of ``ctxmt evaluate``, the log NAME.log of a training, or a file that
    ``score``, ``contrast``, ``probe`` or ``control`` wrote with --json. The last one also gives the system
    its name. ``beside`` are further files, each time one for each run, or one file of attention shares with a
    model for each run.

    An option of the trainings is read from their logs together with the best losses (default:
    ``current_loss``, or the metric by which the training chose its best checkpoint), and runs without a name
    belong to one system.
    """
    runs = distinct_runs(systems, (lambda _: TRAININGS) if option else _said_name)
    further = [_for_each_run(files, len(runs)) for files in beside]
    values: List[Value] = []
    counts: Dict[str, Optional[int]] = {}
    texts: Dict[str, str] = {}
    for number, (system, run) in enumerate(runs):
        path = Path(run)
        found = [*_of_path(path), *(one for each in further for one in of_result(*each[number]))]
        trained: At = {}
        if option:
            log = _log_of(path, option)
            trained = {option: log.number(option)}
            found += _best_losses(log, losses)
        if not found:
            raise BadInput(f"{WRITTEN}, found no value", run)
        for one in _once(found, run):
            if counts.setdefault(one.measure, one.lines) != one.lines:
                wanted = f"{counts[one.measure]} lines, as in the other runs"
                raise BadInput(f"expected {one.measure} of {wanted}, found {one.lines}", run)
            if one.text is not None and texts.setdefault(one.measure, one.text) != one.text:
                raise BadInput(f"expected {one.measure} of the text of the other runs, found another", run)
            values.append(one._replace(system=system, run=run, at={**one.at, **trained}))
    return values


def _said_name(path: str) -> str:
    """The system that a result of ``ctxmt control`` names; "" for anything else."""
    if not Path(path).is_file() or Path(path).suffix == ".log":
        return ""
    record = load_json(path)
    return get(FilePlace(path), record, "system", str) if kind_of(record) == "control" else ""


def _for_each_run(files: Sequence[str], count: int) -> List[Result]:
    """Read one result for each run; more or fewer are refused."""
    results: List[Result] = [(FilePlace(file), load_json(file)) for file in files]
    if len(results) == 1 and kind_of(results[0][1]) == "attention share":
        ((place, content),) = results
        results = [(place, {**content, "models": [model]}) for model in get(place, content, "models", list)]
    if len(results) != count:
        wanted = f"give {count} files, or one of {count} models"
        raise BadInput(f"--beside: {wanted}; found {len(results)}", files[0])
    return results


def _once(found: Iterable[Value], run: str) -> Iterator[Value]:
    """Each value once; two different values of one kind are refused."""
    known: Dict[Any, float] = {}
    for one in found:
        key = (one.measure, *sorted(one.at.items()))
        if key not in known:
            yield one
        if known.setdefault(key, one.value) != one.value:
            how = ", ".join(f"{name} {place}" for name, place in one.at.items())
            raise BadInput(f"expected one {one.measure} of {how}, found several", run)


# ---- a run's files -----------------------------------------------------------------------------------


def _of_path(path: Path) -> Iterator[Value]:
    """The results of a run, and those of a search for the length penalty beside them."""
    if path.suffix == ".log":
        return
    file, content = find_results(path), None
    if not path.is_dir() or file.exists():
        content = load_json(file)
        yield from of_result(FilePlace(file), content)
    if path.is_dir():
        yield from _searched(file.parent, content)


def _searched(folder: Path, results: Any) -> Iterator[Value]:
    """The scores on the development set with every length penalty, ascending, of the models that the results
    beside them are of, where both say it."""
    files = [(_DEV_SCORE.fullmatch(file.name), file) for file in folder.glob("dev.*/*")]
    for penalty, file in sorted((float(name[1]), file) for name, file in files if name):
        decoded = TranslationName.of(file.parent.name.removeprefix("dev."))
        content = load_json(file)
        if decoded and len({_models(content), _models(results)} - {None}) < 2:
            at = conditions(decoded.context, decoded.window)
            del at["context"]  # results of the search are not compared with other contexts
            at = {**at, "decoding": decoded.decoding, "penalty": penalty}
            for one in scores_of(FilePlace(file), content, at):
                yield one._replace(measure=f"{one.measure}, dev")


def _models(record: Any) -> Optional[str]:
    """The hashes of the models' files that ``ctxmt evaluate`` noted; None: it did not."""
    return str(record.get("checkpoints")) if isinstance(record, dict) and "checkpoints" in record else None


def _log_of(run: Path, option: str) -> TrainingLog:
    """The log of a run's training, in the folder of its results or up to two folders above."""
    folders = [run, *list(run.absolute().parents)[:2]]
    for file in [run] if run.suffix == ".log" else [folder / NAME for folder in folders]:
        if file.is_file():
            return read_training_log(file)
    raise BadInput(f"put the training's {NAME}, which tells {option}, into this folder", run)


def _best_losses(log: TrainingLog, losses: Sequence[str]) -> Iterator[Value]:
    """The best losses in validation, for every subset of the data."""
    for subset in log.validations:
        known = {name for record in log.validated(subset) for name in record.values}
        for loss in known.intersection(losses) or known.intersection([CURRENT_LOSS]) or [None]:
            name, best = log.best(subset, loss)
            yield Value(f"best {named_with_unit(name, subset)}", best.values[name], None, {})
