"""prepare.sh looks at all its inputs before the first command, and goes on where it was stopped."""

import shutil
from pathlib import Path

import pytest
import recipe_preparing
import recipe_steps

from tests.integration.recipes import FOCUSED, MTCUE, THESIS, start

SHORT = ("text/train", "text/dev", "data", "--target-lang", "fr")


def text(folder, *ends, names=("train", "dev")):
    (folder / "text").mkdir(exist_ok=True)
    for name in names:
        for end in ends:
            (folder / "text" / f"{name}.{end}").write_text("x\n")


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Stand-ins of the commands, which write what --out names; ``stop``: the place of one that is killed."""
    monkeypatch.chdir(tmp_path)

    class Commands:
        stop, ran = -1, []

        def __call__(self, words, dry, log=None):
            if len(self.ran) == self.stop:
                raise KeyboardInterrupt
            self.ran.append(list(map(str, words)))
            out = Path(words[words.index("--out") + 1]) if "--out" in words else None
            if words[1] == "corpus" and out:
                out.parent.mkdir(exist_ok=True)
                Path(f"{out}.counts.json").write_text("{}")
            elif out:
                out.mkdir(parents=True, exist_ok=True)
                (out / "ctxmt.json").write_text("{}")

    commands = Commands()
    commands.ran = []
    monkeypatch.setattr(recipe_steps, "run", commands)
    return commands


def refusal(capsys, paper, *arguments):
    assert start(paper / "prepare.sh", *arguments) == 2
    return capsys.readouterr().err


def test_the_text_is_there_first(tmp_path, commands, capsys):
    text(tmp_path, "en", "docids")
    assert refusal(capsys, FOCUSED, *SHORT) == "error: no such file: text/train.fr, text/dev.fr\n"
    text(tmp_path, "fr")
    (tmp_path / "text" / "dev.docids").unlink()
    assert "no such file: text/dev.docids\n" in refusal(capsys, FOCUSED, *SHORT)
    assert not commands.ran and not (tmp_path / "data").exists()
    assert start(FOCUSED / "prepare.sh", *SHORT, "--", "--blank-lines") == 0
    assert "data: exists; -- --overwrite replaces it" in refusal(
        capsys, FOCUSED, *SHORT, "--", "--blank-lines"
    )


def test_fields_are_there_first(tmp_path, commands, capsys, monkeypatch):
    text(tmp_path, "en", "fr", "docids", "meta.speaker")
    (tmp_path / "text" / "dev.meta.jsonl").write_text('{"genre": "Drama"}\n\n{"plot": "A plot."}\n')
    options = (*SHORT, "--encoders", "discrete", "--fields")
    message = "error: --fields rating,year: the metadata of the text has no such field\n"
    assert refusal(capsys, MTCUE, *options, "plot,year,speaker,rating") == message
    (tmp_path / "text" / "train.meta.jsonl").write_text("{\n")
    assert "text/train.meta.jsonl: Expecting" in refusal(capsys, MTCUE, *options, "plot")
    (tmp_path / "text" / "train.meta.jsonl").unlink()
    monkeypatch.setattr(recipe_preparing.importlib.util, "find_spec", lambda name: None)
    assert 'the extra "embed"' in refusal(capsys, MTCUE, *SHORT)
    assert not commands.ran
    assert start(MTCUE / "prepare.sh", *options, "genre,plot,speaker") == 0
    assert [words[1] for words in commands.ran] == ["preprocess", "embed"]


def test_downloads_are_there_first(tmp_path, commands, capsys):
    raw = tmp_path / "raw=folder"
    raw.mkdir()
    for name in ("en-fr.xml.gz", "en.zip"):
        (raw / name).write_text("")
    expected = ", ".join(str(raw / name) for name in ("fr.zip", "blocklist.fr", "omdb"))
    assert refusal(capsys, MTCUE, *SHORT, "--raw", raw) == f"error: no such file: {expected}\n"
    wmt = ("--raw", raw, "--corpus", "wmt")
    assert f", {raw}/paracrawl, " in refusal(capsys, THESIS, *SHORT, *wmt)
    (raw / "paracrawl.en").write_text("")  # a corpus is named by its prefix
    assert "paracrawl" not in refusal(capsys, THESIS, *SHORT, *wmt)
    assert not commands.ran


def test_it_goes_on_where_it_was_stopped(tmp_path, commands, capsys):
    for name in ("en-fr.xml.gz", "en.zip", "fr.zip", "blocklist.fr", "omdb"):
        (tmp_path / "raw").mkdir(exist_ok=True)
        (tmp_path / "raw" / name).write_text("")
    arguments = (*SHORT, "--raw", "raw", "--encoders", "discrete")
    assert start(MTCUE / "prepare.sh", *arguments) == 0
    whole, record = list(commands.ran), tmp_path / "data-unfinished"
    assert len(whole) == 8 and not record.exists()
    for stop in range(len(whole)):
        for name in ("data", "text"):
            shutil.rmtree(tmp_path / name)
        commands.ran, commands.stop = [], stop
        with pytest.raises(KeyboardInterrupt):
            start(MTCUE / "prepare.sh", *arguments)
        assert record.exists()
        commands.stop = -1
        if stop == 5:  # the downloads of finished commands are not needed any more
            (tmp_path / "raw" / "en.zip").unlink()
        assert start(MTCUE / "prepare.sh", *arguments) == 0
        assert commands.ran == whole and not record.exists()
        (tmp_path / "raw" / "en.zip").write_text("")


def test_what_is_gone_or_changed_is_made_again(tmp_path, commands):
    text(tmp_path, "en", "fr", "docids")
    options = (*SHORT, "--encoders", "discrete")
    commands.stop = 1
    with pytest.raises(KeyboardInterrupt):
        start(MTCUE / "prepare.sh", *options)
    shutil.rmtree(tmp_path / "data")
    commands.ran, commands.stop = [], 1
    with pytest.raises(KeyboardInterrupt):
        start(MTCUE / "prepare.sh", *options)
    assert [words[1] for words in commands.ran] == ["preprocess"]
    commands.ran, commands.stop = [], -1
    assert start(MTCUE / "prepare.sh", *options, "--vocab-size", 9, "--", "--overwrite") == 0
    assert [words[1] for words in commands.ran] == ["preprocess", "embed"]
