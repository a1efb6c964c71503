"""``ctxmt corpus split`` and ``mix``: every line goes where it belongs, in order, and none is lost."""

import itertools
import json
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.transforms.mix import mix
from ctxmt_fairseq.corpora.transforms.pair_scores import pair_hash
from ctxmt_fairseq.corpora.transforms.split import Split
from tests.helpers.corpus_files import read_corpus_files, write_corpus_files

# Few texts, so that pairs come again; documents of 1 to 5 lines.
WORDS = st.sampled_from(["yes", "no", "so it is", "", "well"])
DOCUMENTS = st.lists(
    st.lists(st.tuples(WORDS, WORDS, st.sampled_from([1, 1, 0])), min_size=1, max_size=5),
    min_size=1,
    max_size=8,
)


def numbered(documents):
    return [
        (source, target, f"d{number}", current, {"line": f"{number}.{place}"})
        for number, document in enumerate(documents)
        for place, (source, target, current) in enumerate(document)
    ]


def as_lines(parts, read=None):
    parts = list(parts)
    assert read in (None, sum(part.account.read for part in parts))
    assert all(part.account.balanced and part.account.kept == len(part.pairs) for part in parts)
    return [(*pair[:3], int(pair.current), pair.metadata) for part in parts for pair in part.pairs]


@settings(deadline=None, max_examples=60)
@given(DOCUMENTS, st.sampled_from(["context", "leave-out", "keep"]), st.sets(st.integers(0, 7)))
def test_no_line_and_no_pair_crosses(tmp_path_factory, documents, duplicates, listed):
    folder = tmp_path_factory.mktemp("split")
    lines = numbered(documents)
    prefix = str(write_corpus_files(folder / "all", lines))
    (folder / "list").write_text("".join(f"d{number}\n" for number in listed))
    route = HeldOut(["dev=0.4", f"test={folder / 'list'}"], "document")
    command = Split(prefix=prefix, source_lang="en", target_lang="de", duplicates=duplicates)
    parts = list(command.documents(route))
    after = as_lines(parts)
    corpora = [[line for line in after if route(line[2]) == number] for number in range(3)]
    before = [[line for line in lines if route(line[2]) == number] for number in range(3)]
    assert {line[2] for line in before[2]} == {f"d{n}" for n in listed if n < len(documents)}
    later = [{line[:2] for line in sum(before[number + 1 :], []) if line[3]} for number in range(3)]
    for number in range(3):
        double = [bool(line[3] and line[:2] in later[number]) for line in before[number]]
        if duplicates == "leave-out":
            stays = [line for line, twice in zip(before[number], double, strict=True) if not twice]
            assert [(*a[:2], *a[3:]) for a in corpora[number]] == [(*b[:2], *b[3:]) for b in stays]
        else:
            marks = [
                0 if twice and duplicates == "context" else line[3]
                for line, twice in zip(before[number], double, strict=True)
            ]
            assert corpora[number] == [
                (*line[:3], mark, line[4]) for line, mark in zip(before[number], marks, strict=True)
            ]
        if duplicates != "keep":
            current = {line[:2] for line in corpora[number] if line[3]}
            assert not current & later[number]
    # lines share a document only if they stood behind each other
    place = {line[4]["line"]: number for number, line in enumerate(lines)}
    for first, second in itertools.pairwise(after):
        if first[2] == second[2]:
            assert place[second[4]["line"]] == place[first[4]["line"]] + 1
    account = Counter()
    for part in parts:
        account += part.account.left_out
    assert sum(account.values()) == len(lines) - len(after)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(DOCUMENTS, min_size=1, max_size=3), st.lists(st.fractions(1, 4, max_denominator=7), min_size=3)
)
def test_mixed_lines_come_as_often_as_asked_for(tmp_path_factory, corpora, times):
    folder = tmp_path_factory.mktemp("mix")
    times = times[: len(corpora)]
    lines = [numbered(documents) for documents in corpora]
    files = [
        TextFiles(str(write_corpus_files(folder / f"c{number}", each)), "en", "de")
        for number, each in enumerate(lines)
    ]
    begun = sum(math.ceil(often) * len(each) for each, often in zip(lines, times, strict=False))
    mixed = as_lines(mix(files, times), begun)
    place = 0
    for number, (each, often) in enumerate(zip(lines, times, strict=True), 1):
        for repetition in range(1, int(often) + 1):  # whole repetitions: every line, in order
            for line in each:
                source, target, document, current, metadata = mixed[place]
                assert (source, target, current, metadata) == (*line[:2], *line[3:])
                assert document == f"{number}.{repetition}/{line[2]}"
                place += 1
        rest = [line for line in mixed[place:] if line[2].startswith(f"{number}.")]
        place += len(rest)
        ids = [line[2].partition("/")[2] for line in rest]
        chosen = [line for line in each if line[2] in ids]  # whole documents, in order, each once
        assert [(*line[:2], *line[3:]) for line in rest] == [(*line[:2], *line[3:]) for line in chosen]
        longest = max(Counter(line[2] for line in each).values())
        assert abs(len(rest) - (often - int(often)) * len(each)) <= longest
    assert place == len(mixed)


