"""Files of highlighted words: what they become in windows and batches, and what is refused."""

import json
import logging
from argparse import Namespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.binarised_words import SideWords
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.criterions.attention_regularisation import AttentionRegularisation
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.highlights import LineHighlights, places_of_words, read_highlights
from tests.helpers import synthetic
from tests.helpers.contrastive_files import write
from tests.helpers.window_datasets import EOS, SEP, VOCABULARY, Sentences, dataset

DOCUMENTS = Documents.from_lengths([3, 2])
TEXT = {
    "source": ["a big dog", "it barks", "no", "x y z", "w"],
    "target": ["un gros chien", "il aboie", "non", "x", "w"],
}
GOOD = {"line": 2, "source": {"words": [0], "support": {"-1": [1, 2]}}, "target": {"words": [0]}}


def letters(sentence):
    """Subwords are letters."""
    side, line = sentence
    ends = np.cumsum([len(word) for word in TEXT[side][line].split()])
    return [np.arange(end - len(word), end) for end, word in zip(ends, TEXT[side][line].split(), strict=True)]


def read(tmp_path, *records, places=letters):
    return read_highlights(write(tmp_path / "marks.jsonl", *map(json.dumps, records)), DOCUMENTS, places)


def test_words_become_subwords(tmp_path, caplog):
    both = {
        "line": 3,
        "source": {"words": [0], "support": {"0": [], "-2": [2, 0, 2]}},
        "target": {"words": [0], "support": {"-1": [1]}},
    }
    with caplog.at_level(logging.INFO):
        found = read(tmp_path, GOOD, both)
    assert "4 highlighted words in 2 sentences; 0 sentences left out" in caplog.text
    assert [place.tolist() for place in found[1].words["source"]] == [[0, 1]]
    assert {name: places.tolist() for name, places in found[1].support.items()} == {
        ("source", 0): [1, 2, 3, 4, 5, 6]
    }
    assert {name: places.tolist() for name, places in found[2].support.items()} == {
        ("source", 0): [0, 4, 5, 6], ("target", 1): [2, 3, 4, 5, 6],
    }  # fmt: skip


def test_sentences_with_unknown_subwords_are_counted(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        unknown = {"line": 3, "source": {"words": [0], "support": {"-1": [1]}}}
        found = read(tmp_path, GOOD, unknown, places=lambda name: letters(name) if name[1] < 2 else None)
    assert set(found) == {1} and "1 sentences left out for unknown subwords" in caplog.text


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "expected an object with the key 'line'"),
        ({"line": 0}, "expected a line from 1 to 5, found 0"),
        ({"line": 6}, "expected a line from 1 to 5, found 6"),
        ({"line": True}, "expected a whole number at the key 'line', found true"),
        ({"line": 2, "source": [1]}, "expected an object at the key 'source'"),
        ({"line": 2, "source": {"words": 3}}, "expected a list at the key 'words'"),
        ({"line": 2, "source": {"words": [True]}}, "list of words, counted from 0, at the key 'words'"),
        ({"line": 2, "source": {"words": [-1]}}, "list of words, counted from 0, at the key 'words'"),
        ({"line": 2, "source": {"words": [0], "support": [1]}}, "expected an object at the key 'support'"),
        ({"line": 2, "source": {"words": [0], "support": {"-1": ["0"]}}}, "counted from 0, at the key '-1'"),
        ({"line": 2, "source": {"words": [0], "support": {"-1": [3]}}},
         "source: expected words of line 1, which has 3, found 3"),
        ({"line": 4, "target": {"words": [1], "support": {"1": [0]}}},
         "target: expected words of line 4, which has 1, found 1"),
        ({"line": 2, "source": {"words": [0], "support": {"-2": [0]}}},
         "source: expected a distance in sentences within the document, found '-2'"),
        ({"line": 3, "source": {"words": [0], "support": {"1": [0]}}}, "within the document, found '1'"),
        ({"line": 2, "source": {"words": [0], "support": {"-١": [0]}}}, "within the document, found '-١'"),
        ({"line": 2, "source": {"words": [0], "support": {"9999999999": [0]}}}, "within the document, found"),
        ({"line": 2, "source": {"words": [], "support": {"-1": [0]}}}, "expected words, and words that"),
        ({"line": 2, "source": {"words": [0]}}, "expected words, and words that support them"),
        ({"line": 5}, "line 5 of the text is there twice"),
    ],
)  # fmt: skip
def test_refused(tmp_path, record, message):
    with pytest.raises(BadInput) as caught:
        read(tmp_path, {"line": 5, "source": {"words": [0], "support": {"-1": [0]}}}, record)
    assert "marks.jsonl:2: " in str(caught.value) and message in str(caught.value)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="marks.jsonl: expected highlights, found an empty file"):
        read(tmp_path)


