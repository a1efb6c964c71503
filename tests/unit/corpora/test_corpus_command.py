"""``ctxmt corpus``: what it writes, for any number of workers, and what it leaves when it cannot."""

import itertools
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora import workers, writer
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, whole_document
from ctxmt_fairseq.corpora.workers import in_order
from ctxmt_fairseq.corpora.writer import _Corpus
from tests.helpers.opus_files import alignment, document, sentence, write_folder, write_zip
from tests.unit.base.test_output_folders import killed

FILMS = 12


@pytest.fixture
def opus(tmp_path):
    """Twelve films of five sentences; the fourth link of each is unaligned."""
    groups, english, german = [], {}, {}
    for film in range(FILMS):
        names = f"de/2000/{film}/9.xml.gz", f"en/2000/{film}/8.xml.gz"
        for name, texts in zip(names, (german, english), strict=True):
            words = [f"{name[:2]}{film}.{number}" for number in range(1, 6)]
            texts[name] = document(*(sentence(n, word, 2 * n, 2 * n + 1) for n, word in enumerate(words, 1)))
        links = [(f"{n};{n}", 1.0) for n in (1, 2, 3)] + [("4;", None), ("5;5", 0.95)]
        groups.append((*names, links))
    (tmp_path / "de-en.xml").write_text(alignment(*groups))
    write_folder(tmp_path / "xml", english)
    write_zip(tmp_path / "de.zip", german)
    return tmp_path


def corpus(folder, *options, kind="opensubtitles"):
    main(
        [
            *("corpus", kind, "--alignment", str(folder / "de-en.xml"), "--xml", str(folder / "xml")),
            *("--xml", str(folder / "de.zip"), "--source-lang", "en", "--target-lang", "de"),
            *("--clean", "none", *map(str, options)),
        ]
    )


def read(prefix):
    suffixes = ("en", "de", "docids", "current", "meta.jsonl", "counts.json")
    return {
        end: path.read_bytes()
        for end in suffixes
        if (path := prefix.with_name(f"{prefix.name}.{end}")).exists()
    }


def test_what_is_written(opus, capsys):
    (opus / "train.current").write_text("out of date")
    corpus(opus, "--out", opus / "train")
    files = read(opus / "train")
    assert set(files) == {"en", "de", "docids", "counts.json", "meta.jsonl"}
    assert set(files["meta.jsonl"].splitlines()) == {b'{"year": "2000"}'}
    assert files["en"].decode().splitlines()[:4] == ["en0.1", "en0.2", "en0.3", "en0.5"]
    assert files["de"].decode().splitlines()[:4] == ["de0.1", "de0.2", "de0.3", "de0.5"]
    assert files["docids"].decode().splitlines()[:5] == [*["2000/0/8"] * 3, "2000/0/8/2", "2000/1/8"]
    counts = json.loads(files["counts.json"])
    assert (counts["kind"], counts["unit"], counts["read"], counts["kept"]) == (
        "opensubtitles",
        "links",
        60,
        48,
    )
    assert counts["left_out"] == {"unaligned": 12}
    assert counts["corpora"] == {str(opus / "train"): {"documents": 24, "sentences": 48, "context_only": 0}}
    printed = capsys.readouterr().out
    assert "48 sentences in 24 documents" in printed and "left out, unaligned: 12" in printed
    assert sorted(os.listdir(opus)) == sorted(
        ["de-en.xml", "de.zip", "xml", *(f"train.{end}" for end in files)]
    )
    corpus(opus, "--out", opus / "train", "--metadata", "none")
    assert "meta.jsonl" not in read(opus / "train")


def test_any_corpus_of_opus(opus):
    corpus(opus, "--unaligned", "keep", "--out", opus / "train", kind="opus")
    files = read(opus / "train")
    assert files["en"].decode().splitlines()[3:5] == ["", "en0.5"]
    assert files["de"].decode().splitlines()[3] == "de0.4"
    assert files["current"] == b"1\n1\n1\n0\n1\n" * FILMS
    assert len(set(files["docids"].splitlines())) == 2 * FILMS  # the English fourth is in no link: a hole


