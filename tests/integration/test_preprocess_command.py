"""ctxmt preprocess as a user runs it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from ctxmt_fairseq.cli.main import main
from tests.integration.commands import ENVIRONMENT, command

CTXMT = Path(sys.executable).with_name("ctxmt")


def ctxmt(*arguments, cwd):
    command = [str(CTXMT), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}
    )


def test_text_to_data_folder_and_test_set_like_it(tmp_path):
    for name in ("train", "valid"):
        (tmp_path / f"{name}.en").write_text("the cats run\n\nthe dog runs home\n" * 20)
        (tmp_path / f"{name}.de").write_text("die Katzen laufen\nleer\nder Hund läuft heim\n" * 20)
        (tmp_path / f"{name}.docids").write_text("a\na\nb\n" * 20)
    languages = ("--source-lang", "en", "--target-lang", "de")
    done = ctxmt(
        "preprocess", *languages, "--train", "train", "--valid", "valid,train", "--vocab-size", 36,
        "--workers", 2, "--out", "data, one", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:4] for line in done.stdout.splitlines()]
    rows, shared = rows[:-3], rows[-3:]  # the table, and what the splits share
    assert shared[0][:2] == ["train", "has"] and rows[0] == ["split", "lang", "sentences", "documents"]
    assert rows[1:] == [
        [split, x, "60", "40"] for split in ("train", "valid", "valid1") for x in ("en", "de")
    ]
    assert "returns after another document" in done.stderr and "%|" not in done.stderr
    names = {path.name for path in (tmp_path / "data, one").iterdir()}
    assert {"ctxmt.json", "spm.model", "dict.en.txt", "valid1.en-de.de.bin", "valid1.en-de.docids"} <= names
    assert "text" not in names

    (tmp_path / "test.en").write_text("the cat\n\nthe dogs\n")
    (tmp_path / "test.de").write_text("die Katze\n\ndie Hunde\n")
    more = (*languages, "--test", "test", "--like", "data, one", "--out", "more/test")
    done = ctxmt("preprocess", *more, "--blank-lines", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    description = json.loads((tmp_path / "more" / "test" / "ctxmt.json").read_text())
    assert description["splits"]["test"]["documents"] == 2

    done = ctxmt("preprocess", *more, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr.strip().splitlines()[-1].startswith("ctxmt: error: test.docids: no such file; expected")
    )


def test_killed_and_run_again_it_leaves_only_the_data_folder(tmp_path):
    texts = {"en": "the cats run home\n", "de": "die Katzen laufen heim\n", "docids": "a\n"}
    for suffix, line in texts.items():
        (tmp_path / f"train.{suffix}").write_text(line * 200_000)
    options = ["--source-lang", "en", "--target-lang", "de", "--train", str(tmp_path / "train")]
    options += ["--no-subwords", "--workers", "2", "--out", str(tmp_path / "data")]
    process = subprocess.Popen(command("ctxmt", "preprocess", *options), env=ENVIRONMENT)
    while not list(tmp_path.glob(".ctxmt-*/text/train.en")):
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert list(tmp_path.glob(".*"))
    for suffix, line in texts.items():
        (tmp_path / f"train.{suffix}").write_text(line * 20)
    assert main(["preprocess", *options]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data",
        "train.de",
        "train.docids",
        "train.en",
    ]
