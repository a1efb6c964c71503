"""Collects all results of a folder in one JSON object, and shows those of several folders as a table."""

import json
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.contrastive_sets.formats import DISC_NAMES, phenomenon_name
from ctxmt_fairseq.text.json_files import Place, get
from ctxmt_fairseq.text.text_lines import PathLike

RESULTS = "results.json"
SHOWN = ("BLEU", "chrF2", "TER")  # of the scores over sentences
COMET = "COMET"  # the beginning of the names of COMET's scores
TRAINED = "trained"  # the context as in training
CONTEXTS = {TRAINED: "own context", "absent": "no context", "reference": "context from the references"}
_TRANSLATION = re.compile(
    r"(prefix|window)(?:\.w(\d{1,9}))?(?:\.n(-?\d+(?:\.\d+)?(?:e-?\d+)?))?(?:\.([a-z]+))?"
)
_ALIKE = {"bs", "seed", "rs", "version"}  # in sacrebleu's signatures
_SUITE = re.compile(r"(.*?)(?:\.w(\d{1,9}))?", re.DOTALL)


class TranslationName(NamedTuple):
    """What the name of a translation tells: the window (None: as trained), and the length penalty that a
    search found (None: it was given)."""

    decoding: str
    window: Optional[int]
    penalty: Optional[float]
    context: str

    @classmethod
    def of(cls, name: str) -> "Optional[TranslationName]":
        """Parse a name; None if ``ctxmt evaluate`` does not give such names."""
        found = _TRANSLATION.fullmatch(name)
        if not found:
            return None
        window = int(found[2]) if found[2] else None
        penalty = float(found[3]) if found[3] else None
        return cls(found[1], window, penalty, found[4] or TRAINED)

    def __str__(self) -> str:
        """In words."""
        context = CONTEXTS.get(self.context, f"{self.context} context")
        more = [
            "decoded as windows" if self.decoding == "window" else "",
            f"windows of {self.window}" if self.window else "",
            f"length penalty {self.penalty:g}" if self.penalty is not None else "",
        ]
        return ", ".join(filter(None, (context, *more)))


def in_words(name: str) -> str:
    """What a translation's name says; names that ``ctxmt evaluate`` does not give stay as they are."""
    return str(TranslationName.of(name) or name)


def given_context(results: Mapping[str, Any]) -> Iterator[str]:
    """What the names of the translations do not say of their contexts."""
    if "target_context_from" in results:
        yield f"target context from: {results['target_context_from']}"
    if "random_context" in results:
        yield f"random context: {results['random_context']}, of the text itself"


def suite_name(name: str) -> Tuple[str, Optional[int]]:
    """The name of a contrastive set without its ending, and the sentences of a window (None: as trained)."""
    found = _SUITE.fullmatch(name)
    assert found
    return found[1], int(found[2]) if found[2] else None


def collect(folder: Path, scores: Sequence[str], contrasts: Sequence[str]) -> Dict[str, Any]:
    """The content of the results in a folder, by their names without endings."""

    def read(names: Sequence[str], ending: str) -> Dict[str, Any]:
        found = {}
        for name in names:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
            content.pop("checkpoints", None)  # the results say it once
            found[name.removesuffix(ending)] = content
        return found

    return {"translations": read(scores, ".score.json"), "contrast": read(contrasts, ".contrast.json")}


def find_results(path: PathLike) -> Path:
    """The file of results in a training's folder or its ``evaluation``; a file is itself."""
    path = Path(path)
    if not path.is_dir():
        return path
    inner = path / "evaluation"
    return (inner if inner.is_dir() else path) / RESULTS


def is_shown(score: Mapping[str, Any]) -> bool:
    """Whether tables of results have a row for a score; the files have all."""
    return score["name"].startswith(COMET) or score["level"] == "sentence" and score["name"] in SHOWN


def measures(results: Mapping[str, Any]) -> Dict[str, float]:
    """The numbers for a column of the table: row -> number."""
    rows: Dict[str, float] = {}
    for name, scores in results["translations"].items():
        for score in scores["scores"]:
            if is_shown(score):
                rows[f"{score['name']}, {in_words(name)}"] = float(score["score"])
    for name, report in results["contrast"].items():
        rows[f"{name}, accuracy ({report['convention']})"] = float(report["accuracy"])
        for group, label in (("phenomena", ""), ("distances", "distance ")):
            if len(report[group]) > 1:
                for key, tally in report[group].items():
                    key = key if label else phenomenon_name(key)
                    rows[f"{name}, {label}{key}"] = float(tally["accuracy"])
        for key, label in DISC_NAMES.items():
            if report[key] is not None:
                rows[f"{name}, {label}"] = float(report[key])
    return rows


def signatures(results: Mapping[str, Any]) -> List[str]:
    """Those of the scores that are shown, each once."""
    shown = [each for one in results["translations"].values() for each in one["scores"] if is_shown(each)]
    return list(dict.fromkeys(f"{score['name']}: {score['signature']}" for score in shown))


def decimals(measure: str) -> int:
    """How many digits a table shows after the point, by measure: COMET, CXMI, the best losses, others."""
    if measure.lower().startswith((COMET.lower(), "cxmi")):
        return 4
    return 3 if measure.startswith("best ") else 2


def results_table(
    columns: Mapping[str, Mapping[str, Any]], stars: Mapping[Tuple[str, str], str] = MappingProxyType({})
) -> str:
    """A table of measures (rows) by names, with ``stars`` behind the number in (column, row)."""
    numbers = {name: measures(results) for name, results in columns.items()}
    rows = dict.fromkeys(row for column in numbers.values() for row in column)
    width = max(map(len, stars.values()), default=0)

    def cell(name: str, row: str) -> str:
        number = f"{numbers[name][row]:.{decimals(row)}f}" if row in numbers[name] else "-"
        return f"{number}{stars.get((name, row), ''):{width}}"

    return aligned_table([["", *columns], *([row, *(cell(name, row) for name in columns)] for row in rows)])


def how_scored(score: Mapping[str, Any]) -> str:
    """The parts of sacrebleu's signature by which scores differ; not its version, and not the bootstrap.
    COMET's has the name of the model, and files of the system: ""."""
    signature = "" if str(score["name"]).startswith(COMET) else str(score.get("signature", ""))
    return "|".join(part for part in signature.split("|") if part.split(":")[0] not in _ALIKE)


def main_scores(place: Place, record: Any) -> Iterator[Tuple[str, float, str]]:
    """Of what ``ctxmt score`` wrote, scores over sentences and COMET's: lower-cased name, value, and how it
    was scored."""
    for score in get(place, record, "scores", list):
        name, level = (get(place, score, key, str) for key in ("name", "level"))
        if level == "sentence" or name.startswith(COMET):
            of_level = "" if level == "sentence" else f", {level}"
            yield f"{name.lower()}{of_level}", get(place, score, "score", float), how_scored(score)


def main_accuracy(place: Place, report: Any) -> Tuple[str, float]:
    """The main number, in percent, of a report of ``ctxmt contrast``, and its name: Disc. or accuracy."""
    accuracy, disc = get(place, report, "accuracy", float), get(place, report, "disc", float, null=True)
    return ("accuracy", accuracy) if disc is None else (DISC_NAMES["disc"], disc)
