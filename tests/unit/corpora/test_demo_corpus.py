"""The command that writes the demo corpus."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Dict

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus


def contents(folder: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments: object) -> subprocess.CompletedProcess:
    # The console script's function, so that the test needs no install.
    code = "import sys; from ctxmt_fairseq.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, "demo-corpus", *map(str, arguments)], capture_output=True, text=True
    )


def test_the_command_writes_the_same_files_for_the_same_options(tmp_path):
    options = ("--documents", 30, "--evaluation-documents", 4, "--document-length", 5, "--examples", 6)
    table = run(tmp_path / "a/b", *options)
    assert table.returncode == 0 and "train" in table.stdout and "cataphora" in table.stdout
    assert "%" not in table.stderr  # no progress bar where stderr is no terminal
    report = run(tmp_path / "c", *options, "--json")
    train = json.loads(report.stdout)["splits"][0]
    assert (train["documents"], train["sentences"]) == (30, 150)
    assert contents(tmp_path / "a/b") == contents(tmp_path / "c")
    write_demo_corpus(tmp_path / "d", 2, 30, 4, 5, 6)
    assert contents(tmp_path / "c")["train.en"] != contents(tmp_path / "d")["train.en"]


def test_the_command_refuses_bad_options_in_one_line(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    failed = run(tmp_path / "full")
    assert failed.returncode == 2
    assert "expected a new or empty folder" in failed.stderr.splitlines()[-1]
    assert list((tmp_path / "full").iterdir()) == [tmp_path / "full/file"]
    failed = run(tmp_path / "new", "--phenomena", "", "--documents", 1, "--examples", 2)
    assert failed.returncode == 2 and "expected phenomena" in failed.stderr.splitlines()[-1]


@pytest.mark.parametrize("examples", [3, 0])
def test_numbers_out_of_range_write_nothing(tmp_path, examples):
    with pytest.raises(BadInput, match="expected"):
        write_demo_corpus(tmp_path / "x", examples=examples)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ctxmt_fairseq.corpora.demo_corpus.write.document", fail)
    with pytest.raises(KeyboardInterrupt):
        write_demo_corpus(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_documents_about_few_phenomena(tmp_path):
    write_demo_corpus(tmp_path / "few", 1, 20, 2, examples=4, phenomena=["deixis", "speaker-gender"])
    write_demo_corpus(tmp_path / "all", 1, 20, 2, examples=4)
    few, everything = (contents(tmp_path / name) for name in ("few", "all"))
    assert few.keys() == everything.keys()
    sets = [name for name in few if name.startswith("contrastive")]
    assert sets and all(few[name] == everything[name] for name in sets)
    french = few["train.fr"].decode().splitlines()
    person = [line for line in french if line.startswith(("Je suis", "J'étais"))]
    assert len(french) / 4 < len(person) < len(french) * 3 / 4
    with pytest.raises(BadInput, match="weather"):
        write_demo_corpus(tmp_path / "x", phenomena=["weather"])
