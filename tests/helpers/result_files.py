"""What ``ctxmt evaluate`` and others write, with given numbers, for tests."""

import json


def translation(bleu, sentences=10):
    """As ctxmt score; chrF2 is BLEU + 20."""
    values = ("BLEU", "sentence", bleu), ("chrF2", "sentence", bleu + 20), ("BLEU", "document", 99.0)
    scores = [
        {"name": name, "level": level, "score": score, "signature": "nrefs:1"}
        for name, level, score in values
    ]
    return {"sentences": sentences, "scores": scores}


def contrast(accuracy, disc=None, examples=4, name="set"):
    """As ctxmt contrast."""
    return {"name": name, "convention": "sum-current", "accuracy": accuracy, "disc": disc,
            "examples": examples, "phenomena": {}, "distances": {}}  # fmt: skip


def results(translations, contrasts=None, trained=2):
    """As ctxmt evaluate: BLEU by name, reports by name."""
    named = {name: translation(bleu) for name, bleu in translations.items()}
    return {"translations": named, "contrast": contrasts or {}, "trained_window": trained}


def probed(contexts, sizes, source_context=1, sentences=10):
    """As ctxmt probe: BLEU by context and by number of sentences of context; CXMI is BLEU / 100."""

    def row(bleu):
        return {"bleu": bleu, "chrf2": None, "cxmi": bleu / 100}

    return {
        "sentences": sentences,
        "options": {"source_context": source_context, "target_context": None, "beam": 4},
        "contexts": [{"context": name, **row(bleu)} for name, bleu in contexts.items()],
        "sizes": [{"size": size, "context": f"size {size}", **row(bleu)} for size, bleu in sizes.items()],
        "top_words": [],
    }  # fmt: skip


def write_results(folder, content):
    """In a training's folder; returns the file."""
    (folder / "evaluation").mkdir(parents=True, exist_ok=True)
    path = folder / "evaluation" / "results.json"
    path.write_text(json.dumps(content))
    return path
