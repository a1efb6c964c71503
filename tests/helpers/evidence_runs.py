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
    names = """commands context_tables corpus evaluation figures layout leads records score_tables systems
        tables tagger texts training workplace""".split()
    modules = {name: import_module(f"evidence.{name}") for name in names}
    yield SimpleNamespace(driver=import_module("evidence.__main__"), **modules)
    sys.path.remove(str(EXAMPLES))


def tiny_place(evidence: SimpleNamespace, folder: Path) -> Any:
    """A workplace whose corpora are six tiny documents and a contrastive set of one example."""
    found = evidence.workplace.Workplace(folder / "data", folder / "work", folder / "results")
    documents = {"train": ("a a b c c c".split(), "a"), "valid": ("d e e f g".split(), "v")}
    text = evidence.texts.SUBTITLES
    for split, (ids, letter) in documents.items():
        prefix = found.corpora / text.name / split
        prefix.parent.mkdir(parents=True, exist_ok=True)
        for kind in ("en", "fr"):
            lines = "".join(f"{letter}{number} {kind}\n" for number in range(len(ids)))
            prefix.with_suffix(f".{kind}").write_text(lines)
        prefix.with_suffix(".docids").write_text("".join(f"{each}\n" for each in ids))
    suite = found.corpora / text.suite
    suite.mkdir(parents=True)
    (suite / "OpenSubs.current.src").write_text("It is.\nIt is.\n")
    (suite / "OpenSubs.current.trg").write_text("Elle est.\nIl est.\n")
    return found


def training_result(row: str, seed: int) -> Dict[str, Any]:
    curve = [{"updates": 1, "loss": 2.5}]
    return {"row": row, "seed": seed, "train": ["--amp"], "learning_curve": curve, "cpu_seconds": 60}


def evaluation_result(decisions: str, bleu: float = 10.0) -> Dict[str, Any]:
    """Of a row without context; ``decisions`` has 1 for every right example of the contrastive set."""
    accuracy = 100 * decisions.count("1") / len(decisions)
    pronouns = {"accuracy": accuracy, "phenomena": {"elle": {"accuracy": accuracy}}, "decisions": decisions}
    scores = [{"name": "BLEU", "level": "sentence", "score": bleu}]
    return {"scores": {"scores": scores}, "pronouns": {"document": pronouns}}


def result(row: str, seed: int, decisions: str, bleu: float = 10.0) -> Dict[str, Any]:
    return {**training_result(row, seed), **evaluation_result(decisions, bleu)}
