"""Text in columns: what the columns are, documents, and lines that are not as they should be."""

import gzip
import json

import pytest

from ctxmt_fairseq.cli.main import main

CRAWL = "http://a\thttp://b\tOne.\tJedna.\t0.5\nhttp://a\thttp://b\tTwo.\tDvě.\t0.1\nhttp://c\thttp://b\tA.\tB.\t1\n"


@pytest.fixture
def corpus(tmp_path):
    """``corpus(content, OPTIONS...)``: the lines (source, target, id), and the counts."""

    def make(content, *options, files=("raw.gz",)):
        for name in files:
            (tmp_path / name).write_bytes(gzip.compress(content.encode("utf-8", "surrogateescape")))
        languages = ("--source-lang", "en", "--target-lang", "cs", "--out", str(tmp_path / "out"))
        main(
            ["corpus", "columns", "--files", *(str(tmp_path / name) for name in files), *options, *languages]
        )
        texts = ((tmp_path / f"out.{end}").read_text().splitlines() for end in ("en", "cs", "docids"))
        return list(zip(*texts, strict=True)), json.loads((tmp_path / "out.counts.json").read_text())

    return make


def test_a_raw_crawl(corpus):
    lines, counts = corpus(CRAWL, "--columns", "doc", "doc", "en", "cs")
    pages = ["http://a http://b"] * 2 + ["http://c http://b"]
    assert lines == list(zip(["One.", "Two.", "A."], ["Jedna.", "Dvě.", "B."], pages, strict=True))
    assert (counts["read"], counts["kept"]) == (3, 3)


def test_columns_of_czeng(corpus):
    text = "news-b1-00train-f1\t0.9\tJedna.\tOne.\n\nnews-b1-00train-f1\t0.2\tDvě.\tTwo.\n"
    lines, counts = corpus(text, "--columns", "doc", "score", "cs", "en")
    assert lines == [("One.", "Jedna.", "news-b1-00train-f1"), ("Two.", "Dvě.", "news-b1-00train-f1/2")]
    assert counts["left_out"] == {"blank lines": 1}


def test_lines_without_id_are_documents(corpus):
    lines, _ = corpus("A\tB\n", "--columns", "en", "cs", files=("one.gz", "two.gz"))
    assert lines == [("A", "B", "1"), ("A", "B", "2")]
    lines, _ = corpus("\tA\tB\n \tC\tD\n", "--columns", "doc", "en", "cs")
    assert lines == [("A", "B", "1"), ("C", "D", "2")]


def test_broken_lines(corpus, capsys):
    broken = "d\tA\tB\nd\tC\nd\tD\tE\n\udcff\tF\tG\n"
    with pytest.raises(SystemExit) as end:
        corpus(broken, "--columns", "doc", "en", "cs")
    assert end.value.code == 2 and "raw.gz:2: expected 3 columns, found 2" in capsys.readouterr().err
    lines, counts = corpus(broken, "--columns", "doc", "en", "cs", "--skip-broken")
    assert lines == [("A", "B", "d"), ("D", "E", "d/2")]
    assert counts["left_out"] == {"broken lines": 2} and len(counts["broken"]) == 2


@pytest.mark.parametrize("columns", [("en", "de"), ("en", "cs", "cs"), ("doc", "text")])
def test_columns_that_are_not_the_languages(corpus, capsys, columns):
    with pytest.raises(SystemExit) as end:
        corpus("A\tB\n", "--columns", *columns)
    assert end.value.code == 2 and "--columns: expected " in capsys.readouterr().err
