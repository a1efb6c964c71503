"""Systems side by side: what was measured of their runs, and what ``ctxmt evaluate``, ``score``, ``contrast``
and ``probe`` wrote of one."""

from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.system_names import runs_by_system
from ctxmt_fairseq.data.json_files import Place as FilePlace
from ctxmt_fairseq.data.json_files import get, load_json
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


class Value(NamedTuple):
    """What was measured of one run of a system.

    Attributes:
        place: what it is drawn across (a ``charts.Place``), such as an epoch or the size of a window.
        lines: how many it is of; None: not known.
    """

    system: str
    measure: str
    place: Any
    value: float
    lines: Optional[int] = None
    run: PathLike = ""

    @property
    def label(self) -> str:
        """The measure, and of how many lines."""
        return f"{self.measure}, n = {self.lines:,}"


def read_values(systems: Sequence[str], read: Callable[[str, str], Iterable[Value]]) -> List[Value]:
    """The values of all systems, those of a measure beside each other.

    Args:
        systems: PATH or NAME=PATH, see ``named_paths``.
        read: name and path to the values of a run.

    Raises:
        BadInput: a run has a value twice, or a measure is not of equally many lines in all runs.
    """
    values: List[Value] = []
    counts: Dict[str, Optional[int]] = {}
    for system, paths in runs_by_system(systems).items():
        for path in paths:
            places = set()
            for one in read(system, path):
                if one[:3] in places:
                    raise BadInput(
                        f"expected one {one.measure} of {one.system}, {one.place}, found several", path
                    )
                if counts.setdefault(one.measure, one.lines) != one.lines:
                    raise BadInput(
                        f"expected {one.measure} of {counts[one.measure]} lines, found {one.lines}", path
                    )
                places.add(one[:3])
                values.append(one)
    return sorted(values, key=lambda one: list(counts).index(one.measure))


class Scored(NamedTuple):
    """A score in a file of results, 0 to 100.

    Attributes:
        name: what the translation's name says; None of a contrastive set and of files but results.json.
        window: sentences of a window; None: as trained.
        context: trained, random, ..; None of a contrastive set.
        lines: sentences or examples.
    """

    measure: str
    value: float
    lines: int
    window: Optional[int] = None
    context: Optional[str] = None
    name: Optional[TranslationName] = None


def scores(path: PathLike) -> Tuple[List[Scored], int]:
    """All scores by sentences, and accuracies (Disc. where there is one) of a run.

    Args:
        path: results.json of ``ctxmt evaluate`` or the folder with it; else a JSON file of ``score``,
            ``contrast`` or ``probe``, of which the scores with the document's own context within N sentences
            have a window.

    Returns:
        the scores, and the sentences of a window in training (0: the file does not say).

    Raises:
        BadInput: something else.
    """
    file = find_results(path)
    place, record = FilePlace(file), load_json(file)
    found: List[Scored] = []
    trained = 0
    for one in record if isinstance(record, list) and record else [record]:
        if not isinstance(one, dict):
            raise place.error("expected what ctxmt evaluate, score, contrast or probe wrote")
        if "translations" in one:
            trained = get(place, one, "trained_window", int) if "trained_window" in one else 0
            for text, content in get(place, one, "translations", dict).items():
                name = TranslationName.of(text)
                if name:
                    found += _scores(place, content, window=name.window, context=name.context, name=name)
            for text, report in get(place, one, "contrast", dict).items():
                suite, window = suite_name(text)
                found.append(_accuracy(place, suite, report, window))
        elif "contexts" in one or "sizes" in one:
            options = one.get("options", {})
            trained = 1 + max(options.get(side) or 0 for side in ("source_context", "target_context"))
            found += _probe(place, one)
        elif "scores" in one:
            found += _scores(place, one, context=TRAINED)
        else:
            found.append(_accuracy(place, get(place, one, "name", str), one))
    return found, trained


def _scores(place: FilePlace, content: Any, **what: Any) -> Iterator[Scored]:
    count = get(place, content, "sentences", int)
    return (Scored(metric, score, count, **what) for metric, score in sentence_scores(place, content))


def _accuracy(place: FilePlace, suite: str, report: Any, window: Optional[int] = None) -> Scored:
    kind, accuracy = main_accuracy(place, report)
    return Scored(f"{suite}, {kind}", accuracy, get(place, report, "examples", int), window)


def _probe(place: FilePlace, record: Any) -> Iterator[Scored]:
    count = get(place, record, "sentences", int)
    rows = [(one, None) for one in record.get("contexts", ())]
    rows += [(one, get(place, one, "size", int) + 1) for one in record.get("sizes", ())]
    for one, window in rows:
        context = "document" if window else get(place, one, "context", str)
        for metric in ("bleu", "chrf2"):
            if metric in one:
                yield Scored(metric, get(place, one, metric, float), count, window,
                             TRAINED if context == "document" else context)  # fmt: skip
