"""A search that is handed few symbols, beside the one that sees the whole vocabulary."""

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.tasks.search import best_symbols
from ctxmt_fairseq.tasks.search.beams import Ensemble, beams
from ctxmt_fairseq.tasks.search.best_symbols import BestSymbols, hand_best_symbols
from tests.helpers.steps import STOCK, batch, build


@pytest.fixture(autouse=True)
def any_vocabulary(monkeypatch):
    monkeypatch.setattr(best_symbols, "_LEAST", 0)


def vocabulary(words):
    dictionary = Dictionary()
    for number in range(words):
        dictionary.add_symbol(f"w{number}")
    return dictionary


@given(st.integers(1, 3), st.integers(1, 4), st.integers(8, 40), st.integers(0, 3), st.integers(0, 99))
def test_a_step_chooses_what_fairseqs_chooses(rows, beam, words, step, seed):
    torch.manual_seed(seed)
    dictionary = vocabulary(words)
    lprobs = torch.randn(rows * beam, len(dictionary)).log_softmax(-1)
    scores = torch.randn(rows, beam, step)
    search = BestSymbols(dictionary, beam)
    every, few = lprobs.clone(), search.of(lprobs)
    for handed in (every, few):
        handed[:, dictionary.pad()] = -torch.inf
        handed[:, dictionary.unk()] -= 1
    expected = BeamSearch(dictionary).step(step, every.view(rows, beam, -1), scores)
    found = search.step(step, few.view(rows, beam, -1), scores)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.equal(theirs)


@pytest.mark.parametrize(
    "options", [{}, {"unk_penalty": -3}, {"min_len": 6}, {"max_len_b": 3}, {"temperature": 2}]
)
def test_n_best_lists_are_those_of_the_whole_vocabulary(options):
    task, model = build(STOCK)
    sample, beam = batch(task), 3
    model.eval().make_generation_fast_(need_attn=False)
    options = {"beam_size": beam, "max_len_b": 20, **options}

    def search(hand):
        generator = SequenceGenerator(Ensemble([model]), task.target_dictionary, **options)
        hand(generator)
        with beams([model], beam):
            return generator.generate([model], sample), generator

    expected, _ = search(lambda generator: None)
    found, generator = search(hand_best_symbols)
    assert generator.vocab_size == 4 + 2 * beam < len(task.target_dictionary)
    for ours, theirs in zip(found, expected, strict=True):
        assert [each["tokens"].tolist() for each in ours] == [each["tokens"].tolist() for each in theirs]
        assert [float(each["score"]) for each in ours] == [float(each["score"]) for each in theirs]


@pytest.mark.parametrize("options", [{"no_repeat_ngram_size": 2}, {"search_strategy": BeamSearch}])
def test_other_searches_see_every_symbol(options):
    task, model = build(STOCK)
    if "search_strategy" in options:
        options = {"search_strategy": type("Other", (BeamSearch,), {})(task.target_dictionary)}
    generator = SequenceGenerator(Ensemble([model]), task.target_dictionary, **options)
    hand_best_symbols(generator)
    assert generator.vocab_size == len(task.target_dictionary)
    assert not isinstance(generator.search, BestSymbols)
