"""A paper's systems on two CPU cores: from text to a table."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence

from recipe_running import BadRecipe, find_plugin, run
from recipe_steps import evaluate, prepare, train

from ctxmt_fairseq.text.text_lines import read_sentences

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
METADATA_SETS = "formality formality-unseen formality-zero-shot speaker-gender addressee-gender"
USAGE = """usage: run_small.sh [OUT]     (default: out/{paper}_small in the checkout)

{does}
From the environment:
  DATA               folder of en-fr-subtitles/{{train,valid}}.{{en,fr,docids}} and contrastive/en-fr-pronouns
                     (default: {data})
{systems}
  SMOKE=1            a few updates of a row of train.sh on a part of the text, in some minutes: does all run?
{own}What is finished is not made again."""
LEARNS = """Trains, translates and scores systems of docs/results/tables.md as examples/evidence/run.sh
does, with its sizes and both its stages, and prints the tables. A system takes a quarter of an hour to an
hour of one core, the sentence-level model before them half an hour; started twice, it uses two cores."""
REHEARSES = """Preprocesses, trains (interrupted once and resumed), validates, translates, scores, and
prints a table."""


def setting(name: str, default: Any) -> str:
    """From the environment, where it is set and not empty."""
    return os.environ.get(name) or str(default)


def corpora() -> Path:
    return Path(setting("DATA", ROOT.parent / "shared" / "data"))


def run_small(recipe: Any, arguments: Sequence[str]) -> None:
    """The paper's rows of docs/results/tables.md, and rows of its own on the demo corpus, if it has any.

    With SMOKE=1 rows of its own alone, for a few updates.
    """
    smoke = bool(os.environ.get("SMOKE"))
    plans: Dict[str, str] = recipe.table.SMOKE
    if not smoke:
        plans = {**getattr(recipe.table, "SMALL", {}), "subtitles": recipe.table.EVIDENCE}
    if len(plans) == 1:
        plans = {corpus: setting("SYSTEMS", rows) for corpus, rows in plans.items()}
    else:
        plans = {corpus: os.environ.get(_rows_name(corpus), rows) for corpus, rows in plans.items()}
    if len(arguments) > 1 or arguments and arguments[0].startswith("-"):
        asked = list(arguments) in (["-h"], ["--help"])
        print(_usage(recipe, plans, smoke), file=sys.stdout if asked else sys.stderr)
        sys.exit(0 if asked else 2)
    default = ROOT / "out" / f"{recipe.name}_small{'_smoke' if smoke else ''}"
    out = Path(arguments[0] if arguments else default).resolve()
    for corpus, rows in plans.items():
        folder = out / corpus if len(plans) > 1 else out
        if not rows.split():
            continue
        if corpus == "subtitles" and not smoke:
            _learn(recipe, rows.split(), folder)
        else:
            os.environ.setdefault("OMP_NUM_THREADS", "2")
            if hasattr(recipe.table, "SMALL_CONTEXTS"):
                os.environ.setdefault("CONTEXTS", "trained absent" if smoke else recipe.table.SMALL_CONTEXTS)
            _Small(recipe, corpus, folder, smoke).run(rows.split())


def _learn(recipe: Any, rows: Sequence[str], out: Path) -> None:
    """Rows of docs/results/tables.md; their results are OUT/results."""
    os.environ.update(DATA=str(corpora()), EVIDENCE_DIR=str(out), EVIDENCE_RESULTS=str(out / "results"))
    names = [f"{row}.{seed}" for row in rows for seed in setting("SEEDS", "1").split()]
    run(["bash", HERE / "evidence" / "run.sh", *names], False)
    for name in names:
        if name.rpartition(".")[0] == getattr(recipe.table, "SMALL_FORMALITY", None):
            _formality(out / "runs" / name)


def _formality(run_folder: Path) -> None:
    """Of a system that was trained, by prompts, on CoCoA-MT; once."""
    folder = corpora() / "formality" / "cocoa-mt" / "train" / "en-fr"
    results = run_folder / "formality.json"
    if results.exists():
        return
    if not folder.is_dir():
        _step(f"{run_folder.name}: no formality by prompts, for there is no {folder}")
        return
    _step(f"{run_folder.name}: formality by prompts")
    model = run_folder / "checkpoints" / "checkpoint_last.pt"
    command = ["ctxmt", "control", "formality", model, "--cpu", "--json", results]
    for option, ending in (
        ("--source", "en-fr.en"),
        ("--formal", "formal.annotated.fr"),
        ("--informal", "informal.annotated.fr"),
    ):
        command += [option, *sorted(folder.glob(f"*.{ending}"))]
    run(command, False)


def _rows_name(corpus: str) -> str:
    return f"{corpus.upper()}_SYSTEMS"


def _usage(recipe: Any, plans: Dict[str, str], smoke: bool) -> str:
    lines = []
    for corpus, rows in plans.items():
        name = _rows_name(corpus) if len(plans) > 1 else "SYSTEMS"
        kind = "rows of docs/results/tables.md" if corpus == "subtitles" and not smoke else "rows of train.sh"
        lines.append(f"  {name:18} {kind} on {corpus} (default: {rows})")
    own = "  SUITES             contrastive sets, separated by colons (default: en-fr-pronouns)\n"
    if not smoke:
        own = "  SEEDS              of the rows of docs/results/tables.md (default: 1)\n"
    does = REHEARSES if smoke else LEARNS
    systems = "\n".join(lines)
    return USAGE.format(paper=recipe.name, does=does, data=corpora(), systems=systems, own=own)


class _Small:
    """A recipe's own scripts on one corpus, subtitles or demo."""

    def __init__(self, recipe: Any, corpus: str, out: Path, smoke: bool):
        self.recipe, self.corpus, self.out, self.smoke = recipe, corpus, out, smoke
        self.subtitles = corpora() / "en-fr-subtitles"
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
                raise BadRecipe(
                    f"{self.subtitles}: expected train.docids; DATA is the folder that it lies in"
                )
            self.take("train", 6000)
            self.take("valid", 300)
            self.halve()
            if "encoders" in self.recipe.defaults("prepare"):
                options += ["--encoders", "minilm"]
        prefixes = [str(self.text / "train"), str(self.text / valid), str(self.data)]
        prepare(self.recipe, [*prefixes, *options, "--", "--overwrite"])

    def take(self, split: str, end: int) -> None:
        """The first lines of a split, up to the end of a document."""
        ids = read_sentences(self.subtitles / f"{split}.docids")
        while 0 < end < len(ids) and ids[end] == ids[end - 1]:
            end += 1
        for kind in ("en", "fr", "docids"):
            with open(self.subtitles / f"{split}.{kind}", encoding="utf-8", newline="\n") as text:
                (self.text / f"{split}.{kind}").write_text(
                    "".join(itertools.islice(text, end)), encoding="utf-8"
                )

    def halve(self) -> None:
        """Every second document of the held-out text tests, the others validate."""
        ids = read_sentences(self.text / "valid.docids")
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
            options = ["--profile", "small", "--gpus", "0", "--validate-every", str(self.every)]
            for title, updates in (("first half", self.updates // 2), ("resumed", self.updates)):
                _step(f"{row}: training, {title}")
                words = [row, str(self.data), str(folder), *options, "--max-update", str(updates)]
                train(self.recipe, words)
            log = (folder / "train.log").read_text(encoding="utf-8", errors="replace")
            if not re.search("Loaded checkpoint.*checkpoint_last.pt", log):
                sys.exit(f"error: {folder / 'train.log'}: expected a resumed training")
            (folder / "finished").touch()
        _step(f"{row}: validation")
        command = ["fairseq-validate", self.data, "--user-dir", find_plugin(), "--cpu"]
        command += ["--path", folder / "checkpoints" / "checkpoint_best.pt"]
        command += ["--max-tokens", "4000", "--log-format", "simple"]
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
        default = corpora() / "contrastive" / "en-fr-pronouns"
        return [suite for suite in os.environ.get("SUITES", str(default)).split(":") if suite]


def _step(title: str) -> None:
    print(f"\n== {title}", flush=True)