# ---- words and subwords


@given(st.lists(st.integers(1, 4), max_size=9))
def test_places_of_words(sizes):
    starts = [place == 0 for size in sizes for place in range(size)]
    assert [len(word) for word in places_of_words(starts)] == sizes
    assert np.concatenate([np.empty(0, int), *places_of_words(starts)]).tolist() == list(range(len(starts)))


@pytest.fixture(scope="module")
def spm(tmp_path_factory):
    path = tmp_path_factory.mktemp("spm") / "spm.model"
    text = ["the boats left the harbour", "a storm was coming, they said", "nobody stayed behind"] * 5
    path.write_bytes(train_subwords(text, 60, "bpe"))
    return Subwords(path)


@given(st.lists(st.text("aehorst,.", min_size=1, max_size=9), max_size=8))
def test_words_of_a_binarised_sentence_are_those_of_the_text(spm, words):
    """Every place belongs to one word, and a word's pieces spell it."""
    pieces = spm.encode(" ".join(words)).split()
    dictionary = VOCABULARY.__class__()
    for piece in pieces:
        dictionary.add_symbol(piece)
    tokens = dictionary.encode_line(" ".join(pieces), add_if_not_exist=False).long()
    places = SideWords([tokens], dictionary, spm).places(0)
    assert ["".join(pieces[at] for at in word).replace("▁", "") for word in places] == words


def test_unknown_subwords_hide_where_words_start(spm):
    dictionary = VOCABULARY.__class__()
    dictionary.add_symbol("▁a")
    tokens = dictionary.encode_line("▁a ▁b", add_if_not_exist=False).long()
    assert SideWords([tokens], dictionary, spm).places(0) is None
    assert [word.tolist() for word in SideWords([tokens], dictionary, Subwords()).places(0)] == [[0], [1]]


# ---- windows and batches

