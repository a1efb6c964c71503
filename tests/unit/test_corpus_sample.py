"""Samples of a corpus with their context, and ids of files that are aligned twice."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.assembly.distinct import distinct
from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Pair, Part
from ctxmt_fairseq.corpora.assembly.sample import Sample, sampled
from tests.unit.opus_files import alignment, document, sentence, write_folder


def part(name, length, context_only=()):
    builder = DocumentBuilder(name, Account())
    for place in range(length):
        if place in context_only:
            builder.add_context(f"{name}.{place}", "")
        else:
            builder.add(f"{name}.{place}", f"{name}:{place}", {"place": str(place)})
    return builder.part()


def draw(parts, folder, *sizes, **options):
    """Of documents whose names begin with 1, 2, .. in corpora of these numbers."""
    sample = Sample({number: size for number, size in enumerate(sizes) if size}, **options)
    result = list(sampled(parts, sample, lambda name: int(name[0]), folder))
    account = Account()
    for each in result:
        account.add(each.account)
    return [pair for each in result for pair in each.pairs], account


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.sets(st.integers(0, 8))), max_size=8),
    st.integers(1, 30),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 3),
)
def test_what_a_sample_keeps(tmp_path_factory, documents, size, before, after, seed):
    folder = tmp_path_factory.getbasetemp()
    parts = [part(f"{which}/{n}", length, only) for n, (which, length, only) in enumerate(documents)]
    lines = [pair for each in parts for pair in each.pairs]
    pairs, account = draw(parts, folder, size, before=before, after=after, seed=seed)
    assert account.balanced and account.read == len(lines) and account.kept == len(pairs)
    place = {pair.source: number for number, pair in enumerate(lines)}
    # corpus 1 is not sampled: it is there as it was
    assert [p for p in pairs if p.document[0] == "1"] == [p for p in lines if p.document[0] == "1"]
    pairs = [pair for pair in pairs if pair.document[0] == "0"]
    eligible = sum(pair.current for pair in lines if pair.document[0] == "0")
    assert sum(pair.current for pair in pairs) == min(size, eligible)
    assert account.remarks["sentences fewer than --sample asks for"] == max(0, size - eligible)
    assert [place[pair.source] for pair in pairs] == sorted({place[pair.source] for pair in pairs})
    for pair in pairs:
        was = lines[place[pair.source]]
        assert pair[:2] == was[:2] and pair.metadata == was.metadata and pair.document.split("#")[0] == was[2]
    # exactly the drawn sentences and what is near them in their document
    near = {
        other
        for pair in pairs
        if pair.current
        for other in range(place[pair.source] - before, place[pair.source] + after + 1)
        if 0 <= other < len(lines) and lines[other].document == pair.document.split("#")[0]
    }
    assert {place[pair.source] for pair in pairs} == near
    # lines share an id if and only if nothing was left out between them
    for first, second in itertools.pairwise(pairs):
        together = (
            place[second.source] == place[first.source] + 1
            and lines[place[first.source]].document == lines[place[second.source]].document
        )
        assert (first.document == second.document) == together
    runs = [name for name, _ in itertools.groupby(pair.document for pair in pairs)]
    assert len(set(runs)) == len(runs)


def test_every_sentence_is_equally_likely_and_the_seed_decides(tmp_path):
    times = Counter()
    for seed in range(600):
        pairs, _ = draw([part("0/a", 6, {2}), part("0/b", 4)], tmp_path, 3, before=0, seed=seed)
        assert all(pair.current for pair in pairs)
        times.update(pair.source for pair in pairs)
    assert len(times) == 9 and all(150 < count < 250 for count in times.values())  # 200 on average
    whole = [part(f"0/{name}", 50) for name in "ab"]
    first, second, other = (draw(whole, tmp_path, 9, seed=seed)[0] for seed in (1, 1, 2))
    assert first == second != other
    assert not list(tmp_path.iterdir())


def test_documents_of_one_file_have_different_ids():
    def pieces(names, *lengths):
        pairs = [Pair("s", "t", n) for n, length in zip(names, lengths, strict=True) for _ in range(length)]
        return Part(pairs, Account())

    parts = [pieces(["a", "a/2"], 2, 1), pieces(["a"], 1), pieces(["b"], 1), pieces([])]
    parts.append(pieces(["a", "a/2"], 1, 2))
    ids = [pair.document for each in distinct(parts) for pair in each.pairs]
    assert ids == ["a", "a", "a/2", "a/3", "b", "a/4", "a/5", "a/5"]


@pytest.fixture
def films(tmp_path):
    """Two films of 30 sentences; the second is aligned with two German files."""
    texts = {}
    for name in (
        "de/2000/1/9.xml",
        "en/2000/1/8.xml",
        "de/2000/2/9.xml",
        "de/2000/2/10.xml",
        "en/2000/2/8.xml",
    ):
        texts[name] = document(*(sentence(n, f"{name[:11]}.{n}", 2 * n, 2 * n + 1) for n in range(1, 31)))
    links = [(f"{n};{n}", 1.0) for n in range(1, 31)]
    groups = [("de/2000/1/9.xml", "en/2000/1/8.xml"), ("de/2000/2/9.xml", "en/2000/2/8.xml"),
              ("de/2000/2/10.xml", "en/2000/2/8.xml")]  # fmt: skip
    (tmp_path / "de-en.xml").write_text(alignment(*((*names, links) for names in groups)))
    write_folder(tmp_path / "xml", texts)
    return tmp_path


def corpus(films, *options, kind="opensubtitles"):
    names = ("--alignment", films / "de-en.xml", "--xml", films / "xml", "--out", films / "train")
    main(["corpus", kind, "--source-lang", "en", "--target-lang", "de", *map(str, (*names, *options))])


def read(prefix, end):
    return prefix.with_name(f"{prefix.name}.{end}").read_text().splitlines()


@pytest.mark.parametrize("kind", ["opensubtitles", "opus"])
def test_sampled_corpora(films, kind, capsys):
    corpus(
        films,
        "--sample",
        "2",
        "--sample-context",
        "1",
        "--sample-context-after",
        "1",
        "--clean",
        "none",
        kind=kind,
    )
    marks, ids, lines = (read(films / "train", end) for end in ("current", "docids", "en"))
    assert marks.count("1") == 2 and len(marks) <= 6
    for place in (place for place, mark in enumerate(marks) if mark == "1"):
        number = int(lines[place].rpartition(".")[2])
        for other in {max(1, number - 1), number, min(30, number + 1)}:
            at = place + other - number
            assert lines[at].endswith(f".{other}") and ids[at] == ids[place]
    counts = json.loads((films / "train.counts.json").read_text())
    assert (counts["read"], counts["left_out"]) == (90, {"not sampled": 90 - len(marks)})
    assert counts["settings"]["seed"] == 1 and "left out, not sampled" in capsys.readouterr().out


def test_samples_of_held_out_films(films, capsys):
    (films / "list").write_text("tt0000002\n")
    held_out = ("--held-out", f"{films / 'dev'}={films / 'list'}")
    corpus(films, *held_out, "--sample", f"{films / 'dev'}=3", "--sample-context", "0", "--clean", "none")
    assert len(read(films / "train", "en")) == 30 and not (films / "train.current").exists()
    assert len(read(films / "dev", "en")) == 3 and not (films / "dev.current").exists()
    corpus(films, *held_out, "--sample", "90", "--clean", "none")
    assert "sentences fewer than --sample asks for: 60" in capsys.readouterr().out
    # the same file, aligned twice
    assert read(films / "dev", "docids") == ["2000/2/8"] * 30 + ["2000/2/8/2"] * 30


@pytest.mark.parametrize(
    "text, message",
    [("x=3", "--sample x=3: expected one of the corpora"), ("0", "--sample 0: expected a whole number"),
     ("=", "--sample =: expected a whole number")],
)  # fmt: skip
def test_refused_samples(films, capsys, text, message):
    with pytest.raises(SystemExit) as end:
        corpus(films, "--sample", text)
    assert end.value.code == 2 and message in capsys.readouterr().err.splitlines()[-1]
    assert not list(films.glob("train*"))
