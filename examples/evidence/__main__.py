"""Trains and evaluates the runs that have no result yet, one after the other; see run.sh."""

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

import recipes

from evidence import commands, corpus, evaluation, figures, systems, tables, training
from evidence.workplace import ROOT, Workplace, workplace

PAPERS = ("focused_concat", "gated_context", "mtcue", "sequence_shortening", "thesis")


def main(arguments: List[str]) -> None:
    """The runs named, or all; then the tables."""
    place = workplace()
    try:
        runs = systems.chosen(arguments, seeds=1 if place.smoke else 0)
        wanted = [run for run in runs if not place.result(*run).exists()]
        for text in dict.fromkeys(systems.ALL[row].text for row, _ in wanted):
            place.check(text)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for run in runs:
        if run in wanted or missing(place, run):
            name = "{}.{}".format(*run)
            with place.held(name, wait=False) as ours:
                if ours:
                    finish(place, *run)
                else:
                    say(f"{name}: left to another run.sh, which is at work on it")
    results = tables.read(place.results)
    print(tables.text(results))
    if not place.smoke and place.results == ROOT / "docs" / "evidence":
        tables.rewrite(ROOT / "docs" / "evidence.md", tables.text(results))
        for paper in PAPERS:
            rows = recipes.Recipe(paper).table.EVIDENCE.split()
            tables.rewrite(ROOT / "examples" / paper / "README.md", tables.recipe_table(results, rows))
        figures.write(place.results, results)


def missing(place: Workplace, run: systems.Run) -> List[str]:
    """What a finished run's result lacks and can be made here."""
    record = json.loads(place.result(*run).read_text(encoding="utf-8"))
    return evaluation.missing(evaluation.Trained(place, *run), record)


def finish(place: Workplace, row: str, seed: int) -> None:
    """Train and evaluate one run and write its result, or what is missing of it.

    The training that it starts from comes first: anew, where its result is there but not its checkpoint.
    """
    path = place.result(row, seed)
    if path.exists():
        record = json.loads(path.read_text(encoding="utf-8"))
    else:
        train(place, row, seed)
        record = trained(place, row, seed)
    run = evaluation.Trained(place, row, seed)
    names = evaluation.missing(run, record)
    if names:
        say(f"{row}.{seed}: evaluation: {', '.join(names)}")
        record.update(evaluation.evaluate(run, names), evaluated_by=commands.commit())
    if names or not path.exists():
        write(place, path, record)
        say(f"{row}.{seed}: {path}")


def train(place: Workplace, row: str, seed: int) -> None:
    """The run, and before it the one that it starts from."""
    say(f"{row}.{seed}: training")
    system = systems.ALL[row]
    stage = systems.STAGES[system.stage]
    with place.held(f"text of {system.text.name}"):
        corpus.prepare(place, system.text, stage.data)
        if system.embeds:
            corpus.embed(place, system.text, stage.data)
    if stage.second:
        start = systems.start_of(row)
        with place.held("{}.{}".format(*start)):
            training.train(place, *start)
    training.train(place, row, seed)


def trained(place: Workplace, row: str, seed: int) -> Dict[str, Any]:
    """The result of the training alone."""
    system = systems.ALL[row]
    log = place.run(row, seed) / "train.log"
    curve = training.learning_curve(log)
    return {
        "row": row,
        "seed": seed,
        "commit": commands.commit(),
        "train": training.flags(place, row, seed),
        "updates": curve[-1]["updates"] if curve else None,
        "cpu_seconds": training.cpu_seconds(log),
        "learning_curve": curve,
        "corpus": corpus.statistics(place, system.text, systems.STAGES[system.stage].data),
    }


def write(place: Workplace, path: Path, record: Dict[str, Any]) -> None:
    """The result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    text = json.dumps(record, indent=1, ensure_ascii=False)
    # What is this machine's own does not belong there.
    for path_here, name in (
        (place.work, "EVIDENCE_DIR"),
        (place.corpora, "DATA"),
        (commands.PACKAGE, "ctxmt_fairseq"),
    ):
        text = text.replace(str(path_here), name)
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(path)


def say(message: str) -> None:
    print(f"== {message}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
