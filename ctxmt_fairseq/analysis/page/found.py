"""Finds the results in the folders of runs: their content decides what they are, not their names."""

import base64
import contextlib
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.page.blocks import Image
from ctxmt_fairseq.analysis.result_kinds import kind_of
from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.analysis.training_log import NAME, TrainingLog, read_training_log
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.runs import ledger
from ctxmt_fairseq.evaluation.runs.results_file import TranslationName, given_context, in_words
from ctxmt_fairseq.text.json_files import load_json
from ctxmt_fairseq.text.text_lines import iterate_lines, read_bytes

ENDINGS = (".score.json", ".contrast.json", ".json")
SEARCHED = ".n opt"  # in the name of a translation, for the length penalty that a search found
_PENALTY = re.compile(r"\.n-?[\d.e-]*\d")
PENALTY = ", its own length penalty"
LARGEST = 2**28  # bytes of a JSON file
NOT_SHOWN = {None, "control"}  # kinds of results


def title_of(name: str) -> str:
    """A translation's name in words."""
    return in_words(name.replace(SEARCHED, "")) + (PENALTY if SEARCHED in name else "")


@dataclass
class Found:
    """The results of one run, or those that compare several.

    Attributes:
        scores, contrasts: what ``ctxmt score`` and ``ctxmt contrast`` reported, as file and content, by the
            name of the translation and of the set; ``translations``, ``examples``: files by these names.
        penalties: the length penalty that a search found for a translation, by its name.
        contexts: what the names of translations do not say of their contexts.
        others: further results: their kind (``result_kinds``), file and content.
        commands, versions: how results were made, and how many files say so.
    """

    scores: Dict[str, Tuple[Path, Any]] = field(default_factory=dict)
    contrasts: Dict[str, Tuple[Path, Any]] = field(default_factory=dict)
    translations: Dict[str, Path] = field(default_factory=dict)
    examples: Dict[str, Path] = field(default_factory=dict)
    penalties: Dict[str, float] = field(default_factory=dict)
    contexts: List[str] = field(default_factory=list)
    others: List[Tuple[str, Path, Any]] = field(default_factory=list)
    pictures: List[Image] = field(default_factory=list)
    commands: Counter = field(default_factory=Counter)
    versions: Counter = field(default_factory=Counter)
    log: Optional[TrainingLog] = None
    left_out: List[Path] = field(default_factory=list)

    def of_kind(self, kind: str) -> Iterator[Tuple[Path, Any]]:
        """The files and contents of one kind."""
        return ((path, content) for other, path, content in self.others if other == kind)

    def named(self, name: str) -> str:
        """A translation's name without the length penalty that was found, so that systems share it."""
        parts = TranslationName.of(name)
        if parts is None or parts.penalty is None:
            return name
        shared = _PENALTY.sub(SEARCHED, name, count=1)
        # If two in one folder get the same name, the second keeps its own, so that both are shown.
        return shared if self.penalties.setdefault(shared, parts.penalty) == parts.penalty else name

    @property
    def empty(self) -> bool:
        return not (self.scores or self.contrasts or self.others or self.pictures or self.log)


@dataclass(frozen=True)
class Run:
    """A system, the folder of its results, and what was found there."""

    name: str
    folder: Path
    found: Found


@contextlib.contextmanager
def written_by_ctxmt(path: Path) -> Iterator[None]:
    """Within the block, errors mean that the file is not what a command wrote."""
    try:
        yield
    except BadInput:
        raise
    except (AttributeError, ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"expected what a command of ctxmt wrote ({type(error).__name__}: {error})", path
        ) from None


def read_runs(arguments: Sequence[str]) -> Tuple[List[Run], Found]:
    """Read the folders of runs (FOLDER or NAME=FOLDER), and JSON or PNG files about several runs."""
    runs: List[Run] = []
    shared = Found()
    folders = []
    for argument in arguments:
        ((_, text),) = named_paths([argument])
        path = Path(text)
        if not path.exists():
            raise BadInput("no such file or folder", text)
        if path.is_dir():
            folders.append(argument)
        elif path.suffix in (".json", ".png"):
            _add_file(shared, path)
        if not path.is_dir() and (path.suffix not in (".json", ".png") or path in shared.left_out):
            raise BadInput("expected a result of ctxmt, as JSON, or a picture", text)
    for name, text in named_paths(folders):
        path = Path(text)
        if path.resolve() in [run.folder.resolve() for run in runs]:
            raise BadInput("give each folder once", path)
        if name in [run.name for run in runs]:
            raise BadInput(f"two runs are called {name}; give one another name: NAME={path}")
        runs.append(Run(name, path, _read_folder(path)))
        if runs[-1].found.empty:
            raise BadInput("expected results of ctxmt evaluate, score, contrast, .., found none", path)
    return runs, shared


