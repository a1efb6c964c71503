"""``ctxmt probe --select``: the lines in which context helps most, from pieces of the text."""

import contextlib
import gc
import json
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import Punctuation, TextSteps
from ctxmt_fairseq.evaluation.probe.selection import Scores
from ctxmt_fairseq.evaluation.probe.streamed_words import overlapping, streamed_words
from ctxmt_fairseq.evaluation.probe.word_report import SentenceWords, sentence_words
from ctxmt_fairseq.evaluation.probe.word_values import WordValues
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.probed_models import TASKS, checkpoint_by_task, write_text

CURRENT = ["1", "1", "0", *"1" * 10]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """task -> checkpoint."""
    return checkpoint_by_task(tmp_path_factory.mktemp("selecting"))


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def select(model, text, folder, *options):
    """(what is chosen, bool (n,); JSON; the lines of words)."""
    files = {name: folder / name for name in ("select-output", "json", "words")}
    main(
        ["probe", str(model), text, "--cpu", *options, *(f"--{name}={path}" for name, path in files.items())]
    )
    chosen = np.array([line == "1" for line in files["select-output"].read_text().splitlines()])
    return chosen, json.loads(files["json"].read_text()), records(files["words"])


@given(st.integers(0, 20), st.integers(1, 7), st.integers(0, 9))
def test_pieces_have_what_stands_around_them(count, size, reach):
    together = []
    for items, own in overlapping(iter(range(count)), size, reach):
        piece = items[own]
        first, last = piece[0], piece[-1]
        assert items == list(range(max(first - reach, 0), min(last + reach + 1, count)))
        assert len(piece) == size or last == count - 1
        together += piece
    assert together == list(range(count))


@pytest.mark.parametrize("task", TASKS)
def test_pieces_of_any_size_give_the_numbers_of_the_whole_text(models, tmp_path, task):
    """Those of a probe without --select, which are checked against plain forward passes."""
    prefix = write_text(tmp_path, current=CURRENT)
    words = tmp_path / "whole"
    main(
        [
            "probe",
            str(models(task)),
            prefix,
            "--cxmi-only",
            "--contexts",
            "absent",
            "--cpu",
            "--words",
            str(words),
        ]
    )
    whole = {record["line"]: record for record in records(words)}
    loaded = load_models(str(models(task)), device="cpu")
    for piece in (1, 4, 13):
        found = list(streamed_words(loaded, prefix, None, 100, piece=piece))
        assert [each is None for each in found] == [flag == "0" for flag in CURRENT]
        for each in filter(None, found):
            expected = whole[each.line]
            assert each.words.words == expected["words"]
            np.testing.assert_allclose(
                [*each.words.values, each.words.end], [*expected["bits"], expected["end_bits"]], atol=2e-5
            )


def test_a_piece_of_one_document_has_random_context_of_an_earlier_one(models, tmp_path):
    prefix = write_text(tmp_path, (3, 20, 3))
    loaded = load_models(str(models("multi_source")), device="cpu")
    found = list(streamed_words(loaded, prefix, None, 100, "random", piece=4))
    assert [each.line for each in found] == list(range(1, 27))


def test_memory_does_not_grow_with_the_text(models, tmp_path):
    loaded = load_models(str(models("document_window")), device="cpu")
    peaks = []
    for documents in (6, 6, 24):  # the first time imports and caches count
        prefix = write_text(tmp_path, (5,) * documents)
        tracemalloc.start()
        for number, _ in enumerate(streamed_words(loaded, prefix, None, 100, piece=10)):
            if number % 10 == 9:
                gc.collect()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert number == 119 and peaks[2] < 1.5 * peaks[1], peaks  # of a text four times as long


def numbers(by, line, tagged=()):
    bits = np.array(line["bits"])
    if by == "mean-cxmi":
        return (bits.sum() + line["end_bits"]) / len(bits)
    return (
        max(bits[[word in tagged for word in line["words"]]], default=-np.inf) if by == "tag" else bits.max()
    )


@pytest.mark.parametrize("by", ["max-cxmi", "mean-cxmi", "tag"])
def test_the_best_lines_are_chosen(models, tmp_path, capsys, by):
    prefix = write_text(tmp_path, current=CURRENT)
    reference = (tmp_path / "text.fr").read_text().splitlines()
    tags = [[["vowel"] if word in "aei" else [] for word in line.split()] for line in reference]
    (tmp_path / "tags").write_text("".join(json.dumps({"tags": line}) + "\n" for line in tags))
    options = ("--select", "4", "--by", by, "--tags", str(tmp_path / "tags"))
    chosen, record, lines = select(models("document_window"), prefix, tmp_path, *options)
    assert [line["line"] for line in lines] == [line for line, flag in enumerate(CURRENT, 1) if flag == "1"]
    assert [line["tags"] for line in lines] == [tags[line["line"] - 1] for line in lines]
    scores = {line["line"] - 1: numbers(by, line, "aei") for line in lines}
    best = sorted(scores, key=lambda line: (-scores[line], line))[:4]
    assert np.flatnonzero(chosen).tolist() == sorted(best) and len(chosen) == 13
    assert record["selected"]["least_bits"] == pytest.approx(scores[best[-1]], abs=1e-4)
    assert record["selected"]["mean_bits"] == pytest.approx(
        np.mean([scores[line] for line in best]), abs=1e-4
    )
    possible = [score for score in scores.values() if score > -np.inf]
    assert record["all"]["lines"] == len(possible)
    assert record["all"]["mean_bits"] == pytest.approx(np.mean(possible), abs=1e-4)
    words, bits = (sum(len(line["words"]) for line in lines), sum(line["sentence_bits"] for line in lines))
    assert record["cxmi"] == pytest.approx(bits / words, abs=1e-4)
    assert record["nats_per_sentence"] == pytest.approx(np.log(2) * bits / len(lines), abs=1e-4)
    assert f"CXMI {record['cxmi']:+.4f} bits per word, " in capsys.readouterr().out


