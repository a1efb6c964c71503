"""What the folders of runs hold: results of the commands, by what they are and not by how they are called."""

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.analysis.training_log import NAME, TrainingLog, read_training_log
from ctxmt_fairseq.data.documents import iterate_lines
from ctxmt_fairseq.data.json_files import Place, load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs import ledger
from ctxmt_fairseq.evaluation.whole_runs.results import TranslationName
from ctxmt_fairseq.report.pictures import Picture, read_picture
from ctxmt_fairseq.report.shapes import MADE_BY, SHAPES, check_shape, kind_of

ENDINGS = (".score.json", ".contrast.json", ".json")
SEARCHED = ".n opt"  # in the name of a translation, for the length penalty that a search found
_PENALTY = re.compile(r"\.n-?[\d.e-]*\d")
LARGEST = 2**28  # bytes of a JSON file


@dataclass
class Found:
    """Results, of one run or of several.

    Attributes:
        scores, contrasts: what ``ctxmt score`` and ``ctxmt contrast`` report, by the translation's and the
            set's name.
        translations, examples: files, by the same names.
        penalties: the length penalty that a search found for a translation, by its name, which does not tell.
        others: further results, (kind of ``SHAPES``, file, content).
        pictures: with what they show.
        commands: that made them, without repetitions.
        versions: what they were made with, and in how many files it stands.
        log: of the training.
        left_out: files that are no results, or none that the page shows.
    """

    scores: Dict[str, Any] = field(default_factory=dict)
    contrasts: Dict[str, Any] = field(default_factory=dict)
    translations: Dict[str, Path] = field(default_factory=dict)
    examples: Dict[str, Path] = field(default_factory=dict)
    penalties: Dict[str, float] = field(default_factory=dict)
    others: List[Tuple[str, Path, Any]] = field(default_factory=list)
    pictures: List[Picture] = field(default_factory=list)
    commands: Dict[str, None] = field(default_factory=dict)
    versions: Dict[Tuple[Tuple[str, str], ...], int] = field(default_factory=dict)
    log: Optional[TrainingLog] = None
    left_out: List[Path] = field(default_factory=list)

    def of_kind(self, kind: str) -> Iterator[Tuple[Path, Any]]:
        """Further results of one kind."""
        return ((path, content) for other, path, content in self.others if other == kind)

    def named(self, name: str) -> str:
        """A translation's name, the same for all systems: each has found a length penalty of its own."""
        parts = TranslationName.of(name)
        if parts is None or parts.penalty is None:
            return name
        shared = _PENALTY.sub(SEARCHED, name, count=1)
        # Of two in one folder the second keeps its own name: neither is left out.
        return shared if self.penalties.setdefault(shared, parts.penalty) == parts.penalty else name

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.scores or self.contrasts or self.others or self.pictures or self.log)


@dataclass(frozen=True)
class Run:
    """A system, the folder of its results, and what was found there."""

    name: str
    folder: Path
    found: Found


class Owners:
    """Whose a file of translations or examples is, by its path as a command was given it."""

    def __init__(self, runs: Sequence[Run]):
        self._files = {
            path.resolve(): (run.name, name)
            for run in runs
            for files in (run.found.translations, run.found.examples)
            for name, path in files.items()
        }

    def of(self, path: str) -> Optional[Tuple[str, str]]:
        """The run, and the name of the translation or the set; None: no run's that is shown."""
        try:
            return self._files.get(Path(path).resolve())
        except (OSError, ValueError, RuntimeError):  # no name that a file can have
            return None

    def title(self, path: str) -> str:
        """Such as "s2to2, prefix"; of no run's file its path."""
        owner = self.of(path)
        return path if owner is None else ", ".join(owner)


