"""What ``ctxmt evaluate`` writes, with given numbers, for tests."""

import json


def translation(bleu, sentences=10):
    """As ctxmt score; chrF2 is BLEU + 20."""
    values = ("BLEU", "sentence", bleu), ("chrF2", "sentence", bleu + 20), ("BLEU", "document", 99.0)
    scores = [
        {"name": name, "level": level, "score": score, "signature": "nrefs:1"}
        for name, level, score in values
    ]
    return {"sentences": sentences, "scores": scores}


def contrast(accuracy, disc=None, examples=4):
    """As ctxmt contrast."""
    return {"name": "set", "accuracy": accuracy, "disc": disc, "examples": examples}


def results(translations, contrasts=None, trained=2):
    """As ctxmt evaluate: BLEU by name, reports by name."""
    named = {name: translation(bleu) for name, bleu in translations.items()}
    return {"translations": named, "contrast": contrasts or {}, "trained_window": trained}


def write_results(folder, content):
    """In a training's folder; returns the file."""
    (folder / "evaluation").mkdir(parents=True, exist_ok=True)
    path = folder / "evaluation" / "results.json"
    path.write_text(json.dumps(content))
    return path
