"""Samples of a corpus with their context, and ids of files that are aligned twice."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Pair, Part, distinct
from ctxmt_fairseq.corpora.transforms.sample import Sample
from tests.helpers.corpus_files import write_corpus_files
from tests.helpers.opus_files import alignment, document, sentence, write_folder


def part(name, length, context_only=()):
    builder = DocumentBuilder(name, Account())
    for place in range(length):
        if place in context_only:
            builder.add(f"{name}.{place}", "", current=False)
        else:
            builder.add(f"{name}.{place}", f"{name}:{place}", {"place": str(place)})
    return builder.part()


def draw(parts, folder, size, **options):
    lines = [(*pair[:3], int(pair.current), pair.metadata) for each in parts for pair in each.pairs]
    assume(lines)
    prefix = str(write_corpus_files(folder / "all", lines))
    account, pairs = Account(), []
    for each in Sample(prefix=prefix, source_lang="en", target_lang="de", size=size, **options).parts():
        account.add(each.account)
        pairs += each.pairs
    return pairs, account


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 0), st.integers(0, 9), st.sets(st.integers(0, 8))), max_size=8),
    st.integers(1, 30),
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(0, 3),
)
def test_what_a_sample_keeps(tmp_path_factory, documents, size, before, after, seed):
    folder = tmp_path_factory.mktemp("sample")
    parts = [part(f"{which}/{n}", length, only) for n, (which, length, only) in enumerate(documents)]
    lines = [pair for each in parts for pair in each.pairs]
    pairs, account = draw(parts, folder, size, context=before, context_after=after, seed=seed)
    assert account.balanced and account.read == len(lines) and account.kept == len(pairs)
    place = {pair.source: number for number, pair in enumerate(lines)}
    eligible = sum(pair.current for pair in lines if pair.document[0] == "0")
    assert sum(pair.current for pair in pairs) == min(size, eligible)
    assert account.remarks["sentences fewer than --size asks for"] == max(0, size - eligible)
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
        pairs, _ = draw([part("0/a", 6, {2}), part("0/b", 4)], tmp_path, 3, context=0, seed=seed)
        assert all(pair.current for pair in pairs)
        times.update(pair.source for pair in pairs)
    assert len(times) == 9 and all(150 < count < 250 for count in times.values())  # 200 on average
    whole = [part(f"0/{name}", 50) for name in "ab"]
    first, second, other = (draw(whole, tmp_path, 9, seed=seed)[0] for seed in (1, 1, 2))
    assert first == second != other


def test_a_share_is_taken_until_there_are_enough(tmp_path):
    """MTCue's held-out sets: sentences of described films with one chance in five, from the beginning."""
    parts = [part("0/a", 200), part("0/b", 200)]
    parts[1].pairs[:] = [pair._replace(metadata={}) for pair in parts[1].pairs]
    pairs, account = draw(parts[::-1], tmp_path, 30, context=0, share=0.2, with_metadata=True)
    places = [int(pair.source.rpartition(".")[2]) for pair in pairs]
    assert len(pairs) == 30 and all(pair.source.startswith("0/a") for pair in pairs)
    assert 100 < places[-1] < 199 and account.remarks["sentences fewer than --size asks for"] == 0
    pairs, account = draw(parts, tmp_path, 300, context=0, share=0.2, seed=2)
    assert 50 < len(pairs) < 110  # of 400
    assert account.remarks["sentences fewer than --size asks for"] == 300 - len(pairs)


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


def draw_from(films, *options):
    names = (
        films / "train",
        "--source-lang",
        "en",
        "--target-lang",
        "de",
        "--out",
        films / "drawn",
        *options,
    )
    main(["corpus", "sample", *map(str, names)])


@pytest.mark.parametrize("kind", ["opensubtitles", "opus"])
def test_sampled_corpora(films, kind, capsys):
    corpus(films, "--clean", "none", kind=kind)
    draw_from(films, "--size", "2", "--context", "1", "--context-after", "1")
    marks, ids, lines = (read(films / "drawn", end) for end in ("current", "docids", "en"))
    assert marks.count("1") == 2 and len(marks) <= 6
    for place in (place for place, mark in enumerate(marks) if mark == "1"):
        number = int(lines[place].rpartition(".")[2])
        for other in {max(1, number - 1), number, min(30, number + 1)}:
            at = place + other - number
            assert lines[at].endswith(f".{other}") and ids[at] == ids[place]
    counts = json.loads((films / "drawn.counts.json").read_text())
    assert (counts["read"], counts["left_out"]) == (90, {"not sampled": 90 - len(marks)})
    assert counts["settings"]["seed"] == 1 and "left out, not sampled" in capsys.readouterr().out


def test_samples_of_held_out_films(films, capsys):
    (films / "list").write_text("tt0000002\n")
    corpus(films, "--held-out", f"{films / 'dev'}={films / 'list'}", "--clean", "none")
    assert len(read(films / "train", "en")) == 30 and not (films / "train.current").exists()
    # the same file, aligned twice
    assert read(films / "dev", "docids") == ["2000/2/8"] * 30 + ["2000/2/8/2"] * 30
    draw_from(films, "--size", "90")
    assert "sentences fewer than --size asks for: 60" in capsys.readouterr().out


def test_refused_samples(films, refusal):
    assert "expected a whole number" in refusal(draw_from, films, "--size", "0")