def run(kind, *options):
    main(["corpus", kind, *map(str, options), "--source-lang", "en", "--target-lang", "de"])


@pytest.fixture
def films(tmp_path):
    """Six films of two documents of three lines; "ja" closes each."""
    lines = [
        (text, text.upper(), f"2000/{film}/8{end}", 1, {"film": str(film)})
        for film in range(6)
        for end in ("", "/2")
        for text in (f"a{film}{end}", f"b{film}{end}", "ja")
    ]
    return write_corpus_files(tmp_path / "all", lines, without=("current",)), lines


def test_split_command(films, tmp_path, capsys):
    prefix, lines = films
    (tmp_path / "list").write_text("tt0000002\n0000009\n")
    held_out = ("--held-out", f"{tmp_path / 'test'}={tmp_path / 'list'}", "--by", "film")
    run("split", prefix, *held_out, "--out", tmp_path / "train")
    train, test = read_corpus_files(tmp_path / "train"), read_corpus_files(tmp_path / "test")
    assert test == [line for line in lines if "/2/8" in line[2]] and len(test) == 6
    assert train == [(*line[:3], int(line[0] != "ja"), line[4]) for line in lines if "/2/8" not in line[2]]
    counts = json.loads((tmp_path / "train.counts.json").read_text())
    assert (counts["read"], counts["kept"], counts["left_out"]) == (36, 36, {})
    assert counts["remarks"] == {
        "duplicates of held-out pairs (context)": 10,
        "listed, but not in the corpus": 1,
    }
    assert counts["corpora"][str(tmp_path / "train")]["context_only"] == 10
    assert "listed, but not in the corpus: 1" in capsys.readouterr().out

    run("split", prefix, *held_out, "--duplicates", "leave-out", "--out", tmp_path / "train")
    assert not (tmp_path / "train.current").exists()
    assert len(read_corpus_files(tmp_path / "train")) == 20
    assert json.loads((tmp_path / "train.counts.json").read_text())["left_out"] == {
        "duplicates of held-out pairs": 10
    }


def test_runs_stay_with_their_document(tmp_path):
    (tmp_path / "list").write_text("a#3 \n")
    route = HeldOut([f"test={tmp_path / 'list'}", "dev=0.5"], "document")
    assert route("a") == route("a#2") == route("a#2#3") == 1 and route("a/2") != 1
    assert len({route(f"b#{number}") for number in range(2, 30)} | {route("b")}) == 1
    assert {route(f"b/{number}") for number in range(30)} == {0, 2}


def test_what_stands_behind_a_hole_stays_with_its_document(tmp_path):
    names = [f"{name}{part}" for name in range(60) for part in ("", "/2", "/2#2", "/4")]
    names += [f"b/{number}" for number in range(40)]
    prefix = write_corpus_files(tmp_path / "all", [(name, name, name, 1, {}) for name in names])
    held_out = (
        "--held-out",
        f"{tmp_path / 'test'}=0.3",
        "--held-out",
        f"{tmp_path / 'dev'}={tmp_path / 'list'}",
    )
    (tmp_path / "list").write_text("7\n8\n9/2\n")
    run("split", prefix, *held_out, "--out", tmp_path / "train")
    places = {}
    for corpus in ("train", "test", "dev"):
        for line in read_corpus_files(tmp_path / corpus):
            places.setdefault(line[2].partition("/")[0].partition("#")[0], set()).add(corpus)
    assert all(len(places[str(name)]) == 1 for name in range(60) if name != 9) and len(places["b"]) == 2
    assert places["7"] == places["8"] == {"dev"} < places["9"]


