"""Trains and evaluates the runs that have no result yet, one after the other; see run.sh."""

import sys
from typing import Any, Dict, List

import recipes

from ctxmt_fairseq.base import exit_codes
from evidence import commands, corpus, evaluation, figures, records, systems, tables, training
from evidence.workplace import RESULTS, ROOT, SERIES, Workplace, called, workplace

PAGES = ("README.md", "protocol.md", "tables.md")  # of docs/results/
PAPERS = ("focused_concat", "gated_context", "mtcue", "sequence_shortening", "thesis")


def main(arguments: List[str]) -> None:
    """The runs named, or all; then the tables.

    Raises:
        BadInput: a name that is none, a text that is not there, a result that is none.
    """
    place = workplace()
    runs = systems.chosen(arguments, seeds=1 if place.smoke else 0)
    wanted = [run for run in runs if not place.result(*run).exists()]
    for text in dict.fromkeys(systems.ALL[row].text for row, _ in wanted):
        place.check(text)
    records.read_all(place.results)
    for run in runs:
        if run in wanted or missing(place, run):
            with place.held(called(*run), wait=False) as ours:
                if ours:
                    finish(place, *run)
                else:
                    say(f"{called(*run)}: left to another run.sh, which is at work on it")
    with place.held("tables"):
        publish(place)


def publish(place: Workplace) -> None:
    """Print the tables; of the checkout's results they are written into its pages."""
    results = records.read_all(place.results)
    print(tables.text(tables.named(results, {})))
    if not place.smoke and place.results in (RESULTS, *SERIES.values()):
        results = records.read_all(RESULTS)
        named = tables.named(results, {name: records.read_all(path) for name, path in SERIES.items()})
        for page in PAGES:
            tables.rewrite(RESULTS.parent / page, named)
        for paper in PAPERS:
            rows = recipes.Recipe(paper).table.EVIDENCE.split()
            readme = ROOT / "examples" / paper / "README.md"
            tables.rewrite(readme, {"tables": tables.recipe_table(results, rows)})
        figures.write(RESULTS.parent, results)


def missing(place: Workplace, run: systems.Run) -> List[str]:
    """What a finished run's result lacks and can be made here."""
    return evaluation.missing(evaluation.Trained(place, *run), records.read(place.result(*run)))


def finish(place: Workplace, row: str, seed: int) -> None:
    """Train and evaluate one run and write its result, or what is missing of it.

    The training that it starts from comes first: anew, where its result is there but not its checkpoint.
    """
    path = place.result(row, seed)
    if path.exists():
        record = records.read(path)
    else:
        train(place, row, seed)
        record = trained(place, row, seed)
    run = evaluation.Trained(place, row, seed)
    names = evaluation.missing(run, record)
    if names:
        say(f"{called(row, seed)}: evaluation: {', '.join(names)}")
        record.update(evaluation.evaluate(run, names))
        record["evaluated_by"] = record.get("evaluated_by", {}) | dict.fromkeys(names, commands.commit())
    if names or not path.exists():
        records.write(place, path, record)
        say(f"{called(row, seed)}: {path}")


def train(place: Workplace, row: str, seed: int) -> None:
    """The run, and before it the one that it starts from."""
    say(f"{called(row, seed)}: training")
    system = systems.ALL[row]
    stage = systems.STAGES[system.stage]
    finders = systems.FINDERS.get(stage.finds, {})
    for finder in finders.values():
        train(place, *finder)
    if finders:
        with place.held("found"):
            corpus.find(place, system.text, finders)
    with place.held(f"text of {system.text.name}"):
        if stage.finds == "tags":
            corpus.prepare(place, system.text, "data-pronouns" if system.text.has_parts else "data")
            corpus.tag(place, system.text)
        corpus.prepare(place, system.text, stage.data)
        if system.embeds:
            corpus.embed(place, system.text, stage.data)
    if stage.second:
        start = systems.start_of(row)
        with place.held(called(*start)):
            training.train(place, *start)
    training.train(place, row, seed)


def trained(place: Workplace, row: str, seed: int) -> Dict[str, Any]:
    """The result of the training alone."""
    system = systems.ALL[row]
    log = place.run(row, seed) / "train.log"
    curve = training.learning_curve(log)
    begun = training.begun(place, row, seed)
    return {
        "row": row,
        "seed": seed,
        "commit": ", ".join(begun["commits"]),
        "train": begun["train"],
        "updates": curve[-1]["updates"] if curve else None,
        "cpu_seconds": training.cpu_seconds(log),
        "learning_curve": curve,
        "corpus": corpus.statistics(place, system.text, systems.STAGES[system.stage].data),
    }


def say(message: str) -> None:
    print(f"== {message}", flush=True)


if __name__ == "__main__":
    sys.exit(exit_codes.run_command(main, sys.argv[1:]))