def test_workers_change_nothing(opus):
    corpus(opus, "--out", opus / "one")
    corpus(opus, "--out", opus / "two", "--workers", 2)
    for end in ("en", "de", "docids"):
        assert read(opus / "one")[end] == read(opus / "two")[end]


@pytest.mark.parametrize(
    ("function", "calls"),
    [("write", 0), ("write", 9), ("fsync", 0), ("fsync", 3), ("replace", 0), ("replace", 1), ("replace", 3)],
)
def test_a_killed_run_leaves_no_half_file(opus, monkeypatch, function, calls):
    """Killed (-9) while lines are written, while files are put on disk, and while they take their places."""
    corpus(opus, "--out", opus / "train")
    expected, there = read(opus / "train"), sorted(os.listdir(opus))
    for path in opus.glob("train.*"):
        path.unlink()
    owner = _Corpus if function == "write" else os
    with monkeypatch.context() as patch:
        patch.setattr(owner, function, dying_after(calls, getattr(owner, function)))
        killed(corpus, opus, "--out", opus / "train")
    left = read(opus / "train")
    assert left.items() <= expected.items() and len(left) == (calls if function == "replace" else 0)
    corpus(opus, "--out", opus / "train")
    assert read(opus / "train") == expected and sorted(os.listdir(opus)) == there


def dying_after(calls, function):
    left = iter(range(calls))

    def wrapped(*args):
        if next(left, None) is None:
            os.kill(os.getpid(), 9)
        return function(*args)

    return wrapped


ALPHABET = st.sampled_from('aé\U0001f600 \u2028\x85\r"\\{}')  # what ends a line elsewhere ends none here
TEXTS = st.text(ALPHABET, max_size=6)
PAIRS = st.builds(
    Pair, TEXTS, TEXTS, st.sampled_from(["a", "a/2", "b"]), st.booleans(),
    st.dictionaries(st.sampled_from(["year", "{}"]), TEXTS | st.just("{}\n"), max_size=2),
)  # fmt: skip


@pytest.mark.parametrize("name", ["film\n2", " ", "caf\udce9", "nul\0"])
def test_an_id_that_is_no_line_of_text_is_refused_and_nothing_is_written(tmp_path, name):
    parts = [Part([Pair("a", "b", "film"), Pair("a", "b", name)], Account(2, 2))]
    with pytest.raises(BadInput, match="expected a document id on one line, found '"):
        writer.write_corpus(parts, [str(tmp_path / "corpus")], ["en", "de"], {})
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(PAIRS, max_size=9), min_size=1, max_size=4), st.booleans())
def test_every_pair_is_written_once(tmp_path_factory, lists, routed):
    """To one corpus or by document to two."""
    route = (lambda name: int(name == "a/2")) if routed else (lambda name: 0)
    always = [Pair("a", "b", "c"), Pair("a", "b", "a/2")]  # no corpus is empty
    pairs = [*itertools.chain(*lists), *always]
    parts = [Part(given, Account(len(given), len(given))) for given in [*lists, always]]
    prefixes = [tmp_path_factory.mktemp("corpus") / name for name in ("xy" if routed else "x")]
    record = writer.write_corpus(parts, list(map(str, prefixes)), ["en", "de"], {}, route)
    for number, prefix in enumerate(prefixes):
        mine = [pair for pair in pairs if route(pair.document) == number]
        documents = [
            (pair, piece, name)
            for piece, part in enumerate(parts)
            for name, (_, group) in enumerate(itertools.groupby(part.pairs, key=lambda pair: pair.document))
            for pair in group
            if route(pair.document) == number
        ]
        files = {end: content.decode().split("\n")[:-1] for end, content in read(prefix).items()}
        assert (files["en"], files["de"]) == ([pair.source for pair in mine], [pair.target for pair in mine])
        assert [whole_document(name) for name in files["docids"]] == [pair.document for pair in mine]
        for (first, last), (name, other) in zip(
            itertools.pairwise(documents), itertools.pairwise(files["docids"]), strict=True
        ):
            assert (first[1:] == last[1:]) == (name == other)  # a part has whole documents
        marks, metadata = ["01"[pair.current] for pair in mine], [pair.metadata for pair in mine]
        assert files.get("current") == (marks if "0" in marks else None)
        found = [json.loads(line) for line in files.get("meta.jsonl", ())]
        assert found == (metadata if any(metadata) else [])
        assert record["corpora"][str(prefix)] == {
            "documents": sum(1 for _ in itertools.groupby(files["docids"])),
            "sentences": len(mine),
            "context_only": marks.count("0"),
        }


