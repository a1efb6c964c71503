"""What ``ctxmt translate`` reads."""

import json
import os

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.input_documents import (
    iterate_documents,
    read_blank_line_documents,
    read_joined,
    read_json_lines,
    read_with_ids,
)


def file(folder, name, *lines):
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return folder / name


def test_text_with_ids_and_flags(tmp_path):
    text = file(tmp_path, "text", "a", "", " c ")
    ids = file(tmp_path, "ids", "1", "1", "2")
    read = read_with_ids(text, ids, file(tmp_path, "current", "0", "1", "1"))
    assert read.sentences == ["a", "", "c"] and read.documents.starts.tolist() == [0, 2, 3]
    assert read.current.tolist() == [False, True, True]
    assert (read.output_lines.tolist(), read.height) == ([0, 1, 2], 3)
    with pytest.raises(BadInput, match="current:2: expected 0 or 1, found 'x'"):
        read_with_ids(text, ids, file(tmp_path, "current", "0", "x", "1"))
    with pytest.raises(BadInput, match="expected 3 lines"):
        read_with_ids(text, ids, file(tmp_path, "current", "0"))


@pytest.mark.parametrize(
    ("lines", "starts", "output_lines"),
    [
        (["a", "b", "", "c"], [0, 2, 3], [0, 1, 3]),
        (["", "", "a", "", " ", "b", ""], [0, 1, 2], [2, 5]),
        (["", ""], [0], []),
        ([], [0], []),
    ],
)
def test_blank_lines_end_documents(tmp_path, lines, starts, output_lines):
    read = read_blank_line_documents(file(tmp_path, "text", *lines))
    assert read.documents.starts.tolist() == starts
    assert (read.output_lines.tolist(), read.height) == (output_lines, len(lines))


def test_joined_sentences(tmp_path):
    """A line is a document, its last sentence the one to translate."""
    read = read_joined(file(tmp_path, "text", "a.<eos> b.<eos> c.", "", "d.", "<eos>e."), "<eos>")
    assert read.sentences == ["a.", "b.", "c.", "", "d.", "", "e."]
    assert read.documents.starts.tolist() == [0, 3, 4, 5, 7]
    assert read.current.tolist() == [False, False, True, True, True, False, True]
    assert (read.output_lines.tolist(), read.height) == ([0, 0, 0, 1, 2, 3, 3], 4)
    for lines in ([], ["a <sep2> b"]):
        with pytest.raises(BadInput, match="text: expected sentences joined by '<eos>', found none"):
            read_joined(file(tmp_path, "text", *lines), "<eos>")


def test_documents_of_standard_input_come_as_soon_as_they_have_ended():
    readable, writable = os.pipe()
    before = os.dup(0)
    os.dup2(readable, 0)
    try:
        documents = iterate_documents("-")
        os.write(writable, b"one\ntwo\n\n")
        first = next(documents)  # the pipe is still open
        os.write(writable, b"\nthree")
        os.close(writable)
        (last,) = documents
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(readable)
    assert first.sentences == ["one", "two"] and (first.height, last.height) == (3, 2)
    assert last.sentences == ["three"] and last.place(0) == "-:5"


@pytest.mark.timeout(10)
def test_many_blank_lines_take_no_quadratic_time(tmp_path):
    (tmp_path / "text").write_text("\n" * 60_000 + "one\n\ntwo\n")
    first, last = iterate_documents(tmp_path / "text")
    assert (first.place(0), first.height, last.place(0)) == (
        f"{tmp_path}/text:60001",
        60_002,
        f"{tmp_path}/text:60003",
    )


@pytest.mark.parametrize("option", ["--json-lines", "--docids x", "--current x", "--target-context-from x"])
def test_joined_sentences_have_no_other_form(refusal, option):
    line = refusal(main, ["translate", "nowhere.pt", "text", "--joined", "<eos>", *option.split()])
    assert line.startswith("ctxmt: error: leave out --json-lines, ")


@pytest.mark.parametrize(
    "options", ["a --json-lines --docids x", "a.jsonl --docids x", "a.jsonl --current x"]
)
def test_json_lines_have_no_other_form(refusal, options):
    assert refusal(main, ["translate", "nowhere.pt", *options.split()]).endswith(
        "leave out --docids, --current"
    )


def test_json_lines(tmp_path):
    records = [{"source": "a", "document": 1}, {"source": "", "document": "x", "current": False}]
    read = read_json_lines(file(tmp_path, "in", *map(json.dumps, records)))
    assert read.sentences == ["a", ""] and read.documents.starts.tolist() == [0, 1, 2]
    assert read.current.tolist() == [True, False]


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[1]",
        "3",
        '{"source": "a"}',
        '{"source": 3, "document": "x"}',
        '{"source": "a", "document": " "}',
        '{"source": "a", "document": "x", "current": 1}',
        '{"source": "a\\nb", "document": "x"}',
        '{"source": "a", "document": "x", "translation": "b"}',
        "",
    ],
)
def test_bad_json_lines_are_named(tmp_path, line):
    path = file(tmp_path, "in", '{"source": "a", "document": "x"}', line)
    with pytest.raises(BadInput, match="in:2: "):
        read_json_lines(path)
