"""Folders of results as the commands write them, without models, for tests of ``ctxmt report``."""

import json

import numpy as np

from ctxmt_fairseq.analysis.labelled_map import LabelledMap, write_map
from ctxmt_fairseq.evaluation.contrastive_report import (
    CandidateScore,
    contrastive_report,
    example_lines,
)
from ctxmt_fairseq.evaluation.contrastive_sets import Convention, read_contrastive_set
from tests.helpers.evaluations import run

SOURCE = ["I saw a lamp.", "It was red.", "He bought <b>two</b>.", "The heart & the dog.", "It left."]
REFERENCE = [
    "J'ai vu une lampe.",
    "Elle était rouge.",
    "Il en a acheté deux.",
    "Le coeur et le chien.",
    "Il partit.",
]
SYSTEMS = {
    "sentence": ["J'ai vu une lampe.", "Il était rouge.", "Il a acheté deux.", "Le coeur.", "Il partit."],
    "s2to2": REFERENCE[:4] + ["Elle partit."],
}
LOG = """+ fairseq-train data --arch {name}
2026-01-01 00:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 5.5 | num_updates 50
2026-01-01 00:00:00 | INFO | valid | epoch 002 | valid on 'valid' subset | loss {loss} | num_updates 1000
"""
CONVENTION = Convention("sum", "current")


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_set(folder, examples=24):
    """A contrastive set of two phenomena."""
    lines = []
    for number in range(examples):
        phenomenon, distance = ("gender", 1 + number % 2) if number % 3 else ("ellipsis <i>", 0)
        lines.append(
            json.dumps(
                {
                    "id": f"e{number}", "phenomenon": phenomenon, "distance": distance,
                    "context": "source-previous", "current": 2, "correct": 0,
                    "source": ["A <script>lamp</script>.", "So.", f"It is {number}."],
                    "targets": [["Une lampe.", "Bien.", f"{it} est {number}."] for it in ("Elle", "Il")],
                }
            )
        )  # fmt: skip
    return write_lines(folder / "pronouns.jsonl", lines)


def write_report(folder, suite, right):
    """What ``ctxmt evaluate`` writes of a set, for a system that has every ``right``-th example wrong."""
    scores = [
        [CandidateScore(-1.0, 4, -9.0, 9), CandidateScore(-2.0 if number % right else 0.0, 4, -9.5, 9)]
        for number, _ in enumerate(suite.examples)
    ]
    report = contrastive_report(suite, scores, CONVENTION).as_dict()
    write_lines(folder / f"{suite.name}.examples.jsonl", example_lines(suite, scores, CONVENTION))
    return report


def probe_report(shift):
    contexts = [
        {"context": name, "bleu": 30.0 + shift - at, "chrf2": 50.0 + shift - at, "cxmi": 0.1 - at / 20,
         "bits_per_sentence": 1.0 - at / 2}
        for at, name in enumerate(("document", "random", "absent"))
    ]  # fmt: skip
    return {
        "text": "text/test",
        "contexts": contexts,
        "comparisons": [
            {"a": "document", "b": "random", "metric": "bleu", "p_holm": 0.004, "stars": "**"},
        ],
        "sizes": [
            {**contexts[0], "context": f"size {n}", "size": n, "cxmi": n / 20 + shift / 50} for n in range(3)
        ],
        "top_words": [
            {"word": "elle", "n": 12, "bits_per_word": 0.51, "bits": 6.1},
            {"word": "perdue", "n": 11, "bits_per_word": -0.02, "bits": -0.2},
        ],
    }


def write_runs(folder):
    """Two runs and their comparison; returns the arguments of ``ctxmt report``, but the output."""
    (folder / "text.en").write_text("\n".join(SOURCE) + "\n")
    write_lines(folder / "text.fr", REFERENCE)
    write_lines(folder / "text.docids", "aaabb")
    path = write_set(folder)
    suite = read_contrastive_set(path)
    files = []
    for number, (name, lines) in enumerate(SYSTEMS.items()):
        out = folder / "runs" / name / "evaluation"
        out.mkdir(parents=True)
        files.append(write_lines(out / "prefix.hyp", lines))
        run(
            "score",
            files[-1],
            folder / "text.fr",
            "--docids",
            folder / "text.docids",
            "--json",
            out / "one.json",
        )
        score = json.loads((out / "one.json").read_text())
        (out / "one.json").unlink()
        contrast = {"pronouns": write_report(out, suite, (2, 7)[number])}
        made_by = {"command": f"ctxmt evaluate runs/{name} text", "versions": {"python": "3.11"}}
        results = {"translations": {"prefix": score}, "contrast": contrast, "made_by": made_by}
        (out / "results.json").write_text(json.dumps(results))
        (out / "done.json").write_text("{}")  # what ctxmt evaluate notes for itself
        (out / "stale.score.json").write_text(json.dumps({**score, "sentences": 99}))
        (out / "probe.json").write_text(json.dumps(probe_report(number)))
        (out.parent / "train.log").write_text(LOG.format(name=name, loss=4 - number))
    values = np.random.default_rng(1).dirichlet(np.ones(6), size=5)
    shown = LabelledMap(
        "Attention to context <of> it", values, list("abcde"), list("uvwxyz"), "source", "context"
    )
    write_map(folder / "runs/s2to2/evaluation/attention.png", shown)
    share = {
        "models": [
            {"name": n, "means": {"share, encoder": 0.5 + k / 5, "entropy, all": 1.2}}
            for k, n in enumerate(SYSTEMS)
        ],
        "differences": [
            {
                "a": "sentence",
                "b": "s2to2",
                "measure": "share, encoder",
                "difference": 0.2,
                "p": 0.01,
                "p_holm": 0.02,
                "stars": "*",
            }
        ],
    }
    (folder / "shares.json").write_text(json.dumps(share))
    points = [
        {
            "measure": measure,
            "system": name,
            "window": place,
            "value": 20.0 + number,
            "low": 19.0,
            "high": 22.5,
        }
        for measure, places in (("BLEU", (1, 2, 3)), ("accuracy", ("dev", "test")))
        for name in SYSTEMS
        for number, place in enumerate(places)
    ]
    (folder / "windows.json").write_text(json.dumps({"points": points}))
    run(
        "compare", "translations", folder / "text.fr", *files, "--docids", folder / "text.docids",
        "--unit", "sentence", "--samples", 100, "--json", folder / "compared.json",
    )  # fmt: skip
    run(
        "analyse", "lengths", folder / "text.en", folder / "text.fr", *files, "--edges", 3, "--samples", 100,
        "--json", folder / "lengths.json",
    )  # fmt: skip
    return [
        *(folder / "runs" / name for name in SYSTEMS), folder / "compared.json", folder / "lengths.json",
        folder / "shares.json", folder / "windows.json", "--source", folder / "text.en",
        "--reference", folder / "text.fr", "--docids", folder / "text.docids", "--sets", path,
    ]  # fmt: skip
