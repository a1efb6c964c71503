"""``ctxmt corpus check``: every kind of fault is counted and named, and a good corpus has none."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.check import check
from ctxmt_fairseq.corpora.text_rows import TextFiles
from tests.helpers.corpus_files import write_corpus_files

GOOD = [("One sentence.", "Ein Satz.", "a", 1, {"year": "1999"}), ("Two.", "Zwei.", "b", 0, {})]


def run(prefix, *options):
    main(["corpus", "check", str(prefix), "--source-lang", "en", "--target-lang", "de", *map(str, options)])


def test_a_good_corpus(tmp_path, capsys):
    prefix = write_corpus_files(tmp_path / "c", GOOD)
    run(prefix, "--json", tmp_path / "report.json")
    printed = capsys.readouterr().out
    assert f"{prefix}.en: 2 lines" in printed and "faults: none" in printed and "remarks: none" in printed
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["faults"] == report["remarks"] == {} and set(report["lines"].values()) == {2}


def test_faults_are_named_with_their_lines(tmp_path, capsys):
    prefix = write_corpus_files(tmp_path / "c", GOOD * 4)
    (tmp_path / "c.en").write_bytes(b"a <sep>\nb\n\xff\nd\ne\0\nf\ng\n")
    (tmp_path / "c.docids").write_text("a\n \nb\na\na\na\na\n\n")
    (tmp_path / "c.current").write_text("1\n" * 7 + "yes\n1\n")
    (tmp_path / "c.meta.jsonl").write_text('{}\n\n[]\n{"a": {}}\n{\n{}\n{}\n{}\n')
    with pytest.raises(SystemExit) as end:
        run(prefix, "--json", tmp_path / "report.json")
    out, err = capsys.readouterr()
    assert end.value.code == 2 and "12 faults, as listed" in err.splitlines()[-1]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["faults"] == {
        "lines that are not UTF-8 text": 2, "blank document ids": 2,
        "marks that are neither 0 nor 1": 1, "metadata that is no JSON object of strings": 3,
        "files with other than 7 lines": 4,
    }  # fmt: skip
    assert report["examples"]["lines that are not UTF-8 text"] == [f"{prefix}.en:3", f"{prefix}.en:5"]
    assert report["examples"]["blank document ids"] == [f"{prefix}.docids:2", f"{prefix}.docids:8"]
    assert report["remarks"]["ids that return after other documents"] == 1
    assert f"metadata that is no JSON object of strings: 3 ({prefix}.meta.jsonl:3" in out


def test_languages(tmp_path, identifier, capsys):
    texts = [("en this is an English sentence", "de dies ist ein deutscher Satz"), ("fr oui", "sk toto")]
    texts += [("fr une phrase qui est en français", "sk toto je dlhšia slovenská veta")] * 2
    prefix = write_corpus_files(tmp_path / "c", [(*pair, "d", 1, {}) for pair in texts])
    run(prefix, "--source-admits", "en", "--target-admits", "de", "cs")
    printed = capsys.readouterr().out
    places = ", ".join(f"{prefix}.{side}:{line}" for line in (3, 4) for side in ("en", "de"))
    assert f"lines in another language: 4 ({places})" in printed
    run(prefix, "--target-admits", "de", "sk")
    assert "remarks: none" in capsys.readouterr().out


def test_remarks_on_pairs(tmp_path):
    long = "a sentence of more than twenty characters"
    texts = [(long, long), (long, "x"), ("yes", "y"), ("", ""), ("", "z"), ("M\ufffdller", "x"), ("ok", "ok")]
    prefix = write_corpus_files(tmp_path / "c", [(*pair, "d", 1, {}) for pair in texts])
    report = check(str(prefix), ["en", "de"])
    assert not report.faults and report.remarks == {
        "pairs with the same text on both sides": 1,
        "pairs with one side over 9 times as long": 1,
        "pairs that are empty on both sides": 1,
        "pairs that are empty on one side": 1,
        "pairs with characters that could not be read (U+FFFD)": 1,
    }
    assert report.examples["pairs with one side over 9 times as long"] == [f"{prefix}:2"]


def test_missing_files(tmp_path, capsys):
    prefix = write_corpus_files(tmp_path / "c", GOOD, without=("de", "docids"))
    with pytest.raises(SystemExit) as end:
        run(prefix)
    assert end.value.code == 2
    assert f"missing files: 2 ({prefix}.de, {prefix}.docids)" in capsys.readouterr().out


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_faults_are_what_the_reader_refuses(tmp_path_factory, data):
    """A damaged corpus has faults if and only if ``TextFiles`` does not read it."""
    folder = tmp_path_factory.mktemp("check")
    prefix = write_corpus_files(folder / "c", GOOD * 2)
    suffix = data.draw(st.sampled_from(["en", "de", "docids", "current", "meta.jsonl"]))
    path = folder / f"c.{suffix}"
    lines = path.read_bytes().splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines)))
    damage = data.draw(
        st.sampled_from([b"\n", b"x\n", b"\xff\n", b"<sep>\n", b"0\n", b"{}\n", b"", b"\0\n", b"[]\n"])
    )
    lines[place : place + data.draw(st.integers(0, 1))] = [damage]
    path.write_bytes(b"".join(lines))
    try:
        list(TextFiles(str(prefix), "en", "de").pairs())
        refused = False
    except BadInput:
        refused = True
    assert bool(check(str(prefix), ["en", "de"]).faults) == refused
