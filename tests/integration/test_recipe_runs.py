"""The recipes under examples/ for real, in miniature: from text to a table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOCUSED, THESIS = EXAMPLES / "focused_concat", EXAMPLES / "thesis_concat"
INSTALLED = Path(sys.executable).parent


def bash(*arguments, cwd):
    path = f"{INSTALLED}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}
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


def test_thesis_first_sentence_is_scored_against_the_previous_reference(demo):
    done = bash(
        THESIS / "thesis.sh", "src1tgt0_to_tgt1_1st", "data bin", "thesis", "--profile", "small", "--gpus", 0,
        "--batch-tokens", 600, "--text", "text/test", "--beam", 1, "--max-len-b", 8, "--device", "cpu",
        "--", "--num-workers", 0, "--max-update", 2, cwd=demo,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = demo / "thesis" / "src1tgt0_to_tgt1_1st"
    references = (demo / "text" / "test.fr").read_text().splitlines()
    documents = (demo / "text" / "test.docids").read_text().splitlines()
    shifted = (out / "shifted.ref").read_text().splitlines()
    marks = (out / "shifted.current").read_text().splitlines()
    assert len(shifted) == len(marks) == len(references)
    for line, mark in enumerate(marks):
        begins = line == 0 or documents[line] != documents[line - 1]
        assert mark == ("0" if begins else "1")
        assert begins or shifted[line] == references[line - 1]
    scores = json.loads((out / "results.json").read_text())["translations"]["n0.6.document"]
    assert scores["sentences"] == marks.count("1")