def read_runs(arguments: Sequence[str]) -> Tuple[List[Run], Found]:
    """Folders of runs, and files that are about several.

    Args:
        arguments: a folder, whose name is the run's; NAME=FOLDER; or a file, JSON or PNG.

    Raises:
        BadInput: no such file, a folder without results, two runs of one name, or a result that is damaged.
    """
    runs: List[Run] = []
    shared = Found()
    folders = []
    for argument in arguments:
        ((_, text),) = named_paths([argument])
        if not Path(text).exists():
            raise BadInput("no such file or folder", text)
        if Path(text).is_dir():
            folders.append(argument)
            continue
        _add_file(shared, Path(text))
        if shared.left_out:
            raise BadInput("expected a result of ctxmt, as JSON, or a picture", text)
    for name, text in named_paths(folders):
        path = Path(text)
        if path.resolve() in [run.folder.resolve() for run in runs]:
            raise BadInput("expected different folders", path)
        if name in [run.name for run in runs]:
            raise BadInput(f"two runs are called {name}; NAME={path} gives another name")
        runs.append(Run(name, path, _read_folder(path)))
        if runs[-1].found.empty:
            raise BadInput("expected results of ctxmt evaluate, score, contrast, .., found none", path)
    if not runs and shared.empty:
        raise BadInput("expected folders of runs, or results")
    return runs, shared


def _read_folder(folder: Path) -> Found:
    """The results in a folder, and in its folder ``evaluation``."""
    found = Found()
    for place in (folder, folder / "evaluation"):
        if not place.is_dir():
            continue
        files = sorted(path for path in place.iterdir() if path.is_file())
        if place / "results.json" in files:  # names what is up to date
            files.remove(place / "results.json")
            files = [path for path in files if not path.name.endswith(ENDINGS[:2])]
            _add_json(found, place / "results.json")
        for path in files:
            if path.name == NAME:
                found.commands.update(dict.fromkeys(_logged_commands(path)))
                with contextlib.suppress(BadInput):  # a training that has not come to its first validation
                    found.log = read_training_log(path)
            elif path.name != ledger.NAME and path.suffix in (".json", ".jsonl", ".png", ".hyp"):
                _add_file(found, path)
    return found


def _logged_commands(path: Path) -> Iterator[str]:
    """Lines "+ COMMAND" are the commands of the training."""
    for line in iterate_lines(path):
        if line.startswith("+ "):
            yield line[2:]


def _add_file(found: Found, path: Path) -> None:
    if path.suffix == ".png":
        found.pictures.append(read_picture(path))
    elif path.suffix == ".hyp":
        found.translations[found.named(path.stem)] = path
    elif path.name.endswith(".examples.jsonl"):
        found.examples[path.name.removesuffix(".examples.jsonl")] = path
    elif path.suffix == ".json":
        _add_json(found, path)
    else:
        found.left_out.append(path)


def _add_json(found: Found, path: Path) -> None:
    if path.is_file() and path.stat().st_size > LARGEST:
        raise BadInput(f"expected at most {LARGEST} bytes", path)
    content = load_json(path)
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    entries = content if isinstance(content, list) else [content]
    kinds = [kind_of(entry) for entry in entries]
    if not entries or None in kinds:
        found.left_out.append(path)
        return
    for kind, entry in zip(kinds, entries, strict=True):
        assert kind is not None
        check_shape(Place(path), entry, SHAPES[kind])
        if kind == "results":
            found.scores.update({found.named(key): score for key, score in entry["translations"].items()})
            found.contrasts.update(entry["contrast"])
        elif kind == "score":
            found.scores[found.named(name)] = entry
        elif kind == "contrast":
            found.contrasts[name if isinstance(content, dict) else entry["name"]] = entry
        elif kind != "map":  # that is the picture beside it
            found.others.append((kind, path, entry))
        _note_origin(found, path, entry)


def _note_origin(found: Found, path: Path, entry: Any) -> None:
    """How a result was made, where it says so."""
    origin = entry.get("made_by")
    if origin is not None:
        check_shape(Place(path), origin, MADE_BY, "'made_by'")
        found.commands[origin["command"]] = None
        versions = tuple(origin["versions"].items())
        found.versions[versions] = found.versions.get(versions, 0) + 1
