"""What a command reads it does not write over, whether an option names it, a prefix, or another output."""

import json
import os
from pathlib import Path
from typing import List, Optional

import pytest

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import check_outputs, keeping, write_file, write_files
from ctxmt_fairseq.base.paths import Folder, Input, Joined, Language, Named, Output, Prefix, Weighted
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, new_folder


def test_kept_files_are_not_written_within_the_block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(name).write_text(name)
    Path("link").symlink_to("a")
    with keeping(["a"]), keeping([tmp_path / "b"]):
        for name in ("a", "link", "b"):
            for write in (check_outputs, lambda path: write_file(path, "x")):
                with pytest.raises(BadInput, match=f"{name}: cannot be written: this command reads it"):
                    write(name)
        write_file("c", "c")
    write_file("a", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "new", "link": "new", "b": "b", "c": "c",
    }  # fmt: skip


def test_a_data_folder_with_kept_files_is_not_replaced(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in (DESCRIPTION, "train.en"):
        (folder / name).touch()
    for kept in (folder, folder / "train.en"):
        with keeping([kept]), pytest.raises(BadInput, match="cannot be replaced: this command reads .*data"):
            new_folder(folder, True).__enter__()
    with keeping([tmp_path / "data.en", tmp_path]), new_folder(folder, True):
        pass


def test_outdated_files_are_removed_with_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old").touch()
    with pytest.raises(BadInput):
        write_files([("new", "x"), ("old", None), ("no/folder", "x")])
    assert os.listdir() == ["old"]
    write_files([("new", "x"), ("old", None), ("never", None)])
    assert os.listdir() == ["new"]


class Reads(Command):
    path: Joined = argument("MODEL", "joined by colons")
    systems: List[Named] = option("")
    docs: Optional[Input] = option("")
    data: Optional[Folder] = option("")
    prefix: Prefix = option("")
    valid: Optional[Prefix] = option("joined by commas")
    corpora: List[Weighted] = option("")
    held_out: List[Named] = option("")
    source_lang: Language = option("")
    target_lang: Language = option("")
    beside: List[List[Input]] = option("")
    tags: Optional[str] = option("")
    out: Output = option("")

    def run(self):
        for name in sorted(path.name for path in Path().rglob("*") if path.is_file()):
            try:
                write_file(next(path for path in Path().rglob(name)), "")
            except BadInput:
                print(name)


def test_every_file_that_a_command_names_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    files = """a b c d.en d.fr d.docids d.current d.meta.jsonl d.meta.genre d.deu d.json e.en f f.en g h m n
        list x y data/ctxmt.json data/dict.en.txt data/train.en-fr.en.bin"""
    for name in files.split():
        Path(name).touch()
    command = Reads(
        path=Joined("m:n"),
        systems=[Named("x=b"), Named("y=no"), Named("a")],
        docs=Input("c"),
        data=Folder("data"),
        prefix=Prefix("d"),
        valid=Prefix("e,no"),
        corpora=[Weighted("f=2")],
        held_out=[Named("d=list")],
        source_lang=Language("de"),
        target_lang=Language("deu"),
        beside=[[Input("h")]],
        tags="x",
        out=Output("g"),
    )
    command.start()
    expected = """a b c d.en d.fr d.docids d.current d.meta.jsonl d.meta.genre d.deu e.en f f.en h list m n
        ctxmt.json dict.en.txt"""
    assert capsys.readouterr().out.split() == sorted(expected.split())


WORDS = "a b\nc d\n"
LANGUAGES = "--source-lang en --target-lang de"
COMMANDS = {
    "score": ("score t.en t.de --json t.de", "t.de"),
    "translate": ("translate m.pt t.en --docids t.docids --output t.en", "t.en"),
    "translate's target context": ("translate m.pt t.en --target-context-from p --output p", "p"),
    "contrast": ("contrast m.pt dx.json --json dx.json", "dx.json"),
    "probe": ("probe m.pt t --words t.de", "t.de"),
    "compare lines": ("compare lines t.en t.de t.de p --json p", "p"),
    "metadata": ("compare lines t.en t.de t.de p --metadata set.jsonl --json set.jsonl", "set.jsonl"),
    "analyse results": ("analyse results a=dx.json --json dx.json", "dx.json"),
    "analyse contexts": ("analyse contexts m.pt --scores dx.json --output dx.png", "dx.json"),
    "corpus stats": (f"corpus stats t {LANGUAGES} --lengths t.docids", "t.docids"),
    "corpus moses": (f"corpus moses --source t.en --target t.de --ids p {LANGUAGES} --out t", "t.en"),
    "corpus mix": (f"corpus mix t=2 {LANGUAGES} --out t", "t.en"),
    "corpus split": (f"corpus split t {LANGUAGES} --held-out u=0.5 --out t", "t.en"),
    "the list of held-out documents": (
        f"corpus split t {LANGUAGES} --held-out u=u.docids --out v",
        "u.docids",
    ),
    "one of several models": ("translate m.pt:p t.en --output p", "p"),
    "what a data folder is": (
        f"corpus stats t {LANGUAGES} --data data --json data/ctxmt.json",
        "data/ctxmt.json",
    ),
    "corpus filter select": (
        f"corpus filter select t {LANGUAGES} --scores p --threshold 0.5 --document-scores p --out u",
        "p",
    ),
    "control attributes": ("control attributes m.pt set.jsonl --translations set.jsonl", "set.jsonl"),
    "preprocess": (f"preprocess --train data/t {LANGUAGES} --out data --overwrite", "data"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_stays_as_it_was(tmp_path, monkeypatch, refusal, command):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data", DESCRIPTION).write_text("{}")
    for folder in ("", "data/"):
        for suffix in ("en", "de", "docids"):
            Path(f"{folder}t.{suffix}").write_text(WORDS)
    for name in ("m.pt", "p", "u.docids", "dx.json", "set.jsonl"):
        Path(name).write_text(WORDS)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    line, named = COMMANDS[command]
    error = refusal(main, line.split())
    assert error.startswith(f"ctxmt: error: {named}: cannot be "), error
    assert "this command reads" in error
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_earlier_output_is_replaced(tmp_path, monkeypatch):
    """Also one beside the files of a corpus, whose prefix is an input."""
    monkeypatch.chdir(tmp_path)
    for name in ("t.en", "t.de"):
        Path(name).write_text(WORDS)
    for _ in range(2):
        main(["score", "t.en", "t.de", "--json", "t.json"])
        main(["score", "t.en", "t.de", "--json", "score"])
        main(f"corpus mix t {LANGUAGES} --out mix".split())
        main(f"corpus stats t {LANGUAGES} --json t.stats.json --lengths t.tsv".split())
    assert json.loads(Path("t.json").read_text())["sentences"] == 2