WINDOW = dict(source_context=2, source_context_after=1, target_context=2)
SELECTIONS = ("document", "swapped", "empty", "absent", "reference", "shuffled")


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("separators", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_places_in_a_batch_hold_the_words_that_were_highlighted(selection, separators, left):
    """Of every word its tokens are asked, and every supporting word that is in the window is a key."""
    window = dict(WINDOW, context_selection=selection, target_context_on_source=1)
    window.update({} if separators else dict(target_context=0))
    data = dataset((7, 6), window=window, separators=separators, left_pad_source=left, longest=9)
    rng = np.random.default_rng(1)
    data.highlights = {
        line: marks for line in range(13) if (marks := random_marks(rng, data, line)) is not None
    }
    rows = [data[line] for line in range(13)]
    batch = data.collater(rows)
    tokens = {"source": batch["net_input"]["src_tokens"], "target": batch["target"]}
    read = batch["net_input"]["prev_output_tokens"]
    for name, (asking, looking) in {
        "encoder": ("source", tokens["source"]), "cross": ("target", tokens["source"]),
        "decoder": ("target", read),
    }.items():  # fmt: skip
        expected = expected_pairs(data, rows, name)
        found = {}
        marked = batch["highlights"].get(name, {"rows": []})
        for number, row in enumerate(marked["rows"]):
            query, keys = marked["queries"][number], marked["keys"][number]
            line = batch["id"][row].item()
            words = tuple(looking[row][keys].tolist())
            found.setdefault(line, []).append((tokens[asking][row, query].item(), tuple(sorted(words))))
        assert {line: sorted(pairs) for line, pairs in found.items()} == expected, name


def random_marks(rng, data, line):
    """Highlights of any words of the sentences near a line; None of an empty sentence."""

    def some(side, sentence, most):
        size = len(getattr(data, side)[sentence]) - 1
        return rng.choice(size, min(size, most), replace=False)

    words = {side: [np.array([place]) for place in some(side, line, 2)] for side in ("source", "target")}
    document = range(0, 7) if line < 7 else range(7, 13)
    near = [other for other in range(line - 3, line + 3) if other in document]
    support = {(side, other): some(side, other, 2) for side in ("source", "target") for other in near}
    support = {name: places for name, places in support.items() if len(places)}
    return LineHighlights(words, support) if any(words.values()) and support else None


def expected_pairs(data, rows, name):
    """By line, of each query its token and its keys' tokens, found by looking for sentences in examples."""
    found = {}
    for row in rows:
        marks = data.highlights.get(row["id"])
        if marks is None:
            continue
        side = "source" if name == "encoder" else "target"
        looking = "target" if name == "decoder" else "source"
        asked = [word[0] for word in marks.words[side]]
        for place in asked:
            keys = []
            for (of, sentence), places in marks.support.items():
                text = getattr(data, of)[sentence][:-1].tolist()
                if not inside(row[looking].tolist(), text, of, looking):
                    continue
                own = name == "decoder" and sentence == row["id"]
                keys += [text[at] for at in places if not own or at < place]
            if keys:
                token = getattr(data, side)[row["id"]][place].item()
                found.setdefault(row["id"], []).append((token, tuple(sorted(keys))))
    return {line: sorted(pairs) for line, pairs in found.items()}


def inside(window, text, of, looking):
    """Whether a sentence's words stand in a window one after the other; words of the two sides differ."""
    if of == "source" and looking == "target":
        return False
    return any(window[at : at + len(text)] == text for at in range(len(window) - len(text) + 1))


def test_the_word_of_several_subwords_counts_once():
    data = dataset((2,), longest=9, window=WINDOW)
    data.source, data.target = (
        Sentences(torch.tensor([first, first + 1, first + 2, EOS]) for first in (5, 9)) for _ in range(2)
    )
    data.highlights = {
        1: LineHighlights({"target": [np.array([0]), np.array([1, 2])]}, {("target", 1): np.array([0])})
    }
    batch = data.collater([data[1]])
    marked = batch["highlights"]["decoder"]
    assert set(batch["highlights"]) == {"decoder"} and marked["words"] == 1
    # The first word precedes nothing; the second's two subwords see it.
    assert marked["subwords"].tolist() == [2, 2] and marked["keys"].sum(1).tolist() == [1, 1]
    assert SEP in batch["target"][0]


# ---- the task


def task(**options):
    made = synthetic.make_task("tiny")
    for name, value in options.items():
        setattr(made.cfg, name, value)
    made._check()
    return made


def test_the_task_reads_them_for_training_alone(tmp_path):
    path = write(
        tmp_path / "marks.jsonl", json.dumps({"line": 5, "target": {"words": [1], "support": {"-1": [0]}}})
    )
    options = dict(attention_highlights=str(path), attention_weight=2.0, data=str(tmp_path))
    made = task(**options)
    data = synthetic.dataset(made, 2, 8)
    assert set(data.highlights) == {4} and "highlights" in data.collater([data[4], data[5]])
    more = (None, False)
    assert made.build_dataset("valid", data.source, data.target, DOCUMENTS, *more).highlights == {}
    without = task(**{**options, "attention_weight": 0.0})
    assert synthetic.dataset(without, 2, 8).highlights == {}
    cfg = Namespace(criterion="cross_entropy", sentence_avg=False)
    assert isinstance(made.build_criterion(cfg), AttentionRegularisation)
    assert not isinstance(without.build_criterion(cfg), AttentionRegularisation)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(attention_weight=-1.0), "--attention-weight -1.0: expected 0 or more"),
        (dict(attention_weight=float("nan")), "--attention-weight nan: expected 0 or more"),
        (dict(attention_weight=1.0, attention_layers="top"), "--attention-layers top: expected attentions"),
        (dict(attention_weight=1.0), "--attention-weight needs --attention-highlights FILE"),
        (dict(attention_weight=1.0, attention_highlights="x", data="a:b"), "needs one data folder"),
        (dict(attention_weight=1.0, attention_highlights="nowhere"), "nowhere: no such file"),
    ],
)
def test_options_that_cannot_work(options, message):
    with pytest.raises(BadInput) as caught:
        synthetic.dataset(task(**options), 2, 8)
    assert message in str(caught.value)


def test_other_tasks_refuse():
    made = synthetic.make_multi_source_task("tiny")
    made.cfg.attention_weight = 1.0
    with pytest.raises(BadInput, match="--attention-weight needs --task document_window"):
        made._check()
