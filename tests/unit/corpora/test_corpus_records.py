"""Records: columns, JSON lines and Parquet; documents by ids, blank lines or records; presets of public
corpora, from raw samples to a data folder; and what is not as it should be."""

import bz2
import gzip
import json
import lzma
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.formats.records import PRESETS
from ctxmt_fairseq.corpora.record_files import read_records
from tests.helpers.corpus_files import convert
from tests.helpers.public_corpora import SAMPLES, jsonl

CRAWL = """\
http://a\thttp://b\tOne.\tJedna.\t0.5
http://a\thttp://b\tTwo.\tDvě.\t0.1
http://c\thttp://b\tA.\tB.\t1
"""


def converted(folder, files, *options, languages=("en", "cs")):
    """Run the command on files, content by name; returns the lines (source, target, id), the marks, the
    metadata and the counts."""
    first = [name for name in files if not name.startswith("beside")]
    beside = [name for name in files if name.startswith("beside")]
    options = (*first, *(["--beside", *beside] if beside else []), *options)
    columns, counts = convert(folder, "records", files, *options, languages=languages)
    lines = list(zip(*(columns[end] for end in (*languages, "docids")), strict=True))
    metadata = [json.loads(line) for line in columns.get("meta.jsonl", ())]
    return lines, "".join(columns.get("current", ())), metadata, counts


def test_documents_that_end_at_other_lines_on_each_side(tmp_path, refusal):
    files = {"a": "A1.\n\nB1.\nB2.\n", "beside": "A1.\nA2.\n\nB1.\n"}
    options = ("--fields", "source=1", "target=2", "--blank-lines")
    assert "a:2: the source alone is blank" in refusal(converted, tmp_path, files, *options)
    files["beside"] = "A1.\n\n\nB2.\n"
    lines, _, _, counts = converted(tmp_path, files, *options, "--skip-broken")
    assert [line[:2] for line in lines] == [("A1.", "A1."), ("B2.", "B2.")]
    assert counts["left_out"] == {"blank lines": 1, "broken records": 1}


def test_a_raw_crawl(tmp_path):
    lines, _, _, counts = converted(
        tmp_path,
        {"raw.gz": gzip.compress(CRAWL.encode())},
        "--fields",
        "document=1+2",
        "source=3",
        "target=4",
    )
    pages = ["http://a http://b"] * 2 + ["http://c http://b"]
    assert lines == list(zip(["One.", "Two.", "A."], ["Jedna.", "Dvě.", "B."], pages, strict=True))
    assert (counts["read"], counts["kept"]) == (3, 3)


def test_columns_of_czeng(tmp_path):
    text = "news-b1-00train-f1\t0.9\tJedna.\tOne.\n\nnews-b1-00train-f1\t0.2\tDvě.\tTwo.\n"
    lines, _, _, counts = converted(tmp_path, {"raw": text}, "--fields", "document=1", "cs=3", "en=4")
    assert lines == [("One.", "Jedna.", "news-b1-00train-f1"), ("Two.", "Dvě.", "news-b1-00train-f1/2")]
    assert counts["left_out"] == {"blank lines": 1}


def test_records_without_id_are_documents_in_all_files(tmp_path):
    lines, *_ = converted(tmp_path, {"a": "A\tB\n", "b": "C\tD\n"}, "--fields", "source=1", "target=2")
    assert lines == [("A", "B", "1"), ("C", "D", "2")]
    lines, *_ = converted(
        tmp_path, {"a": "\tA\tB\n \tC\tD\n"}, "--fields", "document=1", "source=2", "target=3"
    )
    assert lines == [("A", "B", "1"), ("C", "D", "2")]


def test_a_number_is_no_id_that_others_have(tmp_path):
    text = jsonl(*({"s": "A", "t": "B", "id": name} for name in ("1", None, "2", "2", None)))
    lines, *_ = converted(tmp_path, {"a": text}, "--fields", "source=s", "target=t", "document=id")
    assert [line[2] for line in lines] == ["1", "1#2", "2", "2", "2#2"]


def test_a_value_in_no_column_of_the_first_line_is_not_lost(tmp_path, refusal):
    """A tab in a text moves all that is behind it."""
    fields = ("--fields", "source=s", "target=t", "speaker=by")
    text = "s\tt\tby\nA\tB\tZoé\t \na\tA\tB\tZoé\n"
    assert "a:3: expected the 3 columns of the first line, found 4" in refusal(
        converted, tmp_path, {"a": text}, *fields
    )
    lines, _, metadata, counts = converted(tmp_path, {"a": text}, *fields, "--skip-broken")
    assert lines == [("A", "B", "1")] and metadata == [{"speaker": "Zoé"}]
    assert counts["left_out"] == {"broken records": 1}


