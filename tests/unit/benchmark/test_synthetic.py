"""Random sentences and models: of realistic lengths, the same for the same seed."""

import numpy as np
import torch

from tests.helpers import synthetic


def test_sentences_are_words_of_realistic_lengths_and_repeat_with_the_seed():
    task = synthetic.make_task("tiny")
    dictionary = task.source_dictionary
    first, again = (synthetic.sentences(task, np.random.default_rng(7), 500) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert (
        0.9 * synthetic.LENGTH < np.mean([len(sentence) - 1 for sentence in first]) < 1.1 * synthetic.LENGTH
    )
    tokens = torch.cat([sentence[:-1] for sentence in first]).unique()
    words = {synthetic.word(number) for number in range(synthetic.WORDS["tiny"])}
    assert {dictionary[token] for token in tokens} <= words
    assert len(tokens) > 0.99 * len(words)
    assert all(sentence[-1] == dictionary.eos() for sentence in first)
    of_one_length = synthetic.sentences(task, np.random.default_rng(7), 3, length=5)
    assert list(map(len, of_one_length)) == [6, 6, 6]


def test_both_models_have_the_same_parameters():
    task = synthetic.make_task("tiny")
    ours, stock = (synthetic.make_model(task, "tiny", concat).state_dict() for concat in (True, False))
    same = [name for name in stock if "version" not in name and "_float_tensor" not in name]
    assert len(same) > 50
    assert all(torch.equal(ours[name], stock[name]) for name in same)
