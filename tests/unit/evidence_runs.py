"""The modules of examples/evidence, and results as its driver writes them."""

import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, Iterator

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextmanager
def evidence_modules() -> Iterator[SimpleNamespace]:
    sys.path.insert(0, str(EXAMPLES))
    names = "corpus evaluation figures leads score_tables systems tables texts training workplace".split()
    modules = {name: import_module(f"evidence.{name}") for name in names}
    yield SimpleNamespace(driver=import_module("evidence.__main__"), **modules)
    sys.path.remove(str(EXAMPLES))


def training_result(row: str, seed: int) -> Dict[str, Any]:
    curve = [{"updates": 1, "loss": 2.5}]
    return {"row": row, "seed": seed, "learning_curve": curve, "cpu_seconds": 60}


def evaluation_result(decisions: str, bleu: float = 10.0) -> Dict[str, Any]:
    """Of a row without context; ``decisions`` has 1 for every right example of the contrastive set."""
    accuracy = 100 * decisions.count("1") / len(decisions)
    pronouns = {"accuracy": accuracy, "phenomena": {"elle": {"accuracy": accuracy}}, "decisions": decisions}
    scores = [{"name": "BLEU", "level": "sentence", "score": bleu}]
    return {"scores": {"scores": scores}, "pronouns": {"document": pronouns}}


def result(row: str, seed: int, decisions: str, bleu: float = 10.0) -> Dict[str, Any]:
    return {**training_result(row, seed), **evaluation_result(decisions, bleu)}
