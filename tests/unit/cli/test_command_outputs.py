"""The outputs of commands: checked before the work, all or none, whatever lies at their names."""

import json
import os
import stat

import pytest

from ctxmt_fairseq.cli.main import main
from tests.unit.base.test_output_files import names, reader


@pytest.fixture
def score(tmp_path, monkeypatch):
    """``ctxmt score`` of a small translation, given the name of its output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hyp").write_text("a small translation of one line\n")

    def run(output):
        return main(["score", "hyp", "hyp", "--json", output])

    return run


def test_a_pipe_and_a_link_are_written_and_stay(tmp_path, score):
    os.mkfifo(tmp_path / "fifo")
    with reader(tmp_path / "fifo") as found:
        score("fifo")
    assert found[0].startswith(b"{") and stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    (tmp_path / "link").symlink_to("real")
    score("link")
    scores = [json.loads(content)["scores"] for content in (found[0], (tmp_path / "real").read_bytes())]
    assert (tmp_path / "link").is_symlink() and scores[0] == scores[1]
    assert names(tmp_path) == ["fifo", "hyp", "link", "real"]


def test_files_are_written_though_nobody_reads_the_table_on(tmp_path, score, monkeypatch):
    receive, send = os.pipe()
    os.close(receive)  # as head does, once it has its lines
    with open(send, "w", buffering=1) as closed:
        monkeypatch.setattr("sys.stdout", closed)
        assert score("scores.json") == 1
    assert json.loads((tmp_path / "scores.json").read_text())["sentences"] == 1


MODEL, MISSING = "model.pt", "missing/out"
COMMANDS = {
    "score": ["score", "hyp", "hyp", "--json", MISSING],
    "score-forms": ["score-forms", "set", "hyp", "--json", "good", "--examples", MISSING],
    "contrast": ["contrast", MODEL, "set", "--json", "good", "--examples", MISSING],
    "probe": ["probe", MODEL, "text", "--json", "good", "--words", MISSING],
    "probe plot": ["probe", MODEL, "text", "--plot", MISSING + ".png"],
    "translate": ["translate", MODEL, "hyp", "--output", MISSING],
    "embed": ["embed", "data", "--train", "x", "--json", MISSING],
    "control attributes": ["control", "attributes", MODEL, "set", "--json", "good", "--examples", MISSING],
    "compare contrast": ["compare", "contrast", "a", "b", "--json", MISSING],
    "compare translations": ["compare", "translations", "hyp", "hyp", "hyp", "--json", MISSING],
    "analyse attention": ["analyse", "attention", MODEL, "--sentence", "x", "--output", MISSING + ".png"],
    "analyse groups": ["analyse", "groups", MODEL, "--sentence", "x", "--output", MISSING + ".png"],
    "analyse group-use": ["analyse", "group-use", MODEL, "x", "--json", MISSING],
    "analyse consistency": [
        "analyse",
        "consistency",
        "x",
        "x",
        "--docids",
        "x",
        "--json",
        "good",
        "--terms",
        MISSING,
    ],
    "analyse curves": ["analyse", "curves", "x", "--output", MISSING + ".png"],
    "analyse attention-words --by sentence": [
        *("analyse", "attention-words", MODEL, "x", "--by", "sentence", "--json", MISSING)
    ],
    "analyse results": ["analyse", "results", "x", "--json", MISSING],
    "analyse results picture": ["analyse", "results", "x", "--output", MISSING + ".png"],
    "compare lines": ["compare", "lines", "x", "x", "x", "x", "--json", MISSING],
    "analyse contexts": ["analyse", "contexts", MODEL, "--texts", "x", "--output", MISSING + ".png"],
    "report": ["report", "run", "--output", MISSING],
    "compare pronouns": ["compare", "pronouns", "a", "b", "c", "--coreference", "d", "--json", MISSING],
    "analyse antecedents": ["analyse", "antecedents", MODEL, "x", "--coreference", "c", "--json", MISSING],
    "analyse attention-words": ["analyse", "attention-words", MODEL, "x", "--json", MISSING],
    "corpus annotate": ["corpus", "annotate", "x", "--lang", "fr", "--output", MISSING],
    "corpus align": ["corpus", "align", "x", "y", "--output", MISSING],
    "average": ["average", ".", "--output", MISSING],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_is_said_first(tmp_path, monkeypatch, refusal, command):
    """Nothing else that is wrong with these calls is noticed: no model, no text is read."""
    monkeypatch.chdir(tmp_path)
    line = refusal(main, COMMANDS[command])
    assert line.startswith("ctxmt: error: missing/out")
    assert "cannot be written: no such folder" in line and names(tmp_path) == []


TWICE = {
    "analyse group-use": ["analyse", "group-use", MODEL, "x", "--output", "a.png", "--json", "a.json"],
    "analyse attention-share": [
        "analyse",
        "attention-share",
        MODEL,
        "x",
        "--output",
        "a.png",
        "--json",
        "a.tsv",
    ],
    "analyse attention-words": [
        *("analyse", "attention-words", MODEL, "x", "--output", "a.png", "--json", "a.positions.csv")
    ],
    "analyse lengths": ["analyse", "lengths", "x", "x", "x", "--output", "a.png", "--json", "a.csv"],
    "analyse results": ["analyse", "results", "x", "--output", "a.png", "--json", "a.csv"],
    "corpus stats": [
        *("corpus", "stats", "x", "--source-lang", "a", "--target-lang", "b", "--plot", "a.png"),
        *("--lengths", "a.png"),
    ],
}


@pytest.mark.parametrize("command", TWICE)
def test_a_picture_or_its_numbers_and_another_output_are_not_one_file(
    tmp_path, monkeypatch, refusal, command
):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    line = refusal(main, TWICE[command])
    assert line.startswith(f"ctxmt: error: {TWICE[command][-1]}: cannot be written")
    assert line.endswith("two outputs have this name; rename one") and names(tmp_path) == []