def test_a_document_that_returns_is_none_with_its_first_part(tmp_path):
    """What stood between them went to another corpus."""
    lines = [(name, name, name[0], 1, {}) for name in ("a1", "b1", "a2", "a3", "b2", "a4")]
    prefix = write_corpus_files(tmp_path / "all", lines)
    (tmp_path / "list").write_text("b\n")
    held_out = f"{tmp_path / 'test'}={tmp_path / 'list'}"
    run("split", prefix, "--held-out", held_out, "--out", tmp_path / "train")
    ids = [line[2] for line in read_corpus_files(tmp_path / "train")]
    assert ids == ["a", "a#2", "a#2", "a"]
    assert [line[2] for line in read_corpus_files(tmp_path / "test")] == ["b", "b#2"]


def test_different_pairs_have_different_hashes():
    from ctxmt_fairseq.corpora.pairs import Pair

    pairs = [Pair(a, b, "d") for a, b in itertools.product(["a", "b", "a b", ""], repeat=2)]
    assert len({pair_hash(pair) for pair in pairs}) == len(pairs)
    assert pair_hash(pairs[0]) == pair_hash(pairs[0]._replace(document="e", current=False)) < 2**64


def test_mix_command(films, tmp_path, capsys):
    prefix, lines = films
    small = write_corpus_files(
        tmp_path / "small", [("x", "X", "n", 1, {})] * 8, without=("docids", "meta.jsonl")
    )
    run("mix", f"{prefix}=2", f"{small}=1", "--out", tmp_path / "train")
    mixed = read_corpus_files(tmp_path / "train")
    assert [line[2] for line in mixed[:36]] == [f"1.1/{line[2]}" for line in lines]
    # 18 of 8: twice, and every fourth once more
    again = [f"2.{repetition}/{number}" for repetition in (1, 2) for number in range(1, 9)]
    assert [line[2] for line in mixed[36:]][:16] == again and len(mixed) == 54
    assert mixed[-1] == ("x", "X", mixed[-1][2], 1, {}) and mixed[0][4] == {"film": "0"}
    printed = capsys.readouterr().out
    assert "60 lines read, 54 kept" in printed and "left out, beyond the ratios: 6" in printed
    assert f"lines of {small}: 18" in printed and f"lines of {prefix}: 36" in printed
    run("mix", prefix, small, "--out", tmp_path / "once")
    assert len(read_corpus_files(tmp_path / "once")) == 44


def test_metadata_of_another_corpus_is_not_taken_for_the_new_ones(films, tmp_path, refusal):
    """``ctxmt preprocess`` reads whatever PREFIX.meta.FIELD there is."""
    prefix, _ = films
    (tmp_path / "new.meta.genre").write_text("drama\n" * 36)
    assert "new.meta.genre: belongs to another corpus" in refusal(
        run, "mix", prefix, "--out", tmp_path / "new"
    )
    assert [path.name for path in tmp_path.glob("new*")] == ["new.meta.genre"]


def test_refusals(films, tmp_path, refusal):
    prefix, _ = films
    (tmp_path / "list").write_text("none of them\n")
    nothing = write_corpus_files(tmp_path / "nothing", [("a", "b", "d", 0, {})])
    for kind, options, message in (
        ("split", (prefix,), "the following arguments are required: --held-out"),
        ("split", (prefix, "--held-out", "x"), "--held-out x: expected PREFIX=FILE or PREFIX=SHARE"),
        (
            "split",
            (prefix, "--held-out", f"{tmp_path / 'x'}={tmp_path / 'list'}"),
            "x: would be empty: no document goes there",
        ),
        ("split", (prefix, "--held-out", "x=1"), "expected a file or a share between 0 and 1, found 1"),
        ("split", (prefix, "--held-out", "x=1e-9"), "x: would be empty: no document goes there"),
        ("split", (prefix, "--held-out", f"{tmp_path / 'out'}=0.5"), "two outputs have this name"),
        ("split", (tmp_path / "none", "--held-out", f"{tmp_path / 'x'}=0.5"), "none.en: no such file"),
        ("mix", (prefix, f"{prefix}=2"), "expected a ratio for each corpus, or none"),
        ("mix", (f"{prefix}=0",), "expected PREFIX=RATIO, a number"),
        ("mix", (f"{prefix}=much",), "expected PREFIX=RATIO, a number"),
        ("mix", (f"{nothing}=1",), "nothing: has no sentences, only context"),
        ("mix", (tmp_path / "none",), "none.en: no such file"),
    ):
        assert message in refusal(run, kind, *options, "--out", tmp_path / "out")
        assert not list(tmp_path.glob("out*")) and not list(tmp_path.glob("x.*"))
    with pytest.raises(BadInput, match="expected two languages, found en twice"):
        TextFiles(prefix, "en", "en")
