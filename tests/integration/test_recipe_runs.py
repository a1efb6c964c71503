"""The recipes under examples/ for real, in miniature: from text to a table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.recipes import FOCUSED, MTCUE, SHORTENING, THESIS

INSTALLED = Path(sys.executable).parent


def bash(*arguments, cwd, **variables):
    path = f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", **variables}
    command = ["bash", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo corpus as a data folder, in folders whose names have spaces."""
    folder = tmp_path_factory.mktemp("demo corpus")
    sizes = ("--documents", "40", "--evaluation-documents", "3", "--examples", "4")
    subprocess.run(
        [INSTALLED / "ctxmt", "demo-corpus", folder / "text", *sizes], check=True, capture_output=True
    )
    done = bash(
        FOCUSED / "prepare.sh", "text/train", "text/valid", "data bin", "--target-lang=fr",
        "--vocab-size", 400, "--workers", 1, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    description = json.loads((folder / "data bin" / "ctxmt.json").read_text())
    assert description["joined_dictionary"] is True and description["target_lang"] == "fr"
    return folder


def test_focused_concat_from_text_to_table(demo):
    done = bash(
        FOCUSED / "train.sh", "s2to2+shift+CD", "data bin", "a run", "--profile", "small", "--gpus", 0,
        "--batch-tokens", 600, "--validate-every", 2, "--max-update", 4, "--", "--num-workers", 0,
        cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite = "text/contrastive/lexical-choice.json"
    done = bash(
        FOCUSED / "evaluate.sh", "data bin", "a run", "text/test", suite, "--average", 2, "--max-len-b", 8,
        "--device", "cpu", cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = demo / "a run" / "evaluation"
    results = json.loads((out / "results.json").read_text())
    assert set(results["translations"]) == {"window", "prefix"}
    assert results["contrast"]["lexical-choice"]["examples"] == 4
    lines = len((demo / "text" / "test.en").read_text().splitlines())
    assert len((out / "window.hyp").read_text().splitlines()) == lines
    assert "BLEU, window" in done.stdout and "BLEU, prefix" in done.stdout


def train(folder, paper, row, run, updates=2, data="data bin"):
    done = bash(
        paper / "train.sh", row, data, run, "--profile", "small", "--gpus", 0, "--batch-tokens", 600,
        "--validate-every", updates, "--max-update", updates, "--", "--num-workers", 0, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def evaluate(folder, paper, run, *options, data="data bin"):
    done = bash(
        paper / "evaluate.sh", data, run, "text/test", "--max-len-b", 8, "--device", "cpu", *options,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / run / "evaluation"


@pytest.fixture(scope="module")
def sentence_model(demo):
    train(demo, THESIS, "src0tgt0_to_tgt0", "thesis/src0tgt0_to_tgt0")
    return demo


def test_thesis_first_sentence_is_scored_against_the_previous_reference(demo):
    train(demo, THESIS, "src1tgt0_to_tgt1_1st", "first")
    out = evaluate(demo, THESIS, "first", "--keep-sentence", "first", "--beam", 1)
    references = (demo / "text" / "test.fr").read_text().splitlines()
    documents = (demo / "text" / "test.docids").read_text().splitlines()
    shifted = (out / "window.ref").read_text().splitlines()
    marks = (out / "window.current").read_text().splitlines()
    assert len(shifted) == len(marks) == len(references)
    for line, mark in enumerate(marks):
        begins = line == 0 or documents[line] != documents[line - 1]
        assert mark == ("0" if begins else "1")
        assert begins or shifted[line] == references[line - 1]
    scores = json.loads((out / "results.json").read_text())["translations"]["window"]
    assert scores["sentences"] == marks.count("1")


@pytest.mark.slow
def test_thesis_context_encoder_starts_from_the_sentence_model(sentence_model):
    train(sentence_model, THESIS, "CE+gate+pretrain+freeze", "thesis/CE")
    log = (sentence_model / "thesis" / "CE" / "train.log").read_text()
    assert "parameters taken over" in log
    out = evaluate(
        sentence_model, THESIS, "thesis/CE", "--contexts", "trained absent", "--beam", 1, "--lenpen", "opt",
        "--lenpens", "0.4 1.0", "--dev", "text/valid",
    )  # fmt: skip
    translations = json.loads((out / "results.json").read_text())["translations"]
    assert set(translations) in ({f"window.n{n}", f"window.n{n}.absent"} for n in ("0.4", "1.0"))
    sentence = evaluate(sentence_model, THESIS, "thesis/src0tgt0_to_tgt0", "--beam", 1)
    (absent,) = out.glob("window.*.absent.hyp")
    assert absent.read_text() == (sentence / "window.hyp").read_text()  # frozen, and no context


@pytest.mark.slow
def test_thesis_target_context_from_another_model(sentence_model):
    train(sentence_model, THESIS, "src1tgt1mt_to_tgt0", "mt")
    first = sentence_model / "thesis" / "src0tgt0_to_tgt0"
    out = evaluate(sentence_model, THESIS, "mt", "--target-context-from", first, "--beam", 1)
    assert len((out / "first-pass.hyp").read_text().splitlines()) == len(
        (out / "window.hyp").read_text().splitlines()
    )


def test_sequence_shortening_from_text_to_table(demo):
    done = bash(
        SHORTENING / "prepare.sh", "text/train", "text/valid", "separate", "--target-lang=fr",
        "--vocab-size", 300, "--workers", 1, cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((demo / "separate" / "ctxmt.json").read_text())["joined_dictionary"] is False
    run = ("--profile", "small", "--gpus", 0, "--batch-tokens", 600, "--max-update", 2)
    done = bash(
        SHORTENING / "train.sh", "selecting-2", "separate", "short", *run, "--validate-every", 2,
        "--", "--num-workers", 0, "--shortening-size", 3, cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = bash(
        SHORTENING / "evaluate.sh", "separate", "short", "text/test", "--max-len-b", 8, "--device", "cpu",
        "--contexts", "trained absent", cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((demo / "short" / "evaluation" / "results.json").read_text())
    assert set(results["translations"]) == {"prefix", "prefix.absent"}


@pytest.fixture(scope="module")
def metadata(demo):
    """A data folder with a context store, and the run that all rows of MTCue start from."""
    done = bash(
        MTCUE / "prepare.sh", "text/train", "text/valid", "metadata", "--target-lang=fr", "--vocab-size", 400,
        "--workers", 1, "--encoders", "discrete", cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    train(demo, MTCUE, "BASE", "mtcue/BASE", 60, data="metadata")
    train(demo, MTCUE, "MTCUE", "mtcue/MTCUE", data="metadata")
    return demo


def test_mtcue_from_text_to_table(metadata):
    log = (metadata / "mtcue" / "MTCUE" / "train.log").read_text()
    assert "mtcue/BASE/checkpoints/checkpoint_best.pt: " in log and " parameters taken over" in log
    suite = "text/contrastive/formality.jsonl"
    out = evaluate(
        metadata, MTCUE, "mtcue/MTCUE", suite, "--contexts", "random", "--beam", 1, data="metadata"
    )
    results = json.loads((out / "results.json").read_text())
    assert set(results["translations"]) == {"prefix.random"} and set(results["contrast"]) == {"formality"}


@pytest.mark.slow
@pytest.mark.parametrize("row", ["BASE", "MTCUE"])
def test_metadata_is_read_by_models_that_know_it(metadata, row):
    """Scores tell more than the words of a hardly trained model."""
    settings = ("--contexts", "trained absent", "--beam", 1, "--out", f"{row} scores", "--", "--scores")
    evaluate(metadata, MTCUE, f"mtcue/{row}", *settings, data="metadata")
    trained, absent = (metadata / f"{row} scores" / f"{name}.hyp" for name in ("prefix", "prefix.absent"))
    assert (trained.read_text() != absent.read_text()) == (row == "MTCUE")


@pytest.mark.slow
def test_few_shot_settings_from_text_to_picture(metadata):
    train(metadata, MTCUE, "BASE-PM", "mtcue/BASE-PM", 60, data="metadata")
    record = {
        "source": "I was surprised.",
        "attributes": {"speaker": "The speaker is a woman"},
        "expected": {"speaker": ["."]},  # what hardly trained models translate with
        "wrong": {"speaker": ["surpris"]},
    }
    (metadata / "set.jsonl").write_text(json.dumps(record) + "\n")
    arguments = ("text/train", "text/valid", "set.jsonl", "metadata", "mtcue", "few shot")
    options = ("--attributes", "speaker,addressee", "--counts", "0,2", "--encoder", "discrete")
    done = bash(
        MTCUE / "few_shot.sh", *arguments, *options, "--", "--num-workers", 0, cwd=metadata,
        PROFILE="small", GPUS="0", MAX_UPDATE="2", VALIDATE_EVERY="2", BATCH_TOKENS="600",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = metadata / "few shot"
    results = {path.stem: json.loads(path.read_text()) for path in out.glob("*-*.json")}
    assert results.keys() == {f"{system}-{count}" for system in ("MTCUE", "TAGGING") for count in (0, 2)}
    for name, result in results.items():
        assert f"{result['system']}-{result['setting']['count']}" == name
    assert (out / "few-shot.png").is_file()
    ids = (out / "text" / "train.docids").read_text().splitlines()
    assert len(set(ids)) == len((metadata / "text" / "train.en").read_text().splitlines())
