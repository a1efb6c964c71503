"""Reads what commands measured of the runs of systems into one flat list of values."""

import re
import statistics
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.result_kinds import kind_of
from ctxmt_fairseq.analysis.system_names import distinct_runs
from ctxmt_fairseq.analysis.training_curves import named_with_unit
from ctxmt_fairseq.analysis.training_log import NAME, TrainingLog, read_training_log
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.plots.charts import Place
from ctxmt_fairseq.evaluation.runs.results import (
    TRAINED,
    TranslationName,
    find_results,
    main_accuracy,
    main_scores,
    suite_name,
)
from ctxmt_fairseq.text.json_files import Place as FilePlace
from ctxmt_fairseq.text.json_files import get, load_json

REAL = "real"  # context as in training
DOCUMENT = "document"  # the same in a probe
TRAININGS = "trainings"  # the system, if all runs are trainings that differ in an option
CURRENT_LOSS = "current_loss"  # comparable between context discounts, while the loss is not
WRITTEN = "expected what ctxmt evaluate, score, contrast, probe, control or analyse attention-share wrote"
PROBED = {"bleu": "bleu", "chrf2": "chrf2", "cxmi": "cxmi, bits per word"}  # key -> measure
_DEV_SCORE = re.compile(r"n(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.score\.json")

At = Dict[str, Place]
Found = Tuple[str, float, Optional[int], At]  # measure, value, lines, at
Result = Tuple[FilePlace, Any]  # a file and its content


class Value(NamedTuple):
    """A number that was measured of one run, and under which conditions.

    Attributes:
        run: the path of the run, as it was given.
        measure: such as "bleu", or "set, Disc." for a contrastive set.
        lines: of how many lines it was measured; None: not known.
        at: the conditions that are known: ``context`` (real, random, ..), ``window`` (sentences, or trained),
            ``trained`` (sentences of a window in training), ``decoding`` (prefix, window), ``n`` (the length
            penalty: given, or opt if a search found it), ``penalty`` in that search, ``examples`` of a
            few-shot setting, or an option of the training.
    """

    system: str
    run: str
    measure: str
    value: float
    lines: Optional[int]
    at: At


def read_values(
    systems: Sequence[str],
    option: Optional[str] = None,
    losses: Sequence[str] = (),
    beside: Sequence[Sequence[str]] = (),
) -> List[Value]:
    """The values of all runs of systems, given as PATH or NAME=PATH (see ``named_paths``).

    PATH is the folder of a training or of ``ctxmt evaluate``, the log NAME.log of a training, or a file that
    ``score``, ``contrast``, ``probe`` or ``control`` wrote with --json. The last one also gives the system
    its name.

    Args:
        option: an option of the trainings. It is read from their logs together with the best losses, and runs
            without a name belong to one system.
        losses: which losses, by fairseq's names; default: ``current_loss``, or the metric by which the
            training chose its best checkpoint.
        beside: further files, each time one for each run, or one file of attention shares with a model for
            each run.
    """
    runs = distinct_runs(systems, _trainings if option else _said_name)
    further = [_for_each_run(files, len(runs)) for files in beside]
    values: List[Value] = []
    counts: Dict[str, Optional[int]] = {}
    for number, (system, run) in enumerate(runs):
        path = Path(run)
        found = [*_of_path(path), *(one for each in further for one in _of_result(*each[number]))]
        trained: At = {}
        if option:
            log = _log_of(path, option)
            trained = {option: log.number(option)}
            found += _best_losses(log, losses)
        if not found:
            raise BadInput(f"{WRITTEN}, found no value", run)
        for measure, value, lines, at in _once(found, run):
            if counts.setdefault(measure, lines) != lines:
                raise BadInput(
                    f"expected {measure} of {counts[measure]} lines, as in the other runs, found {lines}", run
                )
            values.append(Value(system, run, measure, value, lines, {**at, **trained}))
    return values


def _trainings(_: str) -> str:
    return TRAININGS


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
        raise BadInput(
            f"--beside: give {count} files, or one of {count} models; found {len(results)}", files[0]
        )
    return results


def _once(found: Iterable[Found], run: str) -> Iterator[Found]:
    """Each value once; two different values of one kind are refused."""
    known: Dict[Any, float] = {}
    for one in found:
        measure, value, _, at = one
        key = (measure, *sorted(at.items()))
        if key not in known:
            yield one
        if known.setdefault(key, value) != value:
            how = ", ".join(f"{name} {place}" for name, place in at.items())
            raise BadInput(f"expected one {measure} of {how}, found several", run)


# ---- a run's files -----------------------------------------------------------------------------------


def _of_path(path: Path) -> Iterator[Found]:
    """The results of a run, and those of a search for the length penalty beside them."""
    if path.suffix == ".log":
        return
    file = find_results(path)
    if not path.is_dir() or file.exists():
        yield from _of_result(FilePlace(file), load_json(file))
    if path.is_dir():
        yield from _searched(file.parent)


def _searched(folder: Path) -> Iterator[Found]:
    """The scores on the development set with every length penalty, ascending."""
    files = [(_DEV_SCORE.fullmatch(file.name), file) for file in folder.glob("dev.*/*")]
    for penalty, file in sorted((float(name[1]), file) for name, file in files if name):
        decoded = TranslationName.of(file.parent.name.removeprefix("dev."))
        if decoded:
            at = {**_at(decoded.context, decoded.window), "decoding": decoded.decoding, "penalty": penalty}
            del at["context"]  # results of the search are not compared with other contexts
            for measure, score, count, _ in _scores(FilePlace(file), load_json(file), at):
                yield f"{measure}, dev", score, count, at


