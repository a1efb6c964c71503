"""What ``evaluate.sh`` asks ``ctxmt`` for: windows, kinds of context, conventions; and distinct names."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
import torch

from tests.integration.recipes import FOCUSED, GATED, THESIS, bash

REPORT = {
    **{"scores": [], "name": "x", "convention": "x", "accuracy": 1, "phenomena": {}, "distances": {}},
    **dict.fromkeys(("disc", "disc_avg", "disc_all_d")),
}
STUB = f"""#!/bin/sh
echo "$@" >> "$COMMANDS"
while [ $# -gt 0 ]; do
    case "$1" in
        --output | --examples) touch "$2" ;;
        --json) echo '{json.dumps(REPORT)}' > "$2" ;;
    esac
    shift
done
"""


@pytest.fixture
def evaluated(tmp_path):
    """``evaluated(paper, trained, OPTIONS...)``: the commands of ``ctxmt``, by name, and the results' names.

    ``trained``: the context options of the checkpoint.
    """
    bin = tmp_path / "bin"
    for folder in (bin, tmp_path / "data", tmp_path / "out"):
        folder.mkdir()
    (bin / "ctxmt").write_text(STUB)
    (bin / "ctxmt").chmod(0o755)
    (tmp_path / "data" / "ctxmt.json").write_text('{"source_lang": "en", "target_lang": "fr"}')

    def evaluate(paper, trained, *options):
        torch.save({"cfg": {}, "task_state": {"context": trained}}, tmp_path / "out" / "averaged.pt")
        commands = tmp_path / "commands"
        commands.unlink(missing_ok=True)
        done = bash(
            *(paper / "evaluate.sh", "data", "run", "text", *options, "--out", "out"),
            path=f"{bin}{os.pathsep}{Path(sys.executable).parent}",
            cwd=tmp_path,
            COMMANDS=str(commands),
        )
        assert done.returncode == 0, done.stderr
        called = {"translate": [], "contrast": []}
        for line in commands.read_text().splitlines():
            name, *words = shlex.split(line)
            called.setdefault(name, []).append(words)
        results = json.loads((tmp_path / "out" / "results.json").read_text())
        return called, {kind: set(found) for kind, found in results.items()}, done.stdout

    return evaluate


def value(words, option):
    return words[words.index(option) + 1] if option in words else None


def test_windows_change_what_was_trained_and_are_named(evaluated):
    """Figure 4: s2to2 with windows of two, then three sentences; nothing is overwritten."""
    trained = {"source_context": 1, "target_context": 1}
    suites = ("sets/deixis_test.json", "sets/ellipsis_vp.json", "pronouns")
    options = ("--decoding", "window", "--contexts", "trained random")
    evaluated(FOCUSED, trained, *suites, *options)
    called, results, table = evaluated(FOCUSED, trained, *suites, *options, "--window", 3)
    assert results["translations"] == {"window", "window.random", "window.w3", "window.w3.random"}
    assert {value(words, "--data") for words in called["score"]} == {"data"}  # lower case is the folder's
    names = ("deixis_test+ellipsis_vp", "pronouns")
    assert results["contrast"] == {f"{name}{tag}" for name in names for tag in ("", ".w3")}
    for words in called["translate"] + called["contrast"]:
        assert (value(words, "--source-context"), value(words, "--target-context")) == ("2", "2")
    assert [value(words, "--context-selection") for words in called["translate"]] == [None, "random"]
    pronouns, consistency = called["contrast"]
    assert pronouns[1] == "pronouns" and consistency[1:3] == list(suites[:2])  # one set, one Disc.
    assert (value(pronouns, "--reduction"), value(pronouns, "--span")) == ("mean", "window")
    assert "pronouns.w3, accuracy (x)" in table


def test_a_side_without_context_stays_without(evaluated):
    trained = {"source_context": 1, "target_context": 0}
    called, _, _ = evaluated(THESIS, trained, "disambig.cs.json", "--window", 3)
    for words in called["translate"] + called["contrast"]:
        assert (value(words, "--source-context"), value(words, "--target-context")) == ("2", None)
    (disambig,) = called["contrast"]  # scores normalised by target length
    assert (value(disambig, "--reduction"), value(disambig, "--span")) == ("mean", "current")


def test_random_context_of_voita_is_shuffled(evaluated):
    called, results, _ = evaluated(GATED, {"source_context": 1}, "set", "--contexts", "random")
    (words,) = called["translate"]
    assert value(words, "--context-selection") == "shuffled" and results["translations"] == {"prefix.random"}
    assert "--reduction" not in called["contrast"][0]  # the suite's own


@pytest.fixture
def stubs(tmp_path):
    (tmp_path / "ctxmt").write_text(STUB)
    (tmp_path / "ctxmt").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    "options, words",
    [
        (("--window", "0"), "--window 0"),
        (("--window", "many"), "WINDOW=many"),
        (("--convention", "mean"), "--convention mean: expected suite"),
    ],
)
def test_refused_options(tmp_path, stubs, options, words):
    done = bash(FOCUSED / "evaluate.sh", "data", "run", "text", *options, path=stubs, cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1
