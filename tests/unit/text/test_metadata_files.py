"""Both layouts of metadata, one reader."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.input_documents import read_blank_line_documents, read_metadata
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.metadata_text import parse_metadata

VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\ufeff"), max_size=5)
ROWS = st.lists(st.fixed_dictionaries({}, optional={name: VALUES for name in "abc"}), min_size=1, max_size=6)
# as the Open Movie Database answers
RECORD = {
    "Title": "Supernatural",
    "Year": "2005-2020",
    "Rated": "TV-14",
    "Writer": "Eric Kripke",
    "Ratings": [
        {"Source": "Internet Movie Database", "Value": "8.4/10"},
        {"Source": "Metacritic", "Value": "66/100"},
    ],
    "Metascore": "N/A",
}


def write(folder, **files):
    """Files text.SUFFIX from lists of lines, with _ for the dots of a suffix; the prefix of them."""
    for suffix, lines in files.items():
        text = "".join(line + "\n" for line in lines)
        (folder / f"text.{suffix.replace('_', '.')}").write_text(text, encoding="utf-8")
    return folder / "text"


@given(ROWS, st.sets(st.sampled_from("abc")))
def test_layouts_say_the_same(tmp_path_factory, rows, apart):
    """Fields in files of their own, in objects, or some here and some there."""
    folder = tmp_path_factory.mktemp("layouts")
    files = {f"meta_{name}": [row.get(name, "") for row in rows] for name in apart}
    objects = [json.dumps({k: v for k, v in row.items() if k not in apart}) for row in rows]
    if len(apart) < 3:
        files["meta_jsonl"] = objects
    metadata = MetadataFiles.beside(write(folder, **files))
    known = [{name: value for name, value in row.items() if value.strip()} for row in rows]
    assert list(metadata.lines()) == known
    numbered = [(number, number) for number in range(1, len(rows) + 1)]
    assert list(metadata.of_rows(numbered)) == [(n, known[n - 1]) for n, _ in numbered]
    some = numbered[(len(rows) - 1) % 2 :: 2]  # lines may be passed over
    assert list(metadata.of_rows(some)) == [(n, known[n - 1]) for n, _ in some]


def test_translate_reads_a_prefix_or_a_file(tmp_path):
    prefix = write(tmp_path, en=["One.", "", "Two."], meta_jsonl=['{"a": "1"}', "", "{}"])
    documents = read_blank_line_documents(f"{prefix}.en")
    assert read_metadata(f"{prefix}.meta.jsonl", documents) == [{"a": "1"}, {}]
    assert read_metadata(prefix, documents) == [{"a": "1"}, {}]
    write(tmp_path, meta_b=["", "", "2"])
    assert read_metadata(prefix, documents) == [{"a": "1"}, {"b": "2"}]
    assert read_metadata(f"{prefix}.meta.jsonl", documents) == [{"a": "1"}, {}]  # this file alone
    (tmp_path / "text.meta.jsonl").unlink()
    assert read_metadata(prefix, documents) == [{}, {"b": "2"}]


@pytest.mark.parametrize(
    "files, message",
    [
        ({"meta_a": ["x"]}, r"text\.meta\.a:2: ends before the text does"),
        ({"meta_jsonl": ["{}"]}, r"text\.meta\.jsonl:2: ends before the text does"),
        ({"meta_a": ["x"] * 3}, r"text\.meta\.a: goes on after the 2 lines of the text"),
        ({"meta_jsonl": ["{}"] * 3}, r"text\.meta\.jsonl: goes on after the 2 lines of the text"),
        ({"meta_jsonl": ["{}", '{"a": ""}'], "meta_a": ["", ""]}, r"text\.meta\.a:2: the field a is in text"),
        ({"meta_jsonl": ["{}", '{"a": true}']}, r"text\.meta\.jsonl:2: .* another value of the field 'a'"),
        ({"meta_jsonl_gz": ["{}"] * 2}, r"text\.meta\.jsonl\.gz: call it .*text\.meta\.jsonl"),
        ({"meta_a~": ["x", "y"]}, r"text: no metadata: expected .*text\.meta\.jsonl or files"),
    ],
)
def test_refusals(tmp_path, files, message):
    prefix = write(tmp_path, en=["One.", "Two."], **files)
    with pytest.raises(BadInput, match=message):
        read_metadata(prefix, read_blank_line_documents(f"{prefix}.en"))


def test_files_of_different_lengths_are_refused_where_there_is_no_text(tmp_path):
    prefix = write(tmp_path, meta_a=["x"], meta_jsonl=["{}", "{}"])
    with pytest.raises(BadInput, match=r"text\.meta\.a: expected as many lines"):
        list(MetadataFiles.beside(prefix).lines())


def test_records_of_film_databases_are_taken_as_they_come(tmp_path):
    known = parse_metadata(json.dumps(RECORD), "x", 1)
    assert known["Ratings"] == "Internet Movie Database 8.4/10, Metacritic 66/100"
    assert {name: known[name] for name in RECORD if name != "Ratings"} == {
        name: value for name, value in RECORD.items() if name != "Ratings"
    }
    assert parse_metadata('{"genre": ["Drama", "Horror"], "none": []}', "x", 1) == {
        "genre": "Drama, Horror",
        "none": "",
    }
    assert parse_metadata('{"a": {"Source": "x", "Value": "y"}}', "x", 1) == {"a": "x y"}
    values = parse_metadata('{"year": 1999, "score": [7.5, null, -2], "speaker": null}', "x", 1)
    assert values == {"year": "1999", "score": "7.5, -2"}
    for wrong in (
        '{"a": true}',
        '["a"]',
        '{"a": [{"Source": "x"}]}',
        '{"a": [["b"]]}',
    ):
        with pytest.raises(BadInput, match="expected a JSON object of strings"):
            parse_metadata(wrong, "x", 1)
