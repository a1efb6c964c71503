"""run_small.sh: a rehearsal of a paper's scripts, and its systems of docs/results/tables.md."""

import json
import os

import recipe_small
import recipe_steps

from tests.integration.recipes import EXAMPLES, FOCUSED, NOT_OURS, options_of, start

PLACES = ("DATA", "EVIDENCE_DIR", "EVIDENCE_RESULTS")
SMALL_STEPS = ("ctxmt preprocess", "fairseq-train", "fairseq-train", "fairseq-validate", "ctxmt evaluate")


def test_a_recipe_on_two_cores(tmp_path, monkeypatch, capsys):
    """The steps of a rehearsal: two halves of the text, two of the training, and nothing a second time."""
    subtitles, out, commands = tmp_path / "en-fr-subtitles", tmp_path / "out", []
    subtitles.mkdir()
    lengths = {"train": [5] * 1300, "valid": [4, 7] * 40}  # of the documents
    for split, documents in lengths.items():
        ids = [f"{number}\u2028" for number, length in enumerate(documents) for _ in range(length)]
        columns = {"docids": ids, "en": [f"{line}\u2028 e" for line in range(len(ids))], "fr": ids}
        for kind, lines in columns.items():
            (subtitles / f"{split}.{kind}").write_text("".join(f"{line}\n" for line in lines))

    def run(words, dry, log=None):
        commands.append([str(word) for word in words])
        if words[1] == "preprocess":
            (out / "data").mkdir()
        if log is not None:
            with open(log, "a") as file:
                file.write("Loaded checkpoint checkpoints/checkpoint_last.pt\n")
        if words[1] == "evaluate":
            folder = out / "base" / "evaluation"
            folder.mkdir(exist_ok=True)
            score = {"name": "BLEU", "level": "sentence", "score": 12.5}
            results = {"translations": {"window": {"scores": [score]}}, "contrast": {}}
            (folder / "results.json").write_text(json.dumps(results))

    for module in (recipe_small, recipe_steps):
        monkeypatch.setattr(module, "run", run)
    for name in NOT_OURS:
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "SMOKE": "1",
        "SYSTEMS": "base",
        "SUITES": "a:b",
        "DATA": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    assert start(FOCUSED / "run_small.sh", out) == 0
    assert [
        " ".join(words[: len(step.split())]) for words, step in zip(commands, SMALL_STEPS, strict=True)
    ] == [*SMALL_STEPS]
    _, first, second, _, evaluation = map(options_of, commands)
    assert (first["--max-update"], second["--max-update"]) == ("20", "40") and first["--cpu"] is True
    assert evaluation["words"][2:6] == [str(out / "base"), str(out / "text" / "test"), "a", "b"]
    assert evaluation["--cpu"] is True and evaluation["--max-len-b"] == "20"
    assert "12.50" in (out / "results.txt").read_text()
    text = {path.name: path.read_text().split("\n")[:-1] for path in (out / "text").iterdir()}
    assert len(text["train.en"]) == len(text["train.docids"]) == 6000  # the end of a document
    assert len(text["valid.docids"]) == 301  # 300 would cut one
    halves = [text[f"{half}.docids"] for half in ("dev", "test")]
    assert [sorted({int(number) % 2 for number in half}) for half in halves] == [[0], [1]]
    assert sum(map(len, halves)) == 301 and len(text["dev.en"]) == len(halves[0])
    del commands[:]
    assert start(FOCUSED / "run_small.sh", out) == 0
    assert [words[0] for words in commands] == ["fairseq-validate", "ctxmt"]  # no training, no preparation


def test_systems_of_the_evidence_on_two_cores(tmp_path, monkeypatch):
    """run_small.sh without SMOKE: rows of docs/results/tables.md, and what MTCue has beside them."""
    calls = []

    def run(words, dry, log=None):
        calls.append(([str(word) for word in words], {name: os.environ[name] for name in PLACES}))

    out, data = tmp_path / "out" / "subtitles", tmp_path / "data"
    texts = data / "formality" / "cocoa-mt" / "train" / "en-fr"
    texts.mkdir(parents=True)
    for ending in ("en-fr.en", "formal.annotated.fr", "informal.annotated.fr"):
        (texts / f"talks.{ending}").touch()
    monkeypatch.setattr(recipe_small, "run", run)
    for name in (*NOT_OURS, "SMOKE", "SYSTEMS", *PLACES):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"DATA": data, "SEEDS": "1 3", "DEMO_SYSTEMS": ""}.items():
        monkeypatch.setenv(name, str(value))
    assert start(EXAMPLES / "mtcue" / "run_small.sh", tmp_path / "out") == 0
    (evidence_run, places), *formality = calls
    assert evidence_run[1:] == [
        str(EXAMPLES / "evidence" / "run.sh"),
        "control.1",
        "control.3",
        "MTCue.1",
        "MTCue.3",
    ]
    assert places == {"DATA": str(data), "EVIDENCE_DIR": str(out), "EVIDENCE_RESULTS": str(out / "results")}
    models = [str(out / "runs" / f"MTCue.{seed}" / "checkpoints" / "checkpoint_last.pt") for seed in (1, 3)]
    assert [words[:4] for words, _ in formality] == [
        ["ctxmt", "control", "formality", model] for model in models
    ]
    assert formality[0][0][-1] == str(texts / "talks.informal.annotated.fr")
