"""A paper's recipe on two CPU cores: from text to a table."""

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence

from recipe_running import BadRecipe, find_plugin, run
from recipe_steps import evaluate, prepare, train

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
PRONOUNS = SHARED / "contrastive" / "en-fr-pronouns"
COCOA = SHARED / "formality" / "cocoa-mt" / "train" / "en-fr"
METADATA_SETS = "formality formality-unseen formality-zero-shot speaker-gender addressee-gender"
USAGE = """usage: run_small.sh [OUT]     (default: out/{paper}_small in the checkout)

Preprocesses, trains (interrupted once and resumed), validates, translates, scores, and prints a table.
From the environment:
  SUBTITLES          folder with train and valid .en, .fr, .docids (default: {subtitles})
  SUITES             contrastive sets, separated by colons; never trained on
                     (default: {suites})
{systems}
  SMOKE=1            a few updates of few rows on a part of the text, in some minutes: does everything run?
About 10 minutes per row; a finished one is not trained again."""


def setting(name: str, default: Any) -> str:
    """From the environment, where it is set and not empty."""
    return os.environ.get(name) or str(default)


def run_small(recipe: Any, arguments: Sequence[str]) -> None:
    """Every corpus of the paper's table in a folder of its own, if there are several."""
    smoke = bool(os.environ.get("SMOKE"))
    plans: Dict[str, str] = recipe.table.SMOKE if smoke else recipe.table.SMALL
    if len(plans) == 1:
        plans = {setting("CORPUS", *plans): setting("SYSTEMS", *plans.values())}
    else:
        plans = {corpus: os.environ.get(_rows_name(corpus), rows) for corpus, rows in plans.items()}
    subtitles = Path(setting("SUBTITLES", SHARED / "en-fr-subtitles"))
    if len(arguments) > 1 or arguments and arguments[0].startswith("-"):
        asked = list(arguments) in (["-h"], ["--help"])
        print(_usage(recipe, plans, subtitles), file=sys.stdout if asked else sys.stderr)
        sys.exit(0 if asked else 2)
    default = ROOT / "out" / f"{recipe.name}_small{'_smoke' if smoke else ''}"
    out = Path(arguments[0] if arguments else default).resolve()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    if hasattr(recipe.table, "SMALL_CONTEXTS"):
        os.environ.setdefault("CONTEXTS", "trained absent" if smoke else recipe.table.SMALL_CONTEXTS)
    for corpus, rows in plans.items():
        folder = out / corpus if len(plans) > 1 else out
        if rows.split():
            _Small(recipe, corpus, folder, subtitles, smoke).run(rows.split())


def _rows_name(corpus: str) -> str:
    return f"{corpus.upper()}_SYSTEMS"


def _usage(recipe: Any, plans: Dict[str, str], subtitles: Path) -> str:
    lines = ["  CORPUS             subtitles, or demo: the demo corpus, with metadata and sets of its own"]
    if len(plans) > 1:
        lines = []
    for corpus, rows in plans.items():
        name = _rows_name(corpus) if len(plans) > 1 else "SYSTEMS"
        lines.append(f"  {name:18} rows of train.sh on {corpus} (default: {rows})")
    if hasattr(recipe.table, "SMALL_FORMALITY"):
        lines.append(f"  FORMALITY          folder of CoCoA-MT (default: {COCOA})")
    return USAGE.format(paper=recipe.name, subtitles=subtitles, suites=PRONOUNS, systems="\n".join(lines))


