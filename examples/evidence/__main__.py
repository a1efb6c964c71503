"""Trains and evaluates the runs that have no result yet, one after the other; see run.sh."""

import json
import sys
from typing import Any, Dict, List

from evidence import commands, corpus, evaluation, systems, tables, training
from evidence.workplace import ROOT, Workplace, workplace


def main(arguments: List[str]) -> None:
    """The runs named, or all; then the tables."""
    place = workplace()
    try:
        runs = systems.chosen(arguments, seeds=1 if place.smoke else 0)
        wanted = [run for run in runs if not place.result(*run).exists()]
        if wanted:
            place.check()
    except ValueError as error:
        sys.exit(f"error: {error}")
    for run in wanted:
        name = "{}.{}".format(*run)
        with place.held(name, wait=False) as ours:
            if not ours:
                say(f"{name}: left to another run.sh, which is at work on it")
            elif not place.result(*run).exists():
                finish(place, *run)
    results = tables.read(place.results)
    print(tables.text(results))
    if not place.smoke and place.results == ROOT / "docs" / "evidence":
        tables.rewrite(ROOT / "docs" / "evidence.md", results)


def finish(place: Workplace, row: str, seed: int) -> None:
    """Train and evaluate one run and write its result.

    The training that it starts from comes first: anew, where its result is there but not its checkpoint.
    """
    say(f"{row}.{seed}: training")
    stage = systems.STAGES[systems.ALL[row].stage]
    with place.held("text"):
        corpus.prepare(place, stage.data)
    if stage.second:
        with place.held("{}.{}".format(*systems.START)):
            training.train(place, *systems.START)
    training.train(place, row, seed)
    found: Dict[str, Any] = {}
    if row in systems.EVALUATED:
        say(f"{row}.{seed}: evaluation")
        found = evaluation.evaluate(place, row, seed)
    write(place, row, seed, found)


def write(place: Workplace, row: str, seed: int, found: Dict[str, Any]) -> None:
    """The result, whole or not at all."""
    log = place.run(row, seed) / "train.log"
    curve = training.learning_curve(log)
    record = {
        "row": row,
        "seed": seed,
        "commit": commands.commit(),
        "train": training.flags(place, row, seed),
        "updates": curve[-1]["updates"] if curve else None,
        "cpu_seconds": training.cpu_seconds(log),
        "learning_curve": curve,
        "corpus": corpus.statistics(place, systems.STAGES[systems.ALL[row].stage].data),
        **found,
    }
    path = place.result(row, seed)
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
    say(f"{row}.{seed}: {path}")


def say(message: str) -> None:
    print(f"== {message}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
