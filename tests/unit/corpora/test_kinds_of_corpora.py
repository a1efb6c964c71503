"""A corpus of another kind than a command reads: the error names the command for it."""

import pytest

from ctxmt_fairseq.cli.main import main
from tests.helpers.corpus_files import convert


@pytest.mark.parametrize(
    "content, command",
    [
        ('<?xml version="1.0"?>\n<tmx version="1.4">', "corpus tmx"),
        ("<!DOCTYPE cesAlign>\n<cesAlign>", "corpus opensubtitles or opus"),
        ('<srcset setid="x">', "corpus wmt"),
        ("[0, 1]:[0]:0.123\n", "corpus aligned"),
        ("<url>http://www.ted.com", "corpus ted"),
        ("<CHAPTER ID=1>\n", "corpus europarl"),
        ("PK\3\4", "unpack it"),
    ],
)
def test_another_kind_of_file_is_named(tmp_path, refusal, content, command):
    error = refusal(convert, tmp_path, "records", {"raw": content}, "raw", "--preset", "news-commentary")
    assert "this looks like" in error and command in error


@pytest.mark.parametrize(
    "kind, options, content, words",
    [
        ("ted", "--source a --target b", '{"s": "A"}\n', "looks like JSON lines: use ctxmt corpus records"),
        (
            "tmx",
            "--tmx a",
            "<CHAPTER ID=1>\nA\n",
            "looks like Europarl with its tags: use ctxmt corpus europarl",
        ),
        (
            "opus",
            "--alignment a --xml .",
            '<tmx version="1.4"><body/></tmx>',
            "like TMX: use ctxmt corpus tmx",
        ),
        ("wmt", "--source a --target b", '<srcset setid="x">', "has no talks (<doc docid=...>, <talkid>)\n"),
    ],
)
def test_every_command_names_another_for_its_kind(
    tmp_path, refusal, monkeypatch, kind, options, content, words
):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text(content)
    languages = ("--source-lang", "en", "--target-lang", "fr", "--out", "out")
    assert words in refusal(main, ["corpus", kind, *options.split(), *languages]) + "\n"