class _Small:
    """A recipe on one corpus.

    Raises:
        BadRecipe: there is no such corpus.
    """

    def __init__(self, recipe: Any, corpus: str, out: Path, subtitles: Path, smoke: bool):
        if corpus not in ("subtitles", "demo"):
            raise BadRecipe(f"CORPUS={corpus}: expected subtitles or demo")
        self.recipe, self.corpus, self.out, self.subtitles, self.smoke = recipe, corpus, out, subtitles, smoke
        self.text, self.data = out / "text", out / "data"
        self.updates, self.every = (40, 10) if smoke else (800, 200)

    def run(self, rows: Sequence[str]) -> None:
        self.text.mkdir(parents=True, exist_ok=True)
        _step("Text and data folder")
        if not (self.data / "prepared").exists():
            self.prepare()
            (self.data / "prepared").touch()
        for row in rows:
            self.train(row)
            self.evaluate(row)
        _step("Results")
        columns = [f"{row}={self.out / row / 'evaluation'}" for row in rows]
        table = subprocess.run(
            [sys.executable, Path(__file__).with_name("results.py"), *columns],
            check=True, text=True, stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
        print(table, end="")
        (self.out / "results.txt").write_text(table)
        if self.corpus == "subtitles" and hasattr(self.recipe.table, "SMALL_FORMALITY"):
            self.formality(self.recipe.table.SMALL_FORMALITY)

    def prepare(self) -> None:
        valid, options = "dev", ["--profile", "small", "--target-lang", "fr", "--workers", "2"]
        if self.corpus == "demo":
            valid, options = "valid", [*options, "--vocab-size", "1000"]
            documents = ("1000", "20") if self.smoke else ("8000", "200")
            if not (self.text / "contrastive").is_dir():
                sizes = ["--documents", documents[0], "--evaluation-documents", documents[1]]
                run(["ctxmt", "demo-corpus", self.text, *sizes], False)
        else:
            if not (self.subtitles / "train.docids").is_file():
                raise BadRecipe(f"SUBTITLES={self.subtitles}: expected train.docids")
            self.take("train", 6000 if self.smoke else None)
            self.take("valid", 300 if self.smoke else None)
            self.halve()
            if "encoders" in self.recipe.defaults("prepare"):
                options += ["--encoders", "minilm"]
        prefixes = [str(self.text / "train"), str(self.text / valid), str(self.data)]
        prepare(self.recipe, [*prefixes, *options, "--", "--overwrite"])

    def take(self, split: str, lines: Any) -> None:
        """The first lines of a split, up to the end of a document; None: all."""
        ids = (self.subtitles / f"{split}.docids").read_text(encoding="utf-8").splitlines()
        end = len(ids) if lines is None else lines
        while 0 < end < len(ids) and ids[end] == ids[end - 1]:
            end += 1
        for kind in ("en", "fr", "docids"):
            with open(self.subtitles / f"{split}.{kind}", encoding="utf-8", newline="\n") as text:
                (self.text / f"{split}.{kind}").write_text(
                    "".join(itertools.islice(text, end)), encoding="utf-8"
                )

    def halve(self) -> None:
        """Every second document of the held-out text tests, the others validate."""
        ids = (self.text / "valid.docids").read_text(encoding="utf-8").splitlines()
        documents = [len(list(lines)) for _, lines in itertools.groupby(ids)]
        validates = [number % 2 == 0 for number, length in enumerate(documents) for _ in range(length)]
        for kind in ("en", "fr", "docids"):
            with open(self.text / f"valid.{kind}", encoding="utf-8", newline="\n") as text:
                lines = list(zip(text, validates, strict=True))
            for name, wanted in (("dev", True), ("test", False)):
                half = "".join(line for line, mark in lines if mark == wanted)
                (self.text / f"{name}.{kind}").write_text(half, encoding="utf-8")

    def train(self, row: str) -> None:
        """In two halves, the second of which goes on from the first."""
        folder = self.out / row
        if not (folder / "finished").exists():
            options = [
                "--profile",
                "small",
                "--gpus",
                "0",
                "--validate-every",
                str(self.every),
                "--max-update",
            ]
            for title, updates in (("first half", self.updates // 2), ("resumed", self.updates)):
                _step(f"{row}: training, {title}")
                train(self.recipe, [row, str(self.data), str(folder), *options, str(updates)])
            log = (folder / "train.log").read_text(encoding="utf-8", errors="replace")
            if not any(
                "Loaded checkpoint" in line and "checkpoint_last.pt" in line for line in log.splitlines()
            ):
                sys.exit(f"error: {folder / 'train.log'}: expected a resumed training")
            (folder / "finished").touch()
        _step(f"{row}: validation")
        command = [
            "fairseq-validate",
            self.data,
            "--user-dir",
            find_plugin(),
            "--cpu",
            "--max-tokens",
            "4000",
        ]
        command += ["--path", folder / "checkpoints" / "checkpoint_best.pt", "--log-format", "simple"]
        flags = self.recipe.command(row, str(self.data), str(folder), profile="small", gpus="0")
        if "--context-store" in flags:  # of MTCue's rows with discrete vectors
            command += ["--context-store", flags[flags.index("--context-store") + 1]]
        run(command, False)

    def evaluate(self, row: str) -> None:
        _step(f"{row}: translation and contrastive sets")
        options = ["--cpu", "--max-len-a", "1.5", "--max-len-b", "20"]
        paths = [str(path) for path in (self.data, self.out / row, self.text / "test")]
        evaluate(self.recipe, [*paths, *self.suites(), *options])

    def suites(self) -> List[str]:
        if self.corpus == "demo":
            return [str(self.text / "contrastive" / f"{name}.jsonl") for name in METADATA_SETS.split()]
        return [suite for suite in os.environ.get("SUITES", str(PRONOUNS)).split(":") if suite]

    def formality(self, row: str) -> None:
        """Of a row that was trained, by prompts, on CoCoA-MT."""
        folder, run_folder = Path(setting("FORMALITY", COCOA)), self.out / row
        model = run_folder / "checkpoints" / "checkpoint_best.pt"
        if folder.is_dir() and model.is_file():
            _step(f"{row}: formality by prompts")
            command = ["ctxmt", "control", "formality", model, "--cpu"]
            command += ["--json", run_folder / "evaluation" / "formality.json"]
            for option, ending in (
                ("--source", "en-fr.en"),
                ("--formal", "formal.annotated.fr"),
                ("--informal", "informal.annotated.fr"),
            ):
                command += [option, *sorted(folder.glob(f"*.{ending}"))]
            run(command, False)


def _step(title: str) -> None:
    print(f"\n== {title}", flush=True)
