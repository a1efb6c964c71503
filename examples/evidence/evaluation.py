"""What a trained run is worth: translations, contrastive pronouns, and what it makes of its context."""

import json
from pathlib import Path
from typing import Any, Dict

from evidence import systems, training
from evidence.commands import ctxmt
from evidence.workplace import Workplace

LENGTH = ("--max-len-a", "1.5", "--max-len-b", "10")


def evaluate(place: Workplace, row: str, seed: int) -> Dict[str, Any]:
    """Scores of the test text and of the contrastive set, for JSON; what they come from lies in the run."""
    model, run = training.checkpoint(place, row, seed), place.run(row, seed)
    test = place.work / "text" / "test"
    source, reference, ids = (test.with_suffix(f".{kind}") for kind in ("en", "fr", "docids"))
    translation = run / "test.fr"
    ctxmt("translate", model, source, "--docids", ids, "--output", translation, "--beam", 4, *LENGTH, "--cpu")
    ctxmt("score", translation, reference, "--docids", ids, "--json", run / "score.json")
    reads_context = systems.EVALUATED[row].reads_context
    contexts = ("document", "random") if reads_context else ("document",)
    found = {"scores": _read(run / "score.json"), "pronouns": {}}
    for context in contexts:
        found["pronouns"][context] = contrast(place, model, run, context)
    if reads_context:
        options = ("--contexts", "random", "empty", "absent", "--beam", 1, *LENGTH, "--cpu")
        ctxmt("probe", model, test, *options, "--json", run / "probe.json")
        found["probe"] = _read(run / "probe.json")
    return found


def contrast(place: Workplace, model: Path, run: Path, context: str) -> Dict[str, Any]:
    """Accuracies of the contrastive set in one kind of context.

    ``decisions`` has a character for each example: 1 if it is right, else 0.
    """
    report, examples = run / f"contrast.{context}.json", run / f"contrast.{context}.jsonl"
    outputs = ("--json", report, "--examples", examples)
    ctxmt("contrast", model, place.suite, "--context-selection", context, *outputs, "--cpu")
    records = [json.loads(line) for line in examples.read_text(encoding="utf-8").splitlines()]
    found = _read(report)
    kept = ("name", "convention", "examples", "correct", "accuracy", "ties", "phenomena")
    return {
        **{key: found[key] for key in kept},
        "decisions": "".join(str(int(record["chosen"] == record["correct"])) for record in records),
    }


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