def _log_of(run: Path, option: str) -> TrainingLog:
    """The log of a run's training, in the folder of its results or up to two folders above."""
    files = (
        [run] if run.suffix == ".log" else [each / NAME for each in (run, *list(run.absolute().parents)[:2])]
    )
    for file in files:
        if file.is_file():
            return read_training_log(file)
    raise BadInput(f"put the training's {NAME}, which tells {option}, into this folder", run)


def _best_losses(log: TrainingLog, losses: Sequence[str]) -> Iterator[Found]:
    """The best losses in validation, for every subset of the data."""
    for subset in log.validations:
        known = {name for record in log.validated(subset) for name in record.values}
        for loss in known.intersection(losses) or known.intersection([CURRENT_LOSS]) or [None]:
            name, best = log.best(subset, loss)
            yield f"best {named_with_unit(name, subset)}", best.values[name], None, {}


# ---- results by their kind ---------------------------------------------------------------------------


def _of_result(place: FilePlace, content: Any) -> Iterator[Found]:
    """The values in a file, and the mean of the accuracies if it has several contrastive sets."""
    records = content if isinstance(content, list) else [content]
    accuracies = []
    for record in records:
        kind = kind_of(record)
        if kind not in _READERS:
            raise place.error(WRITTEN)
        if kind == "contrast":
            accuracies.append(main_accuracy(place, record)[1])
        yield from _READERS[kind](place, record)
    if len(accuracies) > 1:
        yield f"accuracy of {len(accuracies)} sets", statistics.fmean(accuracies), None, _at()


def _evaluated(place: FilePlace, record: Any) -> Iterator[Found]:
    trained = get(place, record, "trained_window", int) if "trained_window" in record else None
    for text, content in get(place, record, "translations", dict).items():
        name = TranslationName.of(text)
        if name is None:
            continue
        at = {**_at(name.context, name.window, trained), "decoding": name.decoding}
        at["n"] = "given" if name.penalty is None else "opt"
        yield from _scores(place, content, at)
        if name.penalty is not None and name.context == TRAINED:
            yield "n", name.penalty, None, at
    for text, report in get(place, record, "contrast", dict).items():
        suite, window = suite_name(text)
        yield _accuracy(place, suite, report, _at(TRAINED, window, trained))


def _probed(place: FilePlace, record: Any) -> Iterator[Found]:
    """The values with other contexts, and with sizes of the document's own context."""
    count, options = get(place, record, "sentences", int), get(place, record, "options", dict)
    sides = {"source_context", "target_context"}.intersection(options)
    trained = 1 + max((get(place, options, side, int, null=True) or 0 for side in sides), default=0)
    rows = [(row, _at(get(place, row, "context", str), None, trained))
            for row in get(place, record, "contexts", list)]  # fmt: skip
    rows += [(row, _at(DOCUMENT, get(place, row, "size", int) + 1, trained))
             for row in get(place, record, "sizes", list)]  # fmt: skip
    for row, at in rows:
        for key, measure in PROBED.items():
            if row.get(key) is not None:
                yield measure, get(place, row, key, float), count, at


def _score(place: FilePlace, record: Any) -> Iterator[Found]:
    return _scores(place, record, _at())


def _contrast(place: FilePlace, record: Any) -> Iterator[Found]:
    yield _accuracy(place, get(place, record, "name", str), record, _at())


def _control(place: FilePlace, record: Any) -> Iterator[Found]:
    accuracy = get(place, record, "accuracy", float, null=True)
    if accuracy is None:
        raise place.error("has no accuracy: no translation had one of the forms")
    setting = get(place, record, "setting", dict, null=True)
    yield "accuracy (%)", accuracy, None, {} if setting is None else {"examples": _count(place, setting)}


def _count(place: FilePlace, setting: Any) -> Place:
    if setting.get("count") == "all":
        return "all"
    count = get(place, setting, "count", int)
    if count < 0:
        raise place.error(f"expected 0 or more at the setting's key 'count', found {count}")
    return count


def _share(place: FilePlace, record: Any) -> Iterator[Found]:
    """The share of encoder and decoder together."""
    models = get(place, record, "models", list)
    if len(models) != 1:
        raise place.error(
            f"expected the shares of one model, found {len(models)}; give those of several with --beside"
        )
    share = get(place, get(place, models[0], "means", dict), "share, both", float)
    yield "attention share (%)", 100 * share, None, {}


def _scores(place: FilePlace, content: Any, at: At) -> Iterator[Found]:
    count = get(place, content, "sentences", int)
    return ((measure, score, count, at) for measure, score in main_scores(place, content))


def _accuracy(place: FilePlace, suite: str, report: Any, at: At) -> Found:
    kind, accuracy = main_accuracy(place, report)
    return f"{suite}, {kind}", accuracy, get(place, report, "examples", int), at


def _at(context: str = TRAINED, window: Optional[int] = None, trained: Optional[int] = None) -> At:
    """The conditions of an evaluation. A window of None, or of the trained size, is called trained."""
    at: At = {"context": REAL if context in (TRAINED, DOCUMENT) else context,
              "window": window if window and window != trained else TRAINED}  # fmt: skip
    return at if trained is None else {**at, TRAINED: trained}


_READERS: Dict[Optional[str], Callable[[FilePlace, Any], Iterator[Found]]] = {
    "results": _evaluated,
    "score": _score,
    "contrast": _contrast,
    "probe": _probed,
    "control": _control,
    "attention share": _share,
}
