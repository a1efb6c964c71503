"""What splits of a corpus share: counted, printed, and nothing is trained on what is tested."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.overlap import Overlap, overlap_lines
from ctxmt_fairseq.corpora.pairs import Pair
from tests.helpers.corpus_files import write_corpus_files

LANGUAGES = ("--source-lang", "en", "--target-lang", "de")
TRAIN = [
    ("Yes.", "Ja.", "a"),
    ("The cat sleeps.", "Die Katze schläft.", "a"),
    ("Two!", "Zwei!", "b"),
    ("A", "B", "b"),
]
TEST = [
    ("the cat sleeps", "die Katze schläft", "x"),
    ("Two!", "Zwei!", "y"),
    ("Yes.", "Doch.", "y"),
    ("yes", "ja", "z"),
]


def pairs(lines):
    return [Pair(*line, line=number) for number, line in enumerate(lines, 1)]


def compared(**splits):
    """``as_dict`` of splits, the last of which is read first."""
    overlap = Overlap()
    for name in reversed(splits):
        assert list(overlap.pairs(name, pairs(splits[name]))) == pairs(splits[name])
    return overlap.as_dict()


def test_pairs_sources_and_documents_are_counted():
    """Pairs (one as it is, three but for case), sources (all four), and no document, for the order counts."""
    found = compared(train=TRAIN, test=TEST)
    assert found == {"train": {"test": {"pairs": [1, 3, 4], "sources": [2, 4, 4], "documents": [0, 0, 3]}}}
    assert overlap_lines(found) == [
        "train has of test: 1 (3) of 4 pairs, 2 (4) of 4 sources, 0 (0) of 3 documents"
    ]
    several = compared(
        train=TRAIN, valid=[("Yes!", "Ja!", "v"), ("The cat sleeps", "x", "v")], test=TRAIN[:2]
    )
    assert several["train"]["valid"] == {"pairs": [0, 1, 2], "sources": [0, 2, 2], "documents": [0, 1, 1]}
    assert several["train"]["test"] == {"pairs": [2, 2, 2], "sources": [2, 2, 2], "documents": [1, 1, 1]}
    assert several["valid"]["test"]["pairs"] == [0, 1, 2]


def test_marks_and_punctuation_tell_apart_what_differs():
    train = [("की", "x", "a"), ("?", "?", "a"), ("é", "x", "b"), ("何？", "y", "c")]
    test = [("का", "x", "a"), ("!", "!", "b"), ("e", "x", "c"), ("何", "y", "d")]
    assert compared(train=train, test=test)["train"]["test"]["pairs"] == [0, 1, 4]


@pytest.mark.parametrize(
    ("line", "other", "alike"),
    [
        ("二〇〇人が来た。", "二〇〇〇人が来た。", False),
        ("我々", "我", False),
        ("你好，世界。", "你好世界", True),
        ("使用 API 吧", "使用API吧！", True),
        ("はい～", "はい", True),
        ("سلام۔", "سلام", True),
        ("Việt Nam.", "Vie\u0323\u0302t nam", True),
        ("x² m", "x m", False),
    ],
)
def test_punctuation_of_any_script_makes_no_difference(line, other, alike):
    found = compared(train=[(line, "x", "a")], test=[(other, "x", "a")])
    assert found["train"]["test"]["pairs"] == [0, int(alike), 1]


def test_lines_of_context_are_no_pairs():
    found = compared(
        train=[("A", "B", "a", False), ("C", "D", "a")], test=[("A", "B", "a"), ("C", "D", "a", False)]
    )
    assert found["train"]["test"] == {"pairs": [0, 0, 1], "sources": [0, 0, 1], "documents": [1, 1, 1]}


WORDS = st.lists(st.sampled_from(["a", "A", "b", "b.", ".", ""]), max_size=2).map(" ".join)
LINES = st.lists(st.tuples(WORDS, WORDS, st.sampled_from("xyz")), max_size=8)


@given(LINES, LINES)
def test_it_is_what_a_plain_count_gives(train, test):
    def plain(text):
        return " ".join(re.findall(r"\w+", text.lower())) or text

    def keys(lines):
        lines = [line for line in lines if line[0] or line[1]]
        yield Counter((source, target) for source, target, _ in lines)
        yield Counter((plain(source), plain(target)) for source, target, _ in lines)
        yield Counter(source for source, _, _ in lines)
        yield Counter(plain(source) for source, _, _ in lines)

    shared = [
        sum(number for key, number in there.items() if key in here)
        for here, there in zip(keys(train), keys(test), strict=True)
    ]
    found = compared(train=train, test=test)["train"]["test"]
    assert [*found["pairs"][:2], *found["sources"][:2]] == shared


def preprocessed(folder, *options):
    for name, lines in {"train": TRAIN, "test": TEST}.items():
        write_corpus_files(folder / name, [(*line, 1, {}) for line in lines])
        (folder / f"{name}.current").unlink()
        (folder / f"{name}.meta.jsonl").unlink()
    text = ("--train", str(folder / "train"), "--test", str(folder / "test"))
    main(
        [
            "preprocess",
            *LANGUAGES,
            *text,
            "--no-subwords",
            "--overwrite",
            *options,
            "--out",
            str(folder / "data"),
        ]
    )
    return folder / "data"


def test_nothing_is_trained_on_what_is_tested(tmp_path, capsys):
    data = preprocessed(tmp_path)
    assert "train has of test: 1 (3) of 4 pairs" in capsys.readouterr().out
    assert not (data / "train.en-de.current").exists()
    before = {path.name: path.read_bytes() for path in data.iterdir() if path.name != "ctxmt.json"}
    preprocessed(tmp_path, "--drop-overlap")
    assert "3 training pairs are context only, because other splits have them" in capsys.readouterr().out
    after = {path.name: path.read_bytes() for path in data.iterdir() if path.name != "ctxmt.json"}
    assert after.pop("train.en-de.current") == b"0\n0\n0\n1\n" and after == before
    description = json.loads((data / "ctxmt.json").read_text())
    assert description["dropped"] == description["splits"]["train"]["context_only"] == 3
    main(
        [
            "embed",
            str(data),
            "--train",
            str(tmp_path / "train"),
            "--test",
            str(tmp_path / "test"),
            "--encoder",
            "discrete",
        ]
    )


def test_what_has_nothing_to_compare_is_refused(tmp_path, refusal):
    write_corpus_files(tmp_path / "t", [(*line, 1, {}) for line in TRAIN])
    command = f"preprocess {' '.join(LANGUAGES)} --train {tmp_path}/t --drop-overlap --out {tmp_path}/d"
    assert "--drop-overlap needs --train, and --valid or --test" in refusal(main, command.split())


def test_check_compares_corpora(tmp_path, capsys):
    names = [write_corpus_files(tmp_path / name, [(*line, 1, {}) for line in lines])
             for name, lines in (("train", TRAIN), ("test", TEST))]  # fmt: skip
    main(["corpus", "check", *map(str, names), *LANGUAGES, "--json", str(tmp_path / "json")])
    train, test = map(str, names)
    assert f"{train} has of {test}: 1 (3) of 4 pairs" in capsys.readouterr().out
    report = json.loads((tmp_path / "json").read_text())
    assert report["overlap"] == {train: {test: compared(train=TRAIN, test=TEST)["train"]["test"]}}
    assert report[train]["faults"] == report[test]["faults"] == {}
    (tmp_path / "test.docids").write_text("x\n")
    with pytest.raises(SystemExit) as end:
        main(["corpus", "check", *map(str, names), *LANGUAGES])
    assert end.value.code == 2 and f"{test}: 1 faults, as listed" in capsys.readouterr().err
