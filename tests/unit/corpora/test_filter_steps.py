"""The steps of ``ctxmt corpus filter`` that need no model: duplicates, languages, score files, selection."""

import itertools
import json
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base import journal
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.corpora.transforms import pair_scores
from ctxmt_fairseq.corpora.transforms.deduplicate import Deduplicate
from ctxmt_fairseq.corpora.transforms.pair_scores import ScoreTable, adequacy, domain, pair_hash
from ctxmt_fairseq.corpora.transforms.select import Select
from tests.helpers.corpus_files import read_corpus_files, write_corpus_files
from tests.helpers.corpus_filter import files_of, run

WORDS = st.sampled_from(["a", "b", "c", "a b"])
DOCUMENTS = st.lists(
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), min_size=1, max_size=8
)  # few texts: pairs come again


@settings(max_examples=50)
@given(documents=DOCUMENTS)
def test_the_first_copy_stays(tmp_path_factory, documents):
    files = files_of(tmp_path_factory.mktemp("double"), documents)
    parts = list(Deduplicate(prefix=files.prefix, source_lang="en", target_lang="de").parts())
    expected, known = [], set()
    for number, document in enumerate(documents):
        run, last = 1, None
        for place, texts in enumerate(document):
            if texts in known:
                continue
            known.add(texts)
            run += last is not None and last != place - 1
            last = place
            expected.append((*texts, f"d{number}" + (f"#{run}" if run > 1 else "")))
    assert [pair[:3] for part in parts for pair in part.pairs] == expected
    assert all(part.account.balanced for part in parts)
    total = sum(map(len, documents))
    assert sum(part.account.left_out["duplicates"] for part in parts) == total - len(expected)


def test_a_copy_that_is_only_context_is_not_the_one_that_stays(tmp_path):
    lines = [
        ("a", "A", "d1", 0, {}),
        ("b", "B", "d1", 0, {}),
        ("b", "B", "d1", 0, {}),
        ("a", "A", "d2", 1, {}),
    ]
    prefix = str(write_corpus_files(tmp_path / "text", lines))
    parts = Deduplicate(prefix=prefix, source_lang="en", target_lang="de").parts()
    assert [pair[:4] for part in parts for pair in part.pairs] == [
        ("b", "B", "d1", False),
        ("a", "A", "d2", True),
    ]


def test_equations():
    a, b = np.array([0.0, 1.0, 2.5, 3.0, np.inf, 1.0]), np.array([0.0, 1.0, 1.0, 4.5, 1.0, np.inf])
    expected = [1, math.exp(-1), math.exp(-(1.5 + 1.75)), math.exp(-(1.5 + 3.75)), 0, 0]
    np.testing.assert_allclose(adequacy(a, b), expected, rtol=1e-14)
    # likelier in the domain than in the crawl: 1; the thesis' text, "clipped at 1"
    expected = [1, 1, math.exp(-1.5), 1, 0, 0]
    np.testing.assert_allclose(domain(a, b), expected, rtol=1e-14)


PAIRS = [Pair(f"s{number}", f"t{number}", "d") for number in range(11)]


class Scorer:
    """Scores s3 as 3 / 10, and notes what it was asked for; fails after ``most`` pairs."""

    def __init__(self, most=math.inf):
        self.most, self.asked = most, []

    def __call__(self):
        return self.score

    def score(self, pairs):
        if len(self.asked) + len(pairs) > self.most:
            raise KeyboardInterrupt
        self.asked += [pair.source for pair in pairs]
        numbers = np.array([int(pair.source[1:]) for pair in pairs])
        return numbers / 10, numbers.astype(float), np.full(len(pairs), np.inf)


def write(path, scorer, pairs=PAIRS[:10], description=None):
    return pair_scores.write_scores(path, pairs, scorer, description or {"scores": "test"})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(pair_scores, "BATCH", 4)


def test_pair_scores(tmp_path):
    path = tmp_path / "scores.tsv"
    assert write(path, Scorer()) == 10
    head, *lines = path.read_text().splitlines()
    assert json.loads(head) == {"scores": "test"}
    assert [line.split("\t")[1:] for line in lines] == [[str(n / 10), f"{n}.0", "inf"] for n in range(10)]
    assert [int(line[:16], 16) for line in lines] == [pair_hash(pair) for pair in PAIRS[:10]]
    assert list(tmp_path.iterdir()) == [path]

    again = Scorer()  # nothing to do
    assert write(path, again) == 10 and again.asked == []
    other = Scorer()  # other models: all anew
    assert write(path, other, description={"scores": "other"}) == 10 and len(other.asked) == 10
    longer = Scorer()  # another text, which the description names
    assert write(path, longer, PAIRS, {"scores": "other", "files": 1}) == 11 and len(longer.asked) == 11


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_killed_run_goes_on(tmp_path, cut):
    """Whatever of its file was on the disk by then."""
    path, partial = tmp_path / "scores.tsv", tmp_path / "scores.tsv.partial"
    write(path, Scorer())
    whole = path.read_bytes()
    path.unlink()
    with pytest.raises(KeyboardInterrupt):
        write(path, Scorer(most=8))
    assert not path.exists() and whole.startswith(partial.read_bytes())
    partial.write_bytes(partial.read_bytes()[:cut])
    left = Scorer()
    write(path, left)
    assert path.read_bytes() == whole and list(tmp_path.iterdir()) == [path]
    done = max(0, whole[:cut].count(b"\n") - 1)
    assert left.asked == [f"s{number}" for number in range(done, 10)]


