"""The concatenation transformer against stock fairseq; its segments, and that it uses its context."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.concat_models import (
    ALL,
    EOS,
    NET_INPUT,
    PAD,
    SOURCES,
    SRC_SEP,
    TARGETS,
    TGT_SEP,
    Task,
    batch,
    logits,
    make,
    wanted,
)
from tests.helpers.random_models import fused


def stock_like(model, **options):
    """Stock fairseq with the weights of ``model``."""
    sizes = {
        name: getattr(model.args, name)
        for name in (
            "encoder_embed_dim",
            "encoder_ffn_embed_dim",
            "encoder_layers",
            "encoder_attention_heads",
        )
    }
    sizes.update(decoder_layers=model.args.decoder_layers, decoder_attention_heads=4)
    stock = make(arch="transformer", seed=2, **sizes, **options)
    weights = {name.replace(".token_positions", ""): value for name, value in model.state_dict().items()}
    stock.load_state_dict(weights)
    return fused(stock)


@ALL
def test_context_matters_and_neither_padding_nor_batch_mates_do(options):
    model = make(**options)
    together = logits(model, NET_INPUT)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = logits(model, batch([source], [target]))[0]
        torch.testing.assert_close(together[row, : len(alone)], alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        together[0, :7], logits(model, batch(SOURCES, TARGETS, left_pad=False))[0, :7], atol=1e-5, rtol=0
    )
    other = logits(model, batch([[[1, 2, 9], [4, 5]], *SOURCES[1:]], TARGETS))
    assert (other[0] - together[0]).abs().max() > 1e-4
    torch.testing.assert_close(other[1:], together[1:], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("options", "net_input"),
    [
        ({}, NET_INPUT),
        ({"segment_positions": "shift", "segment_shift": 0}, NET_INPUT),
        ({"segment_positions": "shift", "segment_shift": 9}, batch([[[1, 2, 3]], [[4]]], [[[5]], [[6, 7]]])),
        ({"encoder_learned_pos": True, "decoder_learned_pos": True}, NET_INPUT),
        ({"no_token_positional_embeddings": True}, NET_INPUT),
    ],
    ids=["none", "shift 0", "single sentences", "learned positions", "no token positions"],
)
def test_degenerate_cases_equal_stock_fairseq(options, net_input):
    model = make(**options)
    stock_options = {name: value for name, value in options.items() if not name.startswith("segment")}
    stock = stock_like(model, **stock_options)
    net_input = wanted(model, net_input)
    torch.testing.assert_close(logits(model, net_input), stock(**net_input)[0], atol=1e-6, rtol=0)


def test_the_average_of_the_source_window_reaches_the_decoder():
    """Decoder positions under avg-sequence by hand: source row 0 has 7 tokens in 2 sentences, so shift 4."""
    model = make(segment_positions="shift", segment_shift="avg-sequence")
    seen = []
    model.decoder.embed_positions.register_forward_hook(lambda module, inputs, output: seen.append(output))
    logits(model, NET_INPUT)
    shifted = [1, 2, 3, 4, 5 + 4, 6 + 4, 7 + 4]  # </s> a b <sep> | c d e
    frequencies = 10000.0 ** (-np.arange(64) / 63)
    angles = (PAD + np.array(shifted))[:, None] * frequencies
    np.testing.assert_allclose(seen[0][0, :7, :64], np.sin(angles), atol=1e-4)


def test_flags_of_a_window_with_following_context_and_another_number_of_target_sentences():
    """Source: context, current, following. Target: one context sentence fewer, so the current one alone."""
    model = make(segment_positions="learned", segment_types="context", no_token_positional_embeddings=True)
    net_input = batch([[[1], [2], [3]]], [[[4, 5]]])
    net_input.update(current_segment=torch.tensor([1]), target_context_sizes=torch.tensor([0]))
    seen = {}
    for side in (model.encoder, model.decoder):
        side.embed_positions.register_forward_hook(
            lambda module, inputs, output, side=side: seen.__setitem__(side, output)
        )
    logits(model, net_input)
    for side, flags in ((model.encoder, [1, 1, 0, 0, 1, 1]), (model.decoder, [0, 0, 0])):
        expected = side.embed_positions.segment_table.weight[torch.tensor(flags) + 1]
        torch.testing.assert_close(seen[side][0], expected)


@pytest.mark.parametrize("left_pad", [True, False])
@pytest.mark.parametrize("separators", [True, False])
def test_the_encoders_flag_by_hand(left_pad, separators):
    """Voita et al. 2018: context or not, at every word, for the encoder alone."""
    task = Task(no_separator=not separators)
    model = make(task, segment_positions="flag", no_token_positional_embeddings=True)
    net_input = batch([[[1], [2, 3], [4]], [[5, 6]]], [[[4, 5]], [[6]]], left_pad)
    if separators:  # 1 <sep> 2 3 <sep> 4 </s>
        net_input["current_span"][0] = torch.tensor([2, 5])
        flags = [1, 1, 0, 0, 0, 1, 1]
    else:  # 1 2 3 4 </s>
        rows = [[11, 12, 13, 14, EOS], [15, 16, EOS, PAD, PAD]]
        net_input["src_tokens"] = torch.tensor(
            [[11, 12, 13, 14, EOS], [PAD, PAD, *rows[1][:3]] if left_pad else rows[1]]
        )
        net_input["current_span"][0] = torch.tensor([1, 3])
        flags = [1, 0, 0, 1, 1]
    seen = []
    model.encoder.embed_positions.register_forward_hook(lambda module, inputs, output: seen.append(output))
    logits(model, net_input)
    table = model.encoder.embed_positions.segment_table.weight
    assert table.shape == (3, 128)
    torch.testing.assert_close(seen[0][0], table[torch.tensor(flags) + 1])
    real = net_input["src_tokens"][1].ne(PAD)
    torch.testing.assert_close(seen[0][1][real], table[1].expand(3, -1))  # a window without context
    assert not seen[0][1][~real].any()


def test_the_flag_leaves_the_decoder_as_it_is():
    model = make(segment_positions="flag")
    assert model.context_format.kind == "window"
    ours, stock = (sum(p.numel() for p in m.parameters()) for m in (model, make()))
    assert ours - stock == 3 * 128 and not [name for name in model.decoder.state_dict() if "segment" in name]
    with pytest.raises(BadInput, match="^--segment-positions flag needs --task document_window"):
        model(NET_INPUT["src_tokens"], NET_INPUT["src_lengths"], NET_INPUT["prev_output_tokens"])


def test_a_hypothesis_with_too_many_sentences_stays_in_the_current_one():
    model = make(segment_positions="learned", segment_types="context")
    positions = model.decoder.embed_positions
    tokens = torch.tensor([[EOS, 11, TGT_SEP, 12, TGT_SEP, 13]])
    with positions.given(torch.tensor([1])):
        flags = positions(tokens) - positions.token_positions(tokens)
    context, current = positions.segment_table.weight[2], positions.segment_table.weight[1]
    torch.testing.assert_close(flags[0], torch.stack([context] * 3 + [current] * 3))


@ALL
def test_every_parameter_gets_a_gradient_and_single_sentences_train(options):
    model = make(**options).train()
    for net_input in (batch([[[1, 2]]], [[[3, 4]]]), NET_INPUT):
        model.zero_grad()
        loss = logits(model, net_input).log_softmax(-1)[..., 5].sum()
        loss.backward()
        assert loss.isfinite()
        missing = [
            name for name, p in model.named_parameters() if p.grad is None or not p.grad.isfinite().all()
        ]
        assert not missing
    if options.get("segment_positions") == "learned":
        for side in (model.encoder, model.decoder):
            assert side.embed_positions.segment_table.weight.grad[1:3].abs().sum(1).all()


def test_a_restarted_sentence_has_the_positions_that_it_has_alone():
    """In its window, on both sides: the decoder reads a separator where it reads </s> alone."""
    model = make(segment_positions="restart", segment_types="distance")
    encoder, decoder = model.encoder.embed_positions, model.decoder.embed_positions
    source, target = torch.tensor([[11, 12, 13, EOS]]), torch.tensor([[EOS, 14, 15]])
    window = torch.cat([torch.tensor([[20, 21, 22, 23, SRC_SEP]]), source], 1)
    prefixed = torch.cat([torch.tensor([[EOS, 21, 22, TGT_SEP]]), target[:, 1:]], 1)
    with encoder.given(torch.tensor([0])), decoder.given(torch.tensor([0])):
        alone = encoder(source), decoder(target)
    with encoder.given(torch.tensor([1])), decoder.given(torch.tensor([1])):
        inside = encoder(window)[:, -4:], decoder(prefixed)[:, -3:]
    for ours, theirs in zip(inside, alone, strict=True):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0)
