"""The benchmark of the context store measures what it says."""

from collections import Counter

import numpy as np
import torch

from ctxmt_fairseq.corpora.embed import embed
from ctxmt_fairseq.vectors.context_store import ContextStore
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder
from scripts.benchmark import store, training
from tests.unit.benchmark.test_benchmark import assert_finite

DISCRETE = load_text_encoder("discrete")


def test_every_context_of_every_sentence_counts():
    comparison = store.store_size(documents=2, length=8)
    contexts = 2 * sum(1 + 6 + min(line, 5) for line in range(8))  # itself, six fields, previous sentences
    assert comparison.values[0][0] == contexts * 384 * 4 / 2**20
    assert store.store_size(documents=2, length=40).ratios > comparison.ratios > [2]


def test_a_tenth_of_the_sentences_are_repeats(tmp_path):
    embed(store.write_text(tmp_path, 5, 200), tmp_path / "store", "discrete", "float32")
    contexts = ContextStore.open(tmp_path / "store").split("train", 1000)
    texts = contexts.texts(contexts.sentences)
    repeated = sum(count for count in Counter(texts).values() if count > 1)
    assert 0.04 < repeated / 1000 < 0.12  # of 1000 sentences, a phrase is often the only one of its kind
    assert (contexts.metadata >= 0).all()
    assert len(np.unique(contexts.metadata)) == 5 * 6
    assert 18 < np.mean([len(text.split()) for text in texts]) < 22


def test_embedded_anew_is_what_the_store_has(tmp_path):
    embed(store.write_text(tmp_path, 2, 10), tmp_path / "store", "discrete", "float32")
    contexts = ContextStore.open(tmp_path / "store").split("train", 20)
    rows = np.array([[0, 3, 3], [5, 1, 3]])
    np.testing.assert_array_equal(store.EmbeddedAnew(contexts, DISCRETE)[rows], contexts.vectors[rows])


def test_both_ways_train_on_the_same_batches(monkeypatch):
    batches = []
    make = store.step_of

    def step_of(*args):
        step = make(*args)
        return lambda batch: batches.append(batch) or step(batch)

    monkeypatch.setattr(store, "step_of", step_of)
    monkeypatch.setattr(training, "BATCHES", 2)
    comparison = store.store_time("tiny", 1, torch.device("cpu"), 200, DISCRETE)
    assert_finite(comparison, 2)
    assert len(batches) == 6  # with the warm-up pair
    for anew, stored in zip(batches[::2], batches[1::2], strict=True):
        assert set(anew["net_input"]["context"]) >= {"vectors", "distances"}
        for one, other in ((stored, anew), (stored["net_input"], anew["net_input"])):
            for name, value in one.get("context", one.get("net_input", {})).items():
                if torch.is_tensor(value):
                    assert torch.equal(other.get("context", other.get("net_input"))[name], value), name
