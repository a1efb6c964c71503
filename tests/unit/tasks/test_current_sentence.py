"""From window hypotheses to current sentences: the cut, the ranking, the scores."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.tasks.search.current_sentence import WindowCount, cut, keep_sentence

SEP, EOS = 9, 2


def hypothesis(window, scores=None, score=0.0):
    """A window given as a string: ``a`` to ``z`` are words, ``|`` is the separator."""
    tokens = [SEP if symbol == "|" else 10 + ord(symbol) - ord("a") for symbol in window] + [EOS]
    scores = [-1.0] * len(tokens) if scores is None else scores
    return {
        "tokens": torch.tensor(tokens),
        "positional_scores": torch.tensor(scores),
        "score": torch.tensor(score),
        "attention": torch.arange(2.0 * len(tokens)).view(2, -1),
    }


def text(sentence):
    tokens = sentence["tokens"].tolist()
    assert tokens[-1] == EOS and EOS not in tokens[:-1] and SEP not in tokens
    return "".join(chr(token - 10 + ord("a")) for token in tokens[:-1])


def test_what_is_given_of_a_reference_does_not_count():
    rows = [[hypothesis("z|zab", [-9.0, -1.0, -9.0, -1.0, -2.0, -3.0])], [hypothesis("", [-3.0])]]
    (first,), (second,) = keep_sentence(rows, [1, 0], SEP, EOS, WindowCount(), start=1)
    assert text(first) == "ab" and float(first["score"]) == -2.0 and first["positional_scores"].sum() == -6.0
    assert text(second) == "" and float(second["score"]) == -3.0


@pytest.mark.parametrize(
    ("window", "before", "expected", "well_formed"),
    [
        ("abc", 0, "abc", True),
        ("ab|cd", 1, "cd", True),
        ("a|b|cd", 2, "cd", True),
        ("|cd", 1, "cd", True),  # an empty context sentence
        ("abc", 1, "abc", False),  # too few
        ("a|bc", 2, "bc", False),
        ("a|b|c", 1, "bc", False),  # too many: all that follows the last expected one
        ("a|b", 0, "a", False),  # nothing before: what follows is another sentence
        ("|a|b", 0, "a", False),
        ("||", 0, "", False),
        ("a|b|", 1, "b", False),
        ("a||b", 1, "b", False),
        ("ab|", 1, "ab", False),  # the right number, but nothing follows: the last sentence with a word
        ("a||", 1, "a", False),
        ("a|b||", 2, "b", False),
        ("", 0, "", True),  # the model gave no word at all
        ("", 1, "", False),
        ("||", 1, "", False),
    ],
)
def test_the_current_sentence_of_a_window(window, before, expected, well_formed):
    sentence, found = cut(hypothesis(window), SEP, EOS, before, "current")
    assert (text(sentence), found) == (expected, well_formed)


@pytest.mark.parametrize(
    ("window", "before", "expected", "well_formed"),
    [("ab|cd", 1, "ab", True), ("ab", 0, "ab", True), ("ab|c|d", 1, "ab", False), ("ab", 1, "ab", False)],
)
def test_the_first_sentence_of_a_window(window, before, expected, well_formed):
    sentence, found = cut(hypothesis(window), SEP, EOS, before, "first")
    assert (text(sentence), found) == (expected, well_formed)


@given(st.text("ab|", max_size=12), st.integers(0, 4), st.sampled_from(["current", "first"]))
def test_one_sentence_always_comes_out(window, before, keep):
    whole = hypothesis(window, [-float(at) for at in range(len(window) + 1)])
    original = {name: value.clone() for name, value in whole.items()}
    sentence, well_formed = cut(whole, SEP, EOS, before, keep)
    words = text(sentence)
    assert words in window.replace("|", "")
    if keep == "current":
        assert words or not window.replace("|", "")
        if well_formed and window.count("|") == before:
            assert words == window.split("|")[before]
        assert well_formed <= (window.count("|") == before)
    # Scores and attention are those of the tokens that stayed.
    at = (-sentence["positional_scores"]).long()
    assert len(at) == len(sentence["tokens"])
    assert torch.equal(sentence["tokens"][:-1], whole["tokens"][at][:-1])
    assert torch.equal(sentence["attention"], whole["attention"][:, at])
    assert all(torch.equal(whole[name], value) for name, value in original.items())


def rank(rows, before, count=None, **options):
    return keep_sentence(rows, before, SEP, EOS, count or WindowCount(), **options)


def test_well_formed_windows_rank_first_then_window_score_and_duplicates_merge():
    row = [
        hypothesis("xyz", score=-0.1),  # best, but its separator is missing
        hypothesis("a|cc", score=-0.2),
        hypothesis("b|cc", score=-0.3),  # the same current sentence again
        hypothesis("b|d", [-9.0, -9.0, -0.1, -0.1], score=-0.4),  # a better sentence in a worse window
        hypothesis("d", score=-0.5),  # malformed duplicate
    ]
    count = WindowCount()
    (nbest,) = rank([row], [1], count)
    assert [text(sentence) for sentence in nbest] == ["cc", "d", "xyz"]
    assert float(nbest[1]["score"]) == pytest.approx(-0.1)
    assert (count.windows, count.mismatched) == (1, 0)
    (nbest,) = rank([row[:1]], [1], count)
    assert (count.windows, count.mismatched) == (2, 1)
    assert count.report(True).startswith("1 of 2 windows were translated with a wrong number")
    assert WindowCount().report(True) is count.report(False) is None
    count.too_long = 1
    assert (
        count.report(False)
        == "1 of 2 translations ended at the greatest length of --max-len-a and --max-len-b"
    )
    assert count.report(True).startswith("1 of 2 windows")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, -6.0 / 3),
        ({"length_penalty": 0.6}, -6.0 / 3**0.6),
        ({"length_penalty": 0.0}, -6.0),
        ({"normalize": False}, -6.0),
    ],
)
def test_the_score_is_the_current_sentence_s_own(options, expected):
    ((sentence,),) = rank([[hypothesis("a|bc", [-7.0, -7.0, -1.0, -2.0, -3.0])]], [1], **options)
    assert float(sentence["score"]) == pytest.approx(expected)