def test_two_columns_of_one_name_are_refused(tmp_path, refusal):
    text = "s\tt\tby\tby\tt\nA\tB\tZoé\tZoé\tC\n"
    for fields in (("source=s", "target=t"), ("source=s+t", "target=s")):
        assert "a:1: two columns have the name 't'" in refusal(
            converted, tmp_path, {"a": text}, "--fields", *fields
        )


def test_one_text_in_three_layouts_is_one_corpus(tmp_path):
    """With names, one with a dot, in the first line of the columns; metadata that is null, a list, true .."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [("d1", "One.", "Jedna.", "Zoé"), ("d1", "Two.", "Dvě.", ""), ("d2", "A.", "B.", "x, y")]
    names = ("id", "s", "t", "by.name")
    records = [dict(zip(names, row, strict=True)) for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(records), tmp_path / "made")
    files = {
        "tsv": "\n".join(map("\t".join, (names, *rows))) + "\n",
        "jsonl": jsonl(*records),
        "parquet": (tmp_path / "made").read_bytes(),
    }
    fields = ("--fields", "document=id", "source=s", "target=t", "speaker=by.name", "genre==talk")
    made = {name: converted(tmp_path, {name: content}, *fields) for name, content in files.items()}
    lines, _, metadata, _ = made["tsv"]
    assert lines == [(s, t, d) for d, s, t, _ in rows]
    assert metadata == [
        {"speaker": "Zoé", "genre": "talk"},
        {"genre": "talk"},
        {"speaker": "x, y", "genre": "talk"},
    ]
    assert made["jsonl"][:3] == made["parquet"][:3] == made["tsv"][:3]
    text = jsonl(*({"s": "A", "t": "B", "id": 7, "by.name": by} for by in ([1, "x"], True)))
    assert converted(tmp_path, {"j": text}, *fields[:5])[2] == [{"speaker": "1, x"}, {"speaker": "true"}]


def test_a_column_of_years_in_which_one_is_missing(tmp_path):
    """pandas makes floats of it."""
    records = [{"s": "A", "t": "B", "id": 7.0, "year": year} for year in (1999.0, 0.5, None)]
    fields = ("--fields", "document=id", "source=s", "target=t", "year=year")
    lines, _, metadata, _ = converted(tmp_path, {"a": jsonl(*records)}, *fields)
    assert metadata == [{"year": "1999"}, {"year": "0.5"}, {}]
    assert {line[2] for line in lines} == {"7"}


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, gzip.compress])
def test_a_record_that_is_a_document(tmp_path, pack):
    """Lists of sentences, lines and paragraphs; blank lines on both sides go, and no hole is made of them."""
    lists = jsonl({"s": ["A", "B"], "t": ["1", "2"], "id": "x"}, {"s": ["C"], "t": ["3"], "id": "y"})
    fields = ("--fields", "source=s", "target=t", "document=id")
    lines, *_ = converted(tmp_path, {"packed": pack(lists.encode())}, *fields)
    assert lines == [("A", "1", "x"), ("B", "2", "x"), ("C", "3", "y")]
    texts = [("A\nB\n\nC", "1\n2\n\n3"), ("A\nB\n\nC", "1 2\n\n3"), ("A\n\nB", "1\n2\n")]
    text = jsonl(*({"s": s, "t": t, "id": str(number)} for number, (s, t) in enumerate(texts)))
    lines, *_ = converted(tmp_path, {"j": text}, *fields, "--split-lines")
    assert lines[:3] == [("A", "1", "0"), ("B", "2", "0"), ("C", "3", "0")]
    assert lines[3:] == [("A B", "1 2", "1"), ("C", "3", "1"), ("A", "1", "2"), ("B", "2", "2")]
    assert converted(tmp_path, {"j": text}, *fields)[0][0] == ("A B C", "1 2 3", "0")


METADATA = {
    "europarl-v10": {"speaker": "President", "language": "EN"},
    "paradocs": {"collection": "wide"},
    "wmt24pp": {"domain": "news"},
    "wmt25": {"domain": "news"},
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_public_corpus_becomes_a_data_folder(tmp_path, preset):
    files, languages, expected = SAMPLES[preset]
    lines, marks, metadata, counts = converted(tmp_path, files, "--preset", preset, languages=languages)
    assert lines == expected
    context = [not source or not target or (source, target) == ("B.", "Z.") for source, target, _ in lines]
    assert marks == "".join(str(1 - each) for each in context) * any(context)
    assert (metadata or [{}])[0] == METADATA.get(preset, {})
    text = str(tmp_path / "out")
    names = ("--source-lang", languages[0], "--target-lang", languages[1])
    main(["preprocess", *names, "--train", text, "--no-subwords", "--out", str(tmp_path / "data")])
    assert (tmp_path / "data" / f"train.{languages[0]}-{languages[1]}.{languages[0]}.bin").stat().st_size
    assert sum(counts["left_out"].values()) == {"news-commentary": 1, "wmt24pp": 2, "wmt25": 2}.get(preset, 0)


def test_links_that_cross_or_are_wrong(tmp_path, refusal):
    """Every sentence is there once, in the order of the links; other languages are left out."""
    files, languages, _ = SAMPLES["dochplt"]
    record = json.loads(files["train.jsonl"].splitlines()[0])
    record["alignment"] = [
        {"src": ["2.1"], "tgt": ["1.1"]},
        {"src": ["1.1"], "tgt": ["1.2"]},
        {"src": [], "tgt": ["1.2"]},
    ]
    text = {"a": jsonl(record, {**record, "lang_pair": "en-de"})}
    lines, marks, _, counts = converted(tmp_path, text, "--preset", "dochplt", languages=languages)
    assert [line[:2] for line in lines] == [("B.", ""), ("C.", "X."), ("A.", "Y.")] and marks == "011"
    assert counts["left_out"] == {"in other languages": 1}
    for key, value, words in [
        ("alignment", [{"src": ["7"], "tgt": ["1.1"]}], "expected links between its sentences, found '7'"),
        ("alignment", [{"src": ["1.1"]}], "expected the key 'tgt'"),
        ("alignment", [1], "expected an object with the key 'src'"),
        ("src_doc", {"ids": ["1.1"], "sentences": ["A.", "B."]}, "expected source_ids and target_ids"),
    ]:
        text = {"a": jsonl({**record, key: value})}
        assert words in refusal(converted, tmp_path, text, "--preset", "dochplt", languages=languages)


def test_what_is_given_comes_before_the_preset(tmp_path):
    record = {
        "source": "A",
        "target": "B",
        "document_id": "d",
        "domain": "x",
        "by": "C",
        "is_bad_source": True,
    }
    options = ("--preset", "wmt24pp", "--fields", "target=by", "--leave-out", "domain=y")
    assert converted(tmp_path, {"en-de_DE.jsonl": jsonl(record)}, *options)[0] == [("A", "C", "d")]


def test_broken_records(tmp_path, refusal):
    columns = "d\tA\tB\nd\tC\nd\tD\tE\n\udcff\tF\tG\n"
    fields = ("--fields", "document=1", "source=2", "target=3")
    assert "raw:2: expected '3', found '1', '2'" in refusal(converted, tmp_path, {"raw": columns}, *fields)
    lines, _, _, counts = converted(tmp_path, {"raw": columns}, *fields, "--skip-broken")
    assert lines == [("A", "B", "d"), ("D", "E", "d/2")]
    assert counts["left_out"] == {"broken records": 2} and len(counts["broken"]) == 2
    good = {"s": "A", "t": "B", "id": "d"}
    bad = [
        '{"s": "A"',
        "[1]",
        '{"s": "A", "t": {"u": 1}, "id": "d"}',
        '{"s": ["A", "B"], "t": "C", "id": "d"}',
        "{}",
    ]
    bad += [
        '{"t": "A", "id": "d"}',
        '{"s": "A\\ud800", "t": "", "id": "d"}',
        '{"s": [["A"]], "t": "B", "id": "d"}',
    ]
    text = jsonl(good) + "\n".join(bad) + "\n" + jsonl(good)
    fields = ("--fields", "document=id", "source=s", "target=t")
    assert "raw:2: expected JSON" in refusal(converted, tmp_path, {"raw": text}, *fields)
    lines, _, _, counts = converted(tmp_path, {"raw": text}, *fields, "--skip-broken")
    assert lines == [("A", "B", "d"), ("A", "B", "d/2")] and counts["left_out"] == {
        "broken records": len(bad)
    }
    assert [error.split(":")[1] for error in counts["broken"]] == [str(number) for number in range(2, 10)]
    text = jsonl({"s": "A", "t": "B", "id": "d"}, {"s": None, "t": "B", "id": "d"})
    assert converted(tmp_path, {"raw": text}, *fields)[3]["left_out"] == {"without source or target": 1}


@pytest.mark.parametrize(
    "options, words",
    [
        (("--fields", "source=1"), "--fields: expected target=PLACE, found source"),
        (("--fields", "source=1", "target"), "--fields: expected NAME=PLACE, found target"),
        (
            ("--fields", "source=1", "target=2", "--leave-out", "2"),
            "--leave-out: expected PLACE=VALUE, found 2",
        ),
        (("--preset", "wmt99"), "--preset: expected one of news-commentary, "),
        (("--fields", "source=1", "target=2", "by=3"), "raw:1: expected '3', found '1', '2'"),
        (("--fields", "source=en", "target=fr"), "raw:2: expected 'en', found 'A', 'B'"),
    ],
)
def test_options_that_are_refused(tmp_path, refusal, options, words):
    assert words in refusal(converted, tmp_path, {"raw": "A\tB\nC\tD\n"}, *options)
    assert not list(tmp_path.glob("out*"))


def test_files_beside_several_or_of_other_lengths(tmp_path, refusal):
    fields = ("--fields", "source=1", "target=2")
    assert "expected one FILE" in refusal(
        converted, tmp_path, {"a": "A\n", "b": "B\n", "beside": "C\n"}, *fields
    )
    assert "expected as many lines as" in refusal(
        converted, tmp_path, {"a": "A\nB\n", "beside": "C\n"}, *fields
    )


def test_parquet_that_is_damaged_or_not_understood(tmp_path, refusal, monkeypatch):
    fields = ("--fields", "source=s", "target=t")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow.parquet", None)
        error = refusal(converted, tmp_path, {"raw": b"PAR1"}, *fields)
        assert "Parquet needs the package pyarrow" in error and '"corpora"' in error
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"s": ["A"] * 999, "u": ["B"] * 999}), tmp_path / "made")
    whole = (tmp_path / "made").read_bytes()
    assert "expected 't', found 's'" in refusal(converted, tmp_path, {"raw": whole}, *fields)
    assert "found s, u" in refusal(converted, tmp_path, {"raw": whole}, "--fields", "source=x", "target=y")
    for cut in (4, 20, len(whole) // 2, len(whole) - 1):
        assert "damaged" in refusal(converted, tmp_path, {"raw": whole[:cut]}, *fields)
    monkeypatch.setattr("ctxmt_fairseq.corpora.record_files._LARGEST_GROUP", 10)
    assert "groups of at most 10 bytes" in refusal(converted, tmp_path, {"raw": whole}, *fields)


def test_parquet_with_a_byte_changed_is_read_or_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"s": ["A", "é"], "t": ["B", None]}), tmp_path / "made")
    whole = (tmp_path / "made").read_bytes()
    for at in range(4, len(whole), 3):
        (tmp_path / "raw").write_bytes(whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :])
        try:
            list(read_records(tmp_path / "raw", ["s", "t"]))
        except BadInput as error:
            assert "raw: " in str(error)


WORD = st.text("aé\u3000 ", max_size=5)


@given(st.lists(st.tuples(st.sampled_from(["x", "y"]), WORD, WORD), min_size=1, max_size=8))
def test_every_record_is_kept_or_counted(tmp_path_factory, rows):
    """Against a plain reading: lines with text on both sides, in runs of ids that holes cut."""
    folder = tmp_path_factory.mktemp("records")
    kept = [(" ".join(s.split()), " ".join(t.split())) for _, s, t in rows]
    if not any(s and t for s, t in kept):
        return
    text = jsonl(*({"id": id, "s": s, "t": t} for id, s, t in rows))
    lines, _, _, counts = converted(folder, {"j": text}, "--fields", "source=s", "target=t", "document=id")
    assert [line[:2] for line in lines] == [pair for pair in kept if all(pair)]
    assert counts["read"] == len(rows) == counts["kept"] + sum(counts["left_out"].values())
    assert [line[2][0] for line in lines] == [
        id for (id, _, _), pair in zip(rows, kept, strict=True) if all(pair)
    ]
