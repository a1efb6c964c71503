"""A batch of spans computed in groups of like length: what computing it at once gives, with fewer pads."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.row_groups import GROUPS, encode_in_groups
from tests.helpers.multi_source_models import CASES, STOCK_TASK, dataset, make
from tests.helpers.steps import batch as batch_of_task
from tests.helpers.steps import build, criterion, train

LENGTHS = (9, 1, 14, 2, 17)
# One of each way that groups take; the others in the slow tier.
FAST = ("gated", "dual serial", "dual concat", "context encoder", "caching concat", "caching group")
JOINED = "dual joined"  # knows no batches of spans


def cases():
    marks = {name: () if name in FAST else pytest.mark.slow for name in CASES if name != JOINED}
    return [pytest.param(name, marks=mark) for name, mark in marks.items()]


def batch_of(model, longest=30, **options):
    data = dataset(model, LENGTHS, longest, **{"batch_runs": 4, "training": True, **options})
    return data.collater([data[index] for index in range(sum(LENGTHS))])


def sizes_of(batch):
    return batch["windows"]["sizes"]


def at_once(batch):
    """The same batch without groups."""
    windows = {**batch["windows"], "sizes": replace(sizes_of(batch), groups=(), sentence_groups=())}
    return {**batch, "windows": windows, "net_input": {**batch["net_input"], "context": windows}}


def gradients(model):
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def trained(model, loss, batch):
    model.zero_grad()
    torch.manual_seed(1)  # of the margin loss' random contexts
    return train(model, loss, batch), gradients(model)


def assert_same(found, expected):
    (loss, gradient), (expected_loss, expected_gradient) = found, expected
    torch.testing.assert_close(loss, expected_loss, rtol=1e-6, atol=0)
    largest = max(value.abs().max() for value in expected_gradient.values() if value is not None)
    for name, value in expected_gradient.items():
        if value is None:
            assert gradient[name] is None, name
        else:
            torch.testing.assert_close(gradient[name], value, rtol=0, atol=1e-5 * float(largest), msg=name)


@pytest.mark.parametrize("case", cases())
def test_loss_and_gradient_are_those_of_the_whole_batch(case):
    model = make(case, dropout=0.0)
    batch, loss = batch_of(model), criterion(STOCK_TASK)
    assert len(sizes_of(batch).groups) > 1
    assert_same(trained(model, loss, batch), trained(model, loss, at_once(batch)))


@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("caching all gradients", {"source_context": 5, "coword_dropout": 0.3}),
        ("caching tokens", {"target_context": 0, "source_context_after": 0, "context_selection": "random"}),
        ("dual serial", {"context_selection": "empty"}),
        ("gated", {"context_selection": "absent"}),
        ("caching mean", {"context_selection": "swapped"}),
        ("caching linear", {"pad_to_multiple": 8}),
        ("context encoder", {"sample_context_size": True}),
    ],
)
def test_whatever_the_context_is(case, options):
    model = make(case, dropout=0.0)
    batch, loss = batch_of(model, **options), criterion(STOCK_TASK)
    assert len(sizes_of(batch).groups) > 1
    assert_same(trained(model, loss, batch), trained(model, loss, at_once(batch)))


@pytest.mark.parametrize(("system", "target_context"), [("caching runs", 0), ("dual runs", 2)])
def test_random_contexts_of_the_margin_loss_have_their_own_lengths(system, target_context):
    task, model = build(system, dropout=0.0)
    task.cfg.target_context = target_context
    batch, loss = batch_of_task(task, range(24)), criterion(task, "margin")
    assert len(sizes_of(batch).groups) > 1
    assert_same(trained(model, loss, batch), trained(model, loss, at_once(batch)))


def tokens_of_layers(model, batch):
    """Tokens, pads included, that go through the first layers of encoder and decoder."""
    counts = {"encoder": 0, "decoder": 0}

    def count(side):
        def hook(layer, inputs):
            counts[side] += inputs[0].shape[:2].numel()

        return hook

    handles = [
        getattr(model, side).layers[0].register_forward_pre_hook(count(side))
        for side in ("encoder", "decoder")
    ]
    with torch.no_grad():
        model.train()(**batch["net_input"])
    for handle in handles:
        handle.remove()
    return counts


@pytest.mark.parametrize("case", ["caching tokens", "gated"])
def test_there_are_fewer_pads(case):
    model = make(case)
    batch = batch_of(model)
    grouped, whole = tokens_of_layers(model, batch), tokens_of_layers(model, at_once(batch))
    sizes = sizes_of(batch)
    real = sizes.source.sum() + sum(
        group.widths[0] * (group.end - group.begin) for group in sizes.sentence_groups
    )
    assert real <= grouped["encoder"] < 0.85 * whole["encoder"]
    # Targets are drawn apart from sources here, so that they gain less.
    assert batch["ntokens"] <= grouped["decoder"] < whole["decoder"]


def test_sentences_in_the_order_of_their_lengths_are_those_of_the_examples():
    model = make("caching tokens")
    data = dataset(model, LENGTHS, 30, batch_runs=4, training=True)
    batch = data.collater([data[index] for index in range(sum(LENGTHS))])
    windows, examples = batch["windows"], {index: data[index] for index in range(sum(LENGTHS))}
    lengths, reused = sizes_of(batch).sentences, windows["reused"].tolist()
    assert (np.diff(lengths[len(reused) :]) <= 0).all()
    for row, line in enumerate(batch["id"].tolist()):
        for place, text in zip(windows["index"][row].tolist(), examples[line]["context"], strict=True):
            if text is None:
                assert place == -1
            elif place < len(reused):
                assert examples[batch["id"].tolist()[reused[place]]]["source"].tolist() == text.tolist()
            else:
                assert windows["tokens"][place - len(reused), : lengths[place]].tolist() == text.tolist()


@torch.no_grad()
def encoded(model, batch):
    return model.encoder(**{n: value for n, value in batch["net_input"].items() if n != "prev_output_tokens"})


@pytest.mark.parametrize(
    "options",
    [{"training": False}, {"batch_runs": 0}, {"left_pad_source": False}, {"left_pad_target": True}],
)
def test_only_batches_of_training_in_runs_are_computed_in_groups(options):
    model = make("caching tokens")
    batch = batch_of(model, **options)
    assert sizes_of(batch).groups == sizes_of(batch).sentence_groups == ()
    with torch.no_grad():
        encoder_out = model.encoder(
            **{k: v for k, v in batch["net_input"].items() if k != "prev_output_tokens"}
        )
    assert GROUPS not in encoder_out


def test_weights_that_are_asked_for_are_those_of_the_whole_batch():
    model = make("caching tokens").eval()
    batch = batch_of(model)
    tokens = batch["net_input"]["prev_output_tokens"]
    found, expected = (
        model.decoder(tokens, encoded(model, made), alignment_layer=0) for made in (batch, at_once(batch))
    )
    assert found[1]["attn"][0].shape == (*tokens.shape, batch["net_input"]["src_tokens"].size(1))
    torch.testing.assert_close(found[1]["attn"][0], expected[1]["attn"][0], rtol=0, atol=1e-6)
    torch.testing.assert_close(found[0], expected[0], rtol=0, atol=1e-4)


def test_a_search_knows_nothing_of_groups():
    model = make("caching tokens").eval()
    batch = batch_of(model)
    grouped, whole = encoded(model, batch), encoded(model, at_once(batch))
    order = torch.arange(sum(LENGTHS)).flip(0)
    tokens = batch["net_input"]["prev_output_tokens"][order, :1]
    found, expected = (
        model.decoder(tokens, model.encoder.reorder_encoder_out(out, order), incremental_state={})[0]
        for out in (grouped, whole)
    )
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    steps = [model.decoder(tokens, out, incremental_state={})[0] for out in (grouped, whole)]
    torch.testing.assert_close(*steps, rtol=0, atol=1e-5)


def test_entries_of_the_context_keep_their_rows():
    """Of an encoder that leaves more than states."""
    lengths = sizes_of(batch_of(make("caching tokens"))).groups
    tokens = torch.arange(lengths[-1].end)[:, None].expand(-1, lengths[0].widths[0])

    def encode(part, _):
        states = nn.functional.one_hot(part.T, tokens.size(0)).float()
        entries = ContextStates(part[:, :2, None].float(), part[:, :2] < 0).entries()
        return {"encoder_out": [states], "encoder_padding_mask": [part < 0], "src_lengths": [part], **entries}

    out = encode_in_groups(encode, tokens, lengths, left=True)
    assert out["context_states"][0][:, 0, 0].tolist() == list(range(lengths[-1].end))
    assert out["encoder_out"][0].shape[:2] == tokens.T.shape and out["src_lengths"] == []
    assert out["encoder_padding_mask"][0].sum(1).tolist() == [
        lengths[0].widths[0] - group.widths[0] for group in lengths for _ in range(group.begin, group.end)
    ]