def test_work_is_not_read_ahead_of_the_workers(monkeypatch):
    """However long the input, only so many pieces of it are held; results keep its order."""
    monkeypatch.setattr(workers, "ProcessPoolExecutor", _Deferred)
    drawn = []

    def items():
        for number in range(1000):
            drawn.append(number)
            yield number

    results = in_order(lambda item: -item, items(), workers=2)
    assert [next(results) for _ in range(3)] == [0, -1, -2]
    assert len(drawn) <= 2 * workers._AHEAD + 3
    assert list(results) == [-number for number in range(3, 1000)]


class _Deferred:
    """Does the work when its result is asked for."""

    def __init__(self, workers, mp_context):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, work, item):
        return _Result(work, item)


class _Result:
    def __init__(self, work, item):
        self.work, self.item = work, item

    def result(self):
        return self.work(self.item)

    def cancel(self):
        pass


def test_held_out_films_go_elsewhere(opus):
    (opus / "films").write_text("tt0000003\n5\n")
    corpus(opus, "--out", opus / "train", "--held-out", f"{opus / 'dev'}={opus / 'films'}")
    dev = read(opus / "dev")
    assert {line.split("/")[1] for line in dev["docids"].decode().splitlines()} == {"3", "5"}
    train = read(opus / "train")
    assert len(train["en"].splitlines()) + len(dev["en"].splitlines()) == 48
    assert not {b"2000/3/8", b"2000/5/8"} & set(train["docids"].splitlines())


def test_broken_files_stop_it_or_are_listed(opus, refusal):
    (opus / "xml" / "en" / "2000" / "7" / "8.xml.gz").write_bytes(b"\x1f\x8bno gzip")
    before = sorted(os.listdir(opus))
    line = refusal(corpus, opus, "--out", opus / "train")
    assert "7/8.xml.gz: damaged" in line
    assert sorted(os.listdir(opus)) == before

    corpus(opus, "--out", opus / "train", "--skip-broken")
    counts = json.loads(read(opus / "train")["counts.json"])
    assert counts["left_out"] == {"in broken files": 5, "unaligned": 11} and counts["kept"] == 44
    assert len(counts["broken"]) == 1 and "7/8.xml.gz: damaged" in counts["broken"][0]


def test_refusals(opus, refusal):
    for options, message in (
        (("--min-overlap", "0.9", "--out", opus / "no" / "train"), "no such folder"),
        (("--min-overlap", "1.5", "--out", opus / "train"), "expected a number from 0 to 1"),
        (
            ("--clean", "dust", "--out", opus / "train"),
            "argument --clean: dust: expected all, none, or names",
        ),
        (("--xml", opus / "nothing", "--out", opus / "train"), "expected a folder or a zip file"),
        (("--target-lang", "fr", "--out", opus / "train"), "expected documents of en and fr"),
        (
            ("--max-gap", "-100", "--min-overlap", "1", "--held-out", "x", "--out", opus / "train"),
            "PREFIX=FILE",
        ),
    ):
        assert message in refusal(corpus, opus, *options)
    assert not list(opus.glob("train*")) and not list(opus.glob(".ctxmt*"))


def test_nothing_left_is_an_error(opus, refusal):
    (opus / "de-en.xml").write_text(alignment(("de/2000/0/9.xml.gz", "en/2000/0/8.xml.gz", [("1;", None)])))
    assert 'no line is left of 1: {"unaligned": 1}' in refusal(corpus, opus, "--out", opus / "train")
