"""README, from the text to the comparison: its commands and its Python as they are, in an empty folder."""

import re

import pytest

from tests.helpers.documented import ROOT, blocks, commands
from tests.integration.commands import USER_DIR, read, run

PAGE = ROOT / "README.md"


def smaller(program, words):
    """The command with few updates and, but for translation, nothing else changed."""
    words = list(words)
    if "--max-update" in words:
        words[words.index("--max-update") + 1] = "6"
    return [program, *words]


LINES = {"train": 3000, "valid": 60, "test": 8}


def shorten(folder):
    """The text that a command has written, cut to the first two lines of some documents."""
    for split, most in LINES.items():
        ids = read(folder / f"text/{split}.docids")
        kept = [line for line, name in enumerate(ids) if line < 2 or name != ids[line - 2]][:most]
        for path in folder.glob(f"text/{split}.*"):
            lines = read(path)
            path.write_text("".join(f"{lines[line]}\n" for line in kept))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands have run; ``printed`` has the output of each."""
    folder = tmp_path_factory.mktemp("readme")
    found, complaints = commands(PAGE, folder, USER_DIR)
    assert complaints == ""
    printed = folder / "printed"
    printed.mkdir()
    for number, (program, *words) in enumerate(found):
        done = run(*smaller(program, words), cwd=folder)
        (printed / f"{number:02} {words[0]}").write_text(done.stdout)
        if words[0] == "demo-corpus":
            shorten(folder)
    return folder


def test_the_commands_of_the_page(folder):
    ran = [path.name[3:] for path in sorted((folder / "printed").iterdir())]
    measured = ["translate", *["evaluate"] * 3, "compare", "probe", "report", "analyse"]
    assert ran == ["demo-corpus", "preprocess", *["train"] * 3, *measured]
    assert len(read(folder / "gated.fr")) == LINES["test"] and (folder / "report.html").exists()
    assert r"\toprule" in (folder / "printed/12 analyse").read_text()
    for number, system in enumerate(("sentence", "gated", "windows"), 2):
        best, next_command, _ = read(folder / f"printed/{number:02} train")[-3:]
        assert re.fullmatch(r"best validation: loss [0-9.]+ after 6 updates", best)
        assert f"ctxmt translate runs/{system}/checkpoints/checkpoint_best.pt TEXT.en" in next_command


def test_the_python_of_the_page(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (code,) = blocks(PAGE, "python")
    exec(code, {})
    translations, score = capsys.readouterr().out.splitlines()
    assert translations.startswith("[[") and float(score) < 0
