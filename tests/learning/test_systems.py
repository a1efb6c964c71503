"""Every architecture learns what its context answers, and knows nothing else (proof 6)."""

import json

import pytest

from tests.integration.commands import USER_DIR, run
from tests.learning.systems import ARCHITECTURES, SYSTEMS

TRAINING = (
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--share-all-embeddings"),
    *("--dropout", 0, "--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--lr", 1e-3),
    *("--lr-scheduler", "inverse_sqrt", "--warmup-updates", 200, "--max-tokens", 2500, "--cpu"),
    *("--num-workers", 0, "--no-epoch-checkpoints", "--disable-validation", "--log-format", "simple"),
)
SELECTIONS = ("document", "random", "empty", "absent", "swapped")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    run("ctxmt", "demo-corpus", folder / "text")
    run(
        *(
            "ctxmt",
            "preprocess",
            "--source-lang",
            "en",
            "--target-lang",
            "fr",
            "--vocab-size",
            1000,
            "--joint",
        ),
        *("--spm-type", "bpe", "--train", folder / "text/train", "--valid", folder / "text/valid"),
        *("--out", folder / "data"),
    )
    return folder


def bleu(folder, corpus, selection):
    """BLEU of the test text, translated greedily with this kind of context."""
    text, output = corpus / "text/test", folder / f"{selection}.fr"
    documents = ("--docids", f"{text}.docids")
    run(
        *("ctxmt", "translate", folder / "checkpoint_last.pt", f"{text}.en", *documents, "--output", output),
        *("--beam", 1, "--cpu", "--context-selection", selection),
    )
    run("ctxmt", "score", output, f"{text}.fr", *documents, "--json", folder / "score.json")
    return json.loads((folder / "score.json").read_text())["scores"][0]["score"]


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", SYSTEMS)
def test_it_learns(name, corpus, tmp_path, record_property):
    system = SYSTEMS[name]
    run(
        *("fairseq-train", corpus / "data", "--user-dir", USER_DIR, "--task", system.task),
        *("--arch", f"{system.arch}_tiny", *TRAINING, *system.options, "--max-update", system.updates),
        *("--save-dir", tmp_path),
    )
    index = json.loads((corpus / "text/contrastive/sets.json").read_text(encoding="utf-8"))
    sets = [corpus / "text/contrastive" / entry["path"] for entry in index if entry["context"] != "metadata"]
    run(
        "ctxmt",
        "contrast",
        tmp_path / "checkpoint_last.pt",
        *sets,
        "--cpu",
        "--json",
        tmp_path / "report.json",
    )
    cells = {
        (report["name"], distance if len(report["distances"]) > 1 else None): (
            tally["accuracy"],
            tally["ties"],
        )
        for report in json.loads((tmp_path / "report.json").read_text())
        for distance, tally in report["distances"].items()
    }
    assert set(system.answers) <= set(cells)
    text = "  ".join(
        f"{' '.join(filter(None, key))} {accuracy:.1f}{'*' if key in system.answers else ''}"
        for key, (accuracy, _) in cells.items()
    )
    record_property("accuracies", f"{name}: {text}")
    if name in ARCHITECTURES:
        scores = {selection: bleu(tmp_path, corpus, selection) for selection in SELECTIONS}
        text = "  ".join(f"{selection} {score:.1f}" for selection, score in scores.items())
        record_property("bleu", f"{system.arch}: {text}")
        assert scores["document"] == max(scores.values())
    for key, (accuracy, ties) in cells.items():
        assert ties == 0
        if key in system.answers:
            assert accuracy >= 95, key
        else:
            assert accuracy == 50.0, key
