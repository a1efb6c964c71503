"""``ctxmt evaluate`` with a small search, and a contrastive set, for tests."""

import json

from ctxmt_fairseq.cli.main import main

SEARCH = ("--beam", "2", "--max-len-b", "6", "--cpu")


def run(*arguments):
    assert not main([str(argument) for argument in arguments])


def evaluate(model, text, out, *options):
    """The results, as evaluated with a small search."""
    run("evaluate", model, text, *options, "--out", out, *SEARCH)
    return result(out / "results.json")


def result(path):
    """What a command wrote as JSON, without how it was made."""
    found = json.loads(path.read_text())
    assert found.pop("made_by")["command"].startswith("ctxmt ")
    return found


def suite(folder, name="pairs"):
    """A contrastive set, of examples with previous and current sentences."""
    examples = [
        {
            "id": f"{name}-{number}", "phenomenon": "letters", "distance": 1, "context": "source-previous",
            "source": [before, "c d"], "current": 1,
            "targets": [["e", "a b"], ["e", "b a"]], "correct": number % 2,
        }
        for number, before in enumerate(("a b", "g", "h i j"))
    ]  # fmt: skip
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(example) + "\n" for example in examples))
    return path


def evaluate_alone(model, text, out):
    evaluate(model, text, out)
    return (out / "prefix.hyp").read_text()
