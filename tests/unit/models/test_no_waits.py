"""A step of training or decoding waits for the device where fairseq's own does, and nowhere else."""

from collections import Counter

import numpy as np
import pytest
import torch

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.criterions.attention_regularisation import PAPERS_LAYERS, parse_layers, regularised
from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.sentence_cache import SentenceCache
from ctxmt_fairseq.tasks.search.beams import beams
from ctxmt_fairseq.tasks.search.current_sentence import WindowCount
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import SEPARATOR
from tests.helpers import synthetic
from tests.helpers.highlighted import collated, highlighted
from tests.helpers.other_device import DEVICE, OtherDevice
from tests.helpers.steps import (
    BEAM,
    CHOSEN,
    STOCK,
    SYSTEMS,
    batch,
    build,
    criterion,
    decoder,
    first_steps,
    train,
)

ENCODER = ("fairseq/models/transformer/transformer_encoder.py", "forward_scriptable", "_local_scalar_dense")
DECODER = (
    "fairseq/models/transformer/transformer_decoder.py",
    "extract_features_scriptable",
    "_local_scalar_dense",
)
# What is waited for all the same: fairseq's layers ask whether a batch has pads, in every layer of an encoder
# and once in a decoder.
FAIRSEQS = {ENCODER, DECODER}
# What is sent to the device beside the batch, once for a model: fairseq's mask, the frequencies of positions.
SENT_ONCE = {
    ("fairseq/models/transformer/transformer_decoder.py", "buffered_future_mask", "_to_copy"),
    ("ctxmt_fairseq/models/blocks/segment_positions.py", "_sinusoids", "_to_copy"),
}
SCORES = ("ctxmt_fairseq/generation/forced_scoring.py", "_log_probs", "_to_copy")
COPY = ("ctxmt_fairseq/data/device_copies.py", "to_device", "_to_copy")


def systems(kept=CHOSEN):
    return [name if name in kept else slow(name) for name in SYSTEMS]


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


def on_the_device(system, loss="label_smoothed"):
    """What a step of training and the third step of decoding wait for and send."""
    task, model = build(system, dropout=0.0)
    sample = batch(task)
    torch.manual_seed(1)
    near = train(model, criterion(task, loss), sample)
    model.zero_grad()
    training, decoding = OtherDevice(), OtherDevice()
    with training as device:
        device.put(model)
        far_sample = device.put(sample)
        torch.manual_seed(1)
        far = train(model, criterion(task, loss), far_sample)
    assert near.isfinite()
    torch.testing.assert_close(far.near, near, rtol=1e-4, atol=0)
    assert any(parameter.grad.near.any() for parameter in model.parameters() if parameter.grad is not None)
    with OtherDevice():
        step = decoder(model, far_sample)
        *before, last = first_steps(far_sample)
        order = device.put(torch.arange(len(last)) ^ 1)  # the two hypotheses of a sentence change places
        for tokens in before:
            step(tokens)
    with decoding:
        step(last, order)
    return training, decoding


class Search:
    """In place of fairseq's search, which reads at every step: it encodes, and has two hypotheses each."""

    def __init__(self, device):
        self.device = device

    def generate(self, models, sample):
        encoder_out = models[0].encoder.forward_torchscript(sample["net_input"])
        words = self.device.put(torch.tensor([7, 8, 2]))
        scores = encoder_out["encoder_out"][0].new_zeros(3)
        hypothesis = {"tokens": words, "positional_scores": scores, "score": scores.sum()}
        return [[dict(hypothesis), dict(hypothesis)] for _ in sample["parts"].lines]


def loaded_on(device, system):
    """The models of a system on the device, and random documents."""
    task, model = build(system)
    rng = np.random.default_rng(1)
    texts = [synthetic.sentences(task, rng, 8, 6) for _ in range(2)]
    loaded = LoadedModels([device.put(model.eval())], task, DEVICE, Subwords(), Subwords())
    return loaded, *texts, Documents.from_lengths([4, 4])


@pytest.mark.parametrize("system", ["concat shift", "caching none"])
def test_translation_sends_and_fetches_a_batch_in_one_copy(system):
    with OtherDevice() as device:
        loaded, sources, _, documents = loaded_on(device, system)
        cached = system == "caching none"
        if cached:
            loaded.models[0].encoder.sentence_cache = SentenceCache()
        limits = loaded.limits
        running = RunningDocuments(
            loaded.task, sources, documents, limits=limits, unique_sentences=True if cached else None
        )
        for line in range(3):
            running.translate(Search(device), loaded.models, [line, line + 4], WindowCount())
    assert running.targets[6].tolist() == [7, 8, 2]
    assert set(device.waits) == {ENCODER, COPY} and device.fetched == {COPY: 3}
    # Besides the batch: which sentences are new to the kept ones, in the first batch alone; their sizes.
    assert device.sent - Counter(dict.fromkeys(SENT_ONCE, 1)) == {COPY: 3 + 4 * cached}


