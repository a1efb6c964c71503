"""The slow tier: models trained on the demo corpus answer what their window holds, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTEXT = {"sentence": 0, "s2to2": 1, "s3to3": 2}  # context sentences of each system


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("quickstart")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(ROOT / "examples/quickstart/run.sh"), str(out)]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path}, timeout=1700)
    assert (out / "accuracies.png").read_bytes().startswith(b"\x89PNG")
    html = (out / "report.html").read_text(encoding="utf-8")
    assert html.count("<img ") == 2 and "share, encoder" in html and "fairseq-train" in html
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


@pytest.mark.timeout(1800)
def test_accuracies(report):
    answered = 0
    for row in report["accuracy"]:
        for system, context in CONTEXT.items():
            if 0 < row["distance"] <= context:
                answered += 1
                assert row[system]["accuracy"] >= 95, (row["phenomenon"], system)
            else:
                assert row[system]["accuracy"] == 50.0, (row["phenomenon"], system)
            assert row[system]["ties"] == 0
    assert answered == 5 + 5 + 3


@pytest.mark.timeout(1800)
def test_translations_are_good(report):
    assert min(report["bleu"].values()) > 60