def _read_folder(folder: Path) -> Found:
    """The results in a folder, and in its folder ``evaluation``."""
    found = Found()
    for place in (folder, folder / "evaluation"):
        files = sorted(path for path in place.glob("*") if path.is_file() and path.name != ledger.NAME)
        current = place / "results.json" in files  # which has everything that is up to date
        if current:
            files = [path for path in files if not path.name.endswith(ENDINGS[:2])]
        for path in files:
            if path.name == NAME:
                found.commands.update(line[2:] for line in iterate_lines(path) if line.startswith("+ "))
                with contextlib.suppress(BadInput):  # a training before its first validation
                    found.log = read_training_log(path)
            else:
                _add_file(found, path)
        for texts, known in ((found.translations, found.scores), (found.examples, found.contrasts)):
            for name, path in list(texts.items()) if current else ():
                if path.parent == place and name not in known:
                    del texts[name]
    return found


def _add_file(found: Found, path: Path) -> None:
    if path.suffix == ".png":
        found.pictures.append(read_picture(path))
    elif path.suffix == ".hyp":
        found.translations[found.named(path.stem)] = path
    elif path.name.endswith(".examples.jsonl"):
        found.examples[path.name.removesuffix(".examples.jsonl")] = path
    elif path.suffix == ".json":
        _add_json(found, path)
    elif path.suffix == ".jsonl":
        found.left_out.append(path)


def _add_json(found: Found, path: Path) -> None:
    if path.stat().st_size > LARGEST:
        raise BadInput(f"expected at most {LARGEST} bytes", path)
    content = load_json(path)
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    entries = content if isinstance(content, list) else [content]
    kinds = [kind_of(entry) for entry in entries]
    if not entries or NOT_SHOWN.intersection(kinds):
        found.left_out.append(path)
        return
    with written_by_ctxmt(path):
        for kind, entry in zip(kinds, entries, strict=True):
            if kind == "results":
                found.scores.update(
                    {found.named(key): (path, one) for key, one in entry["translations"].items()}
                )
                found.contrasts.update({key: (path, one) for key, one in entry["contrast"].items()})
                found.contexts += given_context(entry)
            elif kind == "score":
                found.scores[found.named(name)] = path, entry
            elif kind == "contrast":
                found.contrasts[name if isinstance(content, dict) else entry["name"]] = path, entry
            elif kind != "map":  # belongs to the picture beside it
                found.others.append((str(kind), path, _from_here(path, entry)))
            if "made_by" in entry:
                found.commands[str(entry["made_by"]["command"])] += 1
                found.versions[tuple(entry["made_by"]["versions"].items())] += 1


def _from_here(path: Path, entry: Any) -> Any:
    """A result with the names of its files, which may be those from the folder that it lies in."""
    if not entry.get("files"):
        return entry
    files = entry["files"].items()
    return {**entry, "files": {n: f if Path(f).exists() else str(path.parent / f) for n, f in files}}


def read_picture(path: Path) -> Image:
    """A PNG file, encoded anew so that it holds nothing but the picture."""
    from PIL import Image as Pillow

    title = path.stem
    with contextlib.suppress(BadInput, KeyError, TypeError):  # the JSON file beside it has the title
        title = str(load_json(path.with_suffix(".json"))["title"])
    content = io.BytesIO()
    try:
        with Pillow.open(io.BytesIO(read_bytes(path)), formats=["PNG"]) as picture:
            picture.convert("RGBA").save(content, "PNG", icc_profile=None)  # which may hold anything
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise BadInput(f"expected a PNG picture: {error}", path) from None
    return Image(title, "data:image/png;base64," + base64.b64encode(content.getvalue()).decode())