@pytest.mark.parametrize("system", ["concat shift", slow("gated"), slow("gru")])
def test_forced_target_context_is_sent_in_one_copy_and_waits_for_nothing(system, stock):
    """The first step of a search reads it, the others continue it."""
    with OtherDevice() as device, torch.no_grad():
        loaded, sources, targets, documents = loaded_on(device, system)
        running = RunningDocuments(loaded.task, sources, documents, targets, loaded.limits)
        made, prefixes = running.batch([1, 6], True)
        made = device.put(made)
        ensemble = ForcedPrefixEnsemble(loaded.models, 2, 1)
        ensemble.separator, ensemble.end = loaded.task.target_dictionary.index(SEPARATOR), 2
        ensemble.prefixes = prefixes
        ensemble.set_decoder_beam_size(BEAM)
        order = device.put(torch.tensor([0, 0, 1, 1]))
        tokens = device.put(torch.tensor([[2, 7, 8], [2, 9, 9]]).repeat(BEAM, 1))
        with beams(loaded.models, BEAM):
            outs = ensemble.reorder_encoder_out(ensemble.forward_encoder(made["net_input"]), order)
            device.waits.clear()
            device.sent.clear()
            states = [{}]
            ensemble.forward_decoder(tokens[:, :1], outs, states)
            reading, device.waits = device.waits, Counter()
            assert device.sent - Counter(dict.fromkeys(SENT_ONCE, 1)) == {COPY: 1}
            device.sent.clear()
            for step in (2, 3):
                ensemble.reorder_incremental_state(states, order)
                outs = ensemble.reorder_encoder_out(outs, order)
                ensemble.forward_decoder(tokens[:, :step], outs, states)
    assert set(reading) <= {DECODER} and not device.sent
    assert device.waits == ({} if system == "gru" else {DECODER: 2})


@pytest.mark.parametrize("system", ["concat shift", "gated"])
def test_scoring_sends_and_fetches_a_batch_in_one_copy(system):
    with OtherDevice() as device:
        loaded, sources, targets, documents = loaded_on(device, system)
        scores = TranslationScorer(sources, targets, documents, max_tokens=30).scores(loaded)
    batches = device.waits.pop(SCORES)
    assert len(scores) == 8 and 1 < batches == device.fetched[SCORES] == device.sent[COPY]
    assert set(device.waits) == FAIRSEQS and set(device.sent) <= {COPY} | SENT_ONCE


@pytest.fixture(scope="module")
def stock():
    return on_the_device(STOCK)


def test_fairseqs_own_waits(stock):
    training, decoding = stock
    assert set(training.waits) == FAIRSEQS
    assert set(training.sent) <= SENT_ONCE and not training.fetched
    assert set(decoding.waits) == {DECODER} and decoding.waits[DECODER] == 1


@pytest.mark.parametrize("loss", ["margin", slow("discounted")])
@pytest.mark.parametrize("system", systems(("concat shift",)))
def test_a_loss_waits_for_nothing_and_sends_what_it_draws(system, loss):
    training, _ = on_the_device(system, loss)
    assert set(training.waits) <= FAIRSEQS
    assert training.sent[COPY] == (2 if loss == "margin" else 0)  # one copy for each random context
    assert set(training.sent) <= SENT_ONCE | {COPY}


def test_regularised_attention_waits_for_nothing_and_sends_nothing(stock):
    task, model, data = highlighted()
    sample = collated(data)
    loss = regularised(criterion(task), 1.0, parse_layers(PAPERS_LAYERS))
    near = train(model, loss, sample)
    model.zero_grad()
    with OtherDevice() as device:
        device.put(model)
        far = train(model, loss, device.put(sample))
    torch.testing.assert_close(far.near, near, rtol=1e-4, atol=0)
    assert set(device.waits) <= FAIRSEQS
    assert set(device.sent) <= SENT_ONCE and not device.fetched


@pytest.mark.parametrize("system", systems())
def test_a_step_waits_only_where_fairseqs_does(system, stock):
    training, decoding = on_the_device(system)
    assert set(training.waits) <= FAIRSEQS
    assert set(training.sent) <= SENT_ONCE and not training.fetched
    assert decoding.waits == ({} if system == "gru" else stock[1].waits)
    assert not decoding.sent
