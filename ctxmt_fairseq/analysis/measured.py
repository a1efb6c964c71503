"""Everything that commands and trainings wrote of systems, as one list of values."""

import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from ctxmt_fairseq.analysis.system_names import runs_by_system
from ctxmt_fairseq.analysis.training_log import read_training_log
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import (
    TRAINED,
    TranslationName,
    find_results,
    main_accuracy,
    sentence_scores,
    suite_name,
)

_SEARCHED = re.compile(r"n(-?\d+(?:\.\d+)?(?:e-?\d+)?)\.score\.json")
_DOCUMENT = "document"  # a probe's name of the context as trained


class Value(NamedTuple):
    """A number of one run, and how it came about.

    Attributes:
        lines: how many it is of; None: not known.
        at: window, context, penalty, decoding, examples, or an option of the training -> its value.
    """

    system: str
    run: PathLike
    measure: str
    value: float
    lines: Optional[int]
    at: Dict[str, Union[str, float]]


def read_measured(systems: Sequence[str], options: Sequence[str] = ()) -> List[Value]:
    """The values of all runs of all systems, given as PATH or NAME=PATH (see ``named_paths``).

    PATH is the folder of ``ctxmt evaluate``, what ``score``, ``contrast``, ``probe``, ``control`` wrote with
    --json, or the log of a training.

    Args:
        options: of trainings, that are read from the logs in the runs' folders.

    Raises:
        BadInput: something else, a value that is there twice, or a measure of different texts.
    """
    values: List[Value] = []
    counts: Dict[str, Optional[int]] = {}
    for system, paths in runs_by_system(systems).items():
        for path in paths:
            seen = set()
            for measure, value, count, at in _read(Path(path), options):
                key = (measure, *sorted(at.items()))
                if key in seen:
                    raise BadInput(f"expected one {measure} of {_text(at)}, found several", path)
                if counts.setdefault(measure, count) != count:
                    raise BadInput(f"expected {measure} of {counts[measure]} lines, found {count}", path)
                seen.add(key)
                values.append(Value(system, path, measure, value, count, at))
    return values


def _text(at: Dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in at.items())


def _read(path: Path, options: Sequence[str]) -> Iterator[Any]:
    """(measure, value, lines, how it came about)."""
    log = path if path.suffix == ".log" else path / "train.log"
    trained = {}
    if options or path == log:
        training = read_training_log(log)
        trained = {name: training.number(name) for name in options}
        for subset in training.validations:
            name, best = training.best(subset)
            yield f"lowest {name}, {subset}", best.values[name], None, trained
        if path == log:
            return
    file = find_results(path)
    place, record = Place(file), load_json(file)
    for one in record if isinstance(record, list) else [record]:
        usual = {**trained, "context": "real", "decoding": "prefix"}
        if not isinstance(one, dict):
            raise place.error("expected what a command of ctxmt wrote")
        if "translations" in one:
            usual["window"] = one.get("trained_window", 0)
            yield from _evaluated(place, one, usual)
        elif "contexts" in one or "sizes" in one:
            count = get(place, one, "sentences", int)
            sizes = one.get("options", {})
            usual["window"] = 1 + max(sizes.get(side) or 0 for side in ("source_context", "target_context"))
            rows = [*one.get("contexts", ()), *one.get("sizes", ())]
            for row in rows:
                context = row.get("context", _DOCUMENT)
                at = (
                    {"window": row["size"] + 1}
                    if "size" in row
                    else {"context": context.replace(_DOCUMENT, "real")}
                )
                known = (name for name in ("bleu", "chrf2", "cxmi") if row.get(name) is not None)
                yield from ((name, get(place, row, name, float), count, {**usual, **at}) for name in known)
        elif "scores" in one:
            yield from _scored(place, one, usual)
        elif "setting" in one:
            examples = get(place, get(place, one, "setting", dict), "count", object)
            yield "accuracy (%)", get(place, one, "accuracy", float), None, {**trained, "examples": examples}
        else:
            yield _accuracy(place, get(place, one, "name", str), one, usual)
    for scores in sorted(file.parent.glob("dev.*/n*.score.json")):
        at = {**trained, "decoding": scores.parent.name.removeprefix("dev."), "context": "real"}
        penalty = _SEARCHED.fullmatch(scores.name)
        if penalty:
            found = _scored(Place(scores), load_json(scores), {**at, "penalty": float(penalty[1])})
            yield from ((f"{name}, dev", *rest) for name, *rest in found)


def _evaluated(place: Place, record: Any, usual: Dict[str, Any]) -> Iterator[Any]:
    for text, content in get(place, record, "translations", dict).items():
        name = TranslationName.of(text)
        if name:
            at = {**usual, "decoding": name.decoding, "context": name.context.replace(TRAINED, "real"),
                  "window": name.window or usual["window"]}  # fmt: skip
            yield from _scored(
                place, content, {**at, **({} if name.penalty is None else {"lenpen": "n opt"})}
            )
            if name.penalty is not None and name.context == TRAINED:
                yield "n", name.penalty, None, at
    for text, report in get(place, record, "contrast", dict).items():
        suite, window = suite_name(text)
        yield _accuracy(place, suite, report, {**usual, "window": window or usual["window"]})


def _scored(place: Place, content: Any, at: Dict[str, Any]) -> Iterator[Any]:
    count = get(place, content, "sentences", int)
    return ((metric, score, count, at) for metric, score in sentence_scores(place, content))


def _accuracy(place: Place, suite: str, report: Any, at: Dict[str, Any]) -> Any:
    kind, accuracy = main_accuracy(place, report)
    return f"{suite}, {kind}", accuracy, get(place, report, "examples", int), at
