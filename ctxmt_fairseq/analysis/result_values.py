"""The values in what a command measured of one run, by the kind of the file."""

import statistics
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional

import numpy as np

from ctxmt_fairseq.analysis.result_kinds import kind_of
from ctxmt_fairseq.base.plots.charts import Place
from ctxmt_fairseq.evaluation.runs.results_file import (
    TRAINED,
    TranslationName,
    how_scored,
    main_accuracy,
    main_scores,
    suite_name,
)
from ctxmt_fairseq.evaluation.significance.contrast import ALL, DISC, read_outcomes
from ctxmt_fairseq.text.json_files import Place as FilePlace
from ctxmt_fairseq.text.json_files import get

REAL = "real"  # context as in training
DOCUMENT = "document"  # the same in a probe
WRITTEN = "expected what ctxmt evaluate, score, contrast, probe, control or analyse attention-share wrote"
PROBED = {  # key -> measure
    "bleu": "bleu",
    "chrf2": "chrf2",
    "cxmi": "cxmi, bits per word",
    "nats_per_sentence": "cxmi, nats per sentence",
    "nats_per_token": "cxmi, nats per token",
}
ROUNDED = 0.01  # accuracies of the same examples differ by less

At = Dict[str, Place]


class Value(NamedTuple):
    """A number that was measured of one run, and under which conditions.

    Attributes:
        measure: such as "bleu", or "set, Disc." for a contrastive set.
        lines: of how many lines it was measured; None: not known.
        at: the conditions that are known: ``context`` (real, random, ..), ``window`` (sentences, or trained),
            ``trained`` (sentences of a window in training), ``decoding`` (prefix, window), ``n`` (the length
            penalty: given, or opt if a search found it), ``penalty`` in that search, ``examples`` of a
            few-shot setting, or an option of the training.
        each: what each example adds to it, (N,) with the value as mean, where that is known.
        how: sacrebleu's signature, the convention of a contrastive set, or what CXMI compares with.
        text: a fingerprint of these lines; None: not known.
        system, run: whose it is, and the path as it was given; a file does not say it.
    """

    measure: str
    value: float
    lines: Optional[int]
    at: At
    each: Optional[np.ndarray] = None
    how: str = ""
    text: Optional[str] = None
    system: str = ""
    run: str = ""

    def record(self) -> Dict[str, Any]:
        """For JSON, without ``each``."""
        names = ("system", "run", "measure", "value", "lines", "at")
        return {name: getattr(self, name) for name in names}


def of_result(place: FilePlace, content: Any) -> Iterator[Value]:
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
        yield Value(f"accuracy of {len(accuracies)} sets", statistics.fmean(accuracies), None, conditions())


def _evaluated(place: FilePlace, record: Any) -> Iterator[Value]:
    trained = get(place, record, "trained_window", int) if "trained_window" in record else None
    for text, content in get(place, record, "translations", dict).items():
        name = TranslationName.of(text)
        if name is None:
            continue
        context = (
            str(record.get("random_context", name.context)) if name.context == "random" else name.context
        )
        at = {**conditions(context, name.window, trained), "decoding": name.decoding}
        if "target_context_from" in record:
            at["target_context_from"] = get(place, record, "target_context_from", str)
        at["n"] = "given" if name.penalty is None else "opt"
        yield from scores_of(place, content, at)
        if name.penalty is not None and name.context == TRAINED:
            yield Value("n", name.penalty, None, at)
    for text, report in get(place, record, "contrast", dict).items():
        if Path(text).name != text:
            raise place.error(f"expected the name of a contrastive set, found {text[:40]!r}")
        suite, window = suite_name(text)
        found = _accuracy(place, suite, report, conditions(TRAINED, window, trained))
        examples = Path(str(place.path)).with_name(f"{text}.examples.jsonl")
        yield found._replace(each=_decisions(examples, found.value))