def test_what_has_no_words_or_no_room_is_never_chosen(models, tmp_path, capsys, caplog):
    """An empty reference, and a sentence that is longer than the model's 1024 positions."""
    french = ["a b", "", "c", "d " * 2000, *["a b c"] * 9]
    prefix = write_text(tmp_path, fr=french, current=CURRENT)
    chosen, record, lines = select(models("document_window"), prefix, tmp_path, "--select", "13")
    assert np.flatnonzero(~chosen).tolist() == [1, 2, 3] and record["selected"]["lines"] == 10
    assert "10 lines are selected, not 13" in capsys.readouterr().out
    assert "1 sentences are longer than the models read" in caplog.text
    assert [line["line"] for line in lines] == [1, 2, *range(5, 14)]


def test_tags_that_nobody_can_place_are_counted():
    scores = Scores("tag")
    text: Any = SimpleNamespace(current=np.arange(2), references=["a b", "a b"], written=["a b", "a c d"])
    bits = [np.array([1.0, 6.0, 1.0]), np.ones(4)]
    for sentence in sentence_words(text, Subwords(), bits, [[("x",), ()]] * 2):
        scores.add(sentence)
    selection = scores.select(2)
    assert selection.chosen.tolist() == [True, False]
    assert (
        "1 lines are left out: the subword model reads other words there than the tags have"
        in selection.text()
    )


def test_each_character_is_a_word_where_there_are_no_blanks():
    scores = Scores("mean-cxmi")
    lines = ["你好 吗abc"]
    text: Any = SimpleNamespace(current=np.array([0]), references=lines, written=lines)
    scores.add(*sentence_words(text, Subwords(), [np.array([1.0, 6.0, 1.0])]))
    selection = scores.select(1)
    assert selection.cxmi == 8 / 4 and selection.scores.tolist() == [8 / 4]


@pytest.mark.parametrize("bits", [0.0, 0.5])
def test_a_context_that_changes_nothing_is_said(bits):
    scores = Scores("max-cxmi")
    for line in range(3):
        scores.add(SentenceWords(line + 1, WordValues(["a"], np.full(1, bits), 0.0, True), None, 1))
    assert ("the model makes nothing of its context" in scores.select(2).text()) == (not bits)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--select", "3"], "--select and --select-output: expected both"),
        (["--select-output", "new"], "--select and --select-output: expected both"),
        (["--select", "3", "--select-output", "new", "--sizes", "1"], "leave out --contexts, --sizes"),
        (
            ["--select", "3", "--select-output", "new", "--by", "tag"],
            "--by tag: expected --select and --tags",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, monkeypatch, refusal, options, message):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(main, ["probe", "nowhere.pt", "text", *options]) and not list(
        tmp_path.iterdir()
    )


def test_tags_are_those_of_the_words_that_the_models_write(models, tmp_path):
    """Normalised, "a ;b" is one word."""
    prefix = write_text(tmp_path, (1, 1), fr=["a ;b c", "a b"])
    loaded = load_models(str(models("document_window")), device="cpu")
    loaded.target_subwords.steps = TextSteps([Punctuation("de")], "de")
    for first, message in (
        ([[], ["x"]], ""),
        ([[], [], ["x"]], "tags:1: expected tags of the line's 2 words"),
    ):
        (tmp_path / "tags").write_text(
            "".join(json.dumps({"tags": tags}) + "\n" for tags in (first, [[], []]))
        )
        with pytest.raises(BadInput, match=message) if message else contextlib.nullcontext():
            found = next(streamed_words(loaded, prefix, tmp_path / "tags", 100))
    assert (found.words.words, found.tags) == (["a;b", "c"], [(), ("x",)])


def test_tags_of_another_text_leave_nothing_behind(models, tmp_path, refusal):
    prefix = write_text(tmp_path)
    (tmp_path / "tags").write_text('{"tags": []}\n' * 13)
    options = ("--select", "3", "--tags", str(tmp_path / "tags"))
    assert "tags:1: expected tags of the line's" in refusal(
        select, models("document_window"), prefix, tmp_path, *options
    )
    assert not (tmp_path / "select-output").exists() and not (tmp_path / "words").exists()