def test_score_files_of_others(tmp_path):
    path, partial = tmp_path / "scores.tsv", tmp_path / "scores.tsv.partial"
    with pytest.raises(KeyboardInterrupt):
        write(path, Scorer(most=4))
    before = partial.read_bytes()
    for content in (before, b"a letter\n and more"):
        partial.write_bytes(content)
        with pytest.raises(BadInput, match="is of another run .* or somebody else's file; delete it"):
            write(path, Scorer(), PAIRS, {"scores": "other"})
        assert partial.read_bytes() == content
    partial.unlink()
    with journal.Journal(partial, {}), pytest.raises(BadInput, match="another ctxmt is writing to it"):
        write(path, Scorer(), PAIRS, {"scores": "third"})
    for text, place in (("", ":1: "), ("x\n", ":1: "), (before.decode() + "x\t1\n", ":6: ")):
        partial.write_text(text)
        with pytest.raises(BadInput, match=place):
            ScoreTable(partial)


def test_what_another_run_has_just_finished_is_not_written_to(tmp_path, monkeypatch):
    """It takes its place between our opening and our locking it."""
    path, partial = tmp_path / "scores.tsv", tmp_path / "scores.tsv.partial"
    with pytest.raises(KeyboardInterrupt):
        write(path, Scorer(most=8))
    before, moved = partial.read_bytes(), []

    class Late(journal.Lock):
        def __init__(self, file):
            super().__init__(file)
            if file == partial and not moved:
                moved.append(partial.rename(tmp_path / "theirs"))

    monkeypatch.setattr(journal, "Lock", Late)
    anew = Scorer()
    assert write(path, anew) == 10 and len(anew.asked) == 10
    assert moved and moved[0].read_bytes() == before


def test_a_pipe_of_the_unfinished_files_name_is_refused(tmp_path):
    os.mkfifo(tmp_path / "scores.tsv.partial")
    with pytest.raises(BadInput, match="choose a regular file, not a pipe"):
        write(tmp_path / "scores.tsv", Scorer())


@settings(max_examples=40)
@given(
    documents=DOCUMENTS,
    scores=st.lists(st.floats(0, 1), min_size=32, max_size=32),
    missing=st.sets(st.integers(0, 15)),
    threshold=st.floats(0, 1),
)
def test_documents_are_selected_by_the_mean(tmp_path_factory, documents, scores, missing, threshold):
    """Against plain dictionaries: a pair has the product of its scores, 0 where either is absent."""
    folder = tmp_path_factory.mktemp("select")
    files = files_of(folder, documents)
    texts = list(itertools.product(["a", "b", "c", "a b"], repeat=2))
    paths, known = [], []
    for number, values in enumerate((scores[:16], scores[16:])):
        pairs = [Pair(*text, "x") for place, text in enumerate(texts) if number or place not in missing]
        found = {text: value for text, value in zip(texts, values, strict=True)}
        twice = pairs + [pairs[0]] if pairs else []  # of a pair's scores the first counts
        values = [found[pair[:2]] for pair in pairs] + [0.123]
        path = folder / f"{number}.tsv"
        pair_scores.write_scores(path, twice, lambda v=values: _given(v), {"scores": "test"})
        paths.append(path)
        known.append({pair[:2]: found[pair[:2]] for pair in pairs})
    languages = {"source_lang": "en", "target_lang": "de"}
    command = Select(prefix=files.prefix, scores=paths, threshold=threshold, **languages)
    parts = list(command.parts())
    for document, part in zip(documents, parts, strict=True):
        each = [known[0].get(text, 0) * known[1].get(text, 0) for text in document]
        mean = sum(each) / len(each)
        if abs(mean - threshold) > 1e-12:
            assert [pair[:2] for pair in part.pairs] == (document if mean > threshold else [])
        assert part.account.balanced


def _given(values):
    left = iter(values)
    return lambda pairs: (np.array([next(left) for _ in pairs]),)


def test_select_command(tmp_path, refusal):
    documents = [[("s1", "t1"), ("s9", "t9"), ("s9", "t9")], [("s2", "t2"), ("no", "no")]]
    files_of(tmp_path, documents)
    write(tmp_path / "scores.tsv", Scorer())
    options = (tmp_path / "crawl", "--scores", tmp_path / "scores.tsv", "--threshold")
    report = ("--document-scores", tmp_path / "documents.tsv")
    run("select", *options, 0.5, *report, "--out", tmp_path / "out")
    assert [line[:3] for line in read_corpus_files(tmp_path / "out")] == [
        (*each, "d0") for each in documents[0]
    ]
    assert (tmp_path / "documents.tsv").read_text() == "d0\t3\t0.633333\t1\nd1\t2\t0.100000\t0\n"
    counts = json.loads((tmp_path / "out.counts.json").read_text())
    assert counts["left_out"] == {"in documents with a low score": 2}
    assert counts["remarks"] == {"pairs without a score": 1}
    nothing = ("--document-scores", tmp_path / "none.tsv", "--out", tmp_path / "none")
    assert "no line is left of 5" in refusal(run, "select", *options, 1, *nothing)
    assert not list(tmp_path.glob("none*"))


def test_deduplicate_command(tmp_path):
    files_of(tmp_path, [[("a", "b"), ("a", "b"), ("c", "d")], [("a", "b"), ("e", "f")]])
    run("deduplicate", tmp_path / "crawl", "--out", tmp_path / "out")
    assert [line[:3] for line in read_corpus_files(tmp_path / "out")] == [
        ("a", "b", "d0"),
        ("c", "d", "d0#2"),
        ("e", "f", "d1"),
    ]