def _probed(place: FilePlace, record: Any) -> Iterator[Value]:
    """The values with other contexts, and with sizes of the document's own context."""
    count, options = get(place, record, "sentences", int), get(place, record, "options", dict)
    sides = {"source_context", "target_context"}.intersection(options)
    trained = 1 + max((get(place, options, side, int, null=True) or 0 for side in sides), default=0)
    rows = [(row, conditions(get(place, row, "context", str), None, trained))
            for row in get(place, record, "contexts", list)]  # fmt: skip
    rows += [(row, conditions(DOCUMENT, get(place, row, "size", int) + 1, trained))
             for row in get(place, record, "sizes", list)]  # fmt: skip
    signatures = get(place, record, "signatures", dict) if "signatures" in record else {}
    hows = {name: how_scored({"name": name, "signature": of}) for name, of in signatures.items()}
    against, text = f"context against {record.get('against', 'absent')}", record.get("content")
    for row, at in rows:
        for key, measure in PROBED.items():
            if row.get(key) is not None:
                how = against if measure.startswith("cxmi") else hows.get(measure, "")
                yield Value(measure, get(place, row, key, float), count, at, how=how, text=text)


def _score(place: FilePlace, record: Any) -> Iterator[Value]:
    return scores_of(place, record, conditions())


def _contrast(place: FilePlace, record: Any) -> Iterator[Value]:
    yield _accuracy(place, get(place, record, "name", str), record, conditions())


def _control(place: FilePlace, record: Any) -> Iterator[Value]:
    accuracy = get(place, record, "accuracy", float, null=True)
    if accuracy is None:
        raise place.error("has no accuracy: no translation had one of the forms")
    setting = get(place, record, "setting", dict, null=True)
    at: At = {} if setting is None else {"examples": _count(place, setting)}
    yield Value("accuracy (%)", accuracy, None, at)


def _count(place: FilePlace, setting: Any) -> Place:
    if setting.get("count") == "all":
        return "all"
    count = get(place, setting, "count", int)
    if count < 0:
        raise place.error(f"expected 0 or more at the setting's key 'count', found {count}")
    return count


def _share(place: FilePlace, record: Any) -> Iterator[Value]:
    """The share of encoder and decoder together."""
    models = get(place, record, "models", list)
    if len(models) != 1:
        several = f"found {len(models)}; give those of several with --beside"
        raise place.error(f"expected the shares of one model, {several}")
    share = get(place, get(place, models[0], "means", dict), "share, both", float)
    yield Value("attention share (%)", 100 * share, None, {})


def scores_of(place: FilePlace, content: Any, at: At) -> Iterator[Value]:
    count = get(place, content, "sentences", int)
    text = content.get("content")
    found = main_scores(place, content)
    return (Value(measure, score, count, at, how=how, text=text) for measure, score, how in found)


def _accuracy(place: FilePlace, suite: str, report: Any, at: At) -> Value:
    kind, accuracy = main_accuracy(place, report)
    count = get(place, report, "examples", int)
    how, text = get(place, report, "convention", str), report.get("content")
    return Value(f"{suite}, {kind}", accuracy, count, at, how=how, text=text)


def _decisions(path: Path, accuracy: float) -> Optional[np.ndarray]:
    """100 or 0 for each example behind an accuracy, in the order of all runs; None: not there, or others."""
    if not path.exists():
        return None
    outcomes = sorted(read_outcomes(path).items())
    for group in (DISC, ALL):
        right = np.array([100.0 * outcome.correct for _, outcome in outcomes if group in outcome.groups])
        if len(right) and abs(right.mean() - accuracy) < ROUNDED:
            return right
    return None


def conditions(context: str = TRAINED, window: Optional[int] = None, trained: Optional[int] = None) -> At:
    """The conditions of an evaluation. A window of None, or of the trained size, is called trained."""
    at: At = {"context": REAL if context in (TRAINED, DOCUMENT) else context,
              "window": window if window and window != trained else TRAINED}  # fmt: skip
    return at if trained is None else {**at, TRAINED: trained}


_READERS: Dict[Optional[str], Callable[[FilePlace, Any], Iterator[Value]]] = {
    "results": _evaluated,
    "score": _score,
    "contrast": _contrast,
    "probe": _probed,
    "control": _control,
    "attention share": _share,
}
