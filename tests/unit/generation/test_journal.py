"""The journal that makes ``ctxmt translate`` and others resumable: what it continues, what it refuses."""

import os

import pytest

from ctxmt_fairseq.base import journal as module
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.generation.translate_files import KeptTranslations
from tests.unit.base.test_output_files import largest_file

RECORDS = {line: {"tokens": [line, 2], "score": -0.5} for line in range(3)}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def journal(folder, run="run", lines=3, symbols=4):
    return KeptTranslations(folder / "out", run, lines, symbols)


@pytest.fixture
def whole(tmp_path):
    """The bytes of a journal with three translations, which a killed run left."""
    with journal(tmp_path) as left:
        for line, record in RECORDS.items():
            left.translated(line, **record)
    return left.path.read_bytes()


def test_it_continues_after_any_cut(tmp_path, whole):
    path = tmp_path / "out.partial"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        lines = whole[:size].count(b"\n")
        with journal(tmp_path) as resumed:
            assert resumed.done == {line: RECORDS[line] for line in range(max(0, lines - 1))}
            for line in range(max(0, lines - 1), 3):
                resumed.translated(line, **RECORDS[line])
        assert path.read_bytes() == whole and names(tmp_path) == ["out.partial"]
    with journal(tmp_path) as resumed:
        resumed.finished = True
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "first",
    [
        b'{"run": "other"}\n',
        b'{"run": "' + b"x" * 1000 + b'"}\n',
        b'{"run": "run"} \n',
        b"\n",
        b"[]\n",
        b"a text of the user's\n",
        b"a text of the user's without a newline",
        b'{"line": 1}\n',
        b"[" * 100_000,
        b"\xff\n",
    ],
)
def test_what_is_no_journal_of_this_run_stays_untouched(tmp_path, first):
    path = tmp_path / "out.partial"
    for more in (b"", b"more\n"):
        path.write_bytes(first + more)
        with pytest.raises(
            BadInput, match="out.partial: is of another run .* or somebody else's file; delete it"
        ):
            journal(tmp_path)
        assert path.read_bytes() == first + more and names(tmp_path) == ["out.partial"]


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"3",
        b"half a line",
        b"[" * 100_000,
        b'{"line": 0, "tokens": [1, 2]}',
        b'{"line": 3, "tokens": [1, 2], "score": -0.5}',
        b'{"line": -1, "tokens": [1, 2], "score": -0.5}',
        b'{"line": true, "tokens": [1, 2], "score": -0.5}',
        b'{"line": 0, "tokens": [4], "score": -0.5}',
        b'{"line": 0, "tokens": [-1], "score": -0.5}',
        b'{"line": 0, "tokens": ["1"], "score": -0.5}',
        b'{"line": 0, "tokens": 1, "score": -0.5}',
        b'{"line": 0, "tokens": [1, 2], "score": "-0.5"}',
        b'{"line": 0, "tokens": [1, 2], "score": ' + b"1" * 5000 + b"}",
    ],
)
def test_lines_that_are_no_translations_are_named(tmp_path, whole, line):
    path = tmp_path / "out.partial"
    path.write_bytes(whole + line + b"\n")
    with pytest.raises(BadInput, match="out.partial:5: is no translation of this run; delete the file"):
        journal(tmp_path)
    assert path.read_bytes() == whole + line + b"\n"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_folders_and_pipes_of_its_name_are_refused(tmp_path, make):
    make(tmp_path / "out.partial")
    with pytest.raises(BadInput, match="out.partial: cannot be written: "):
        journal(tmp_path)


def test_the_second_of_two_runs_is_told(tmp_path):
    with journal(tmp_path) as first:
        first.translated(0, **RECORDS[0])
        for run in ("run", "other"):
            with pytest.raises(BadInput, match="out.partial: another ctxmt is writing to it"):
                journal(tmp_path, run)
        first.translated(1, **RECORDS[1])
    with journal(tmp_path) as resumed:
        assert resumed.done == {line: RECORDS[line] for line in range(2)}


def test_a_run_that_ends_while_the_next_begins_hands_over_nothing(tmp_path, monkeypatch):
    ended = []

    class Late(module.Lock):
        def __init__(self, path):
            super().__init__(path)
            if not ended:  # the first run deletes its journal between our opening it and locking it
                ended.append(path)
                path.unlink()

    with journal(tmp_path) as first:
        first.translated(0, **RECORDS[0])
    monkeypatch.setattr(module, "Lock", Late)
    with journal(tmp_path) as second:
        assert second.done == {} and second.path.exists() and ended


def test_nothing_is_left_of_a_run_that_translated_nothing(tmp_path):
    with pytest.raises(RuntimeError), journal(tmp_path):
        raise RuntimeError
    assert names(tmp_path) == []


def test_on_a_full_disk_what_was_translated_stays(tmp_path):
    with journal(tmp_path, lines=100) as first:
        with (
            largest_file(300),
            pytest.raises(BadInput, match="out.partial: cannot be written: File too"),
        ):
            for line in range(100):
                first.translated(line, **RECORDS[0])
    with journal(tmp_path, lines=100) as resumed:
        assert resumed.done == dict.fromkeys(range(len(resumed.done)), RECORDS[0]) and len(resumed.done) > 3


def test_fingerprint_tells_runs_apart():
    assert (
        fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1}) != fingerprint({"a": 1, "b": [3]})
    )
