"""The GRU baseline in training, in half precision, through a checkpoint; its options and sizes."""

import argparse
import copy

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.gru import sequence_dropout
from ctxmt_fairseq.models.context_gru import ContextGRU
from tests.helpers.concat_models import (
    NET_INPUT,
    PAD,
    SOURCES,
    SRC_SEP,
    TARGETS,
    TASK,
    TGT_SEP,
    Task,
    batch,
    dictionary,
)
from tests.helpers.concat_models import make as make_any
from tests.unit.models.test_context_gru import ALL, inputs_of, logits, make


@ALL
def test_every_parameter_gets_a_gradient(depths):
    model = make(depths, dropout=0.3).train()
    loss = logits(model, NET_INPUT).log_softmax(-1)[..., 5].sum()
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in model.parameters())
    assert not model.encoder.embed_tokens.weight.grad[PAD].any()


def test_pads_give_no_gradient():
    model = make().double()
    gradients = []
    for left_pad in (True, False):
        model.zero_grad()
        net_input = batch(SOURCES, TARGETS, left_pad=left_pad)
        real = net_input["prev_output_tokens"].ne(PAD)
        logits(model, net_input)[real].logsumexp(-1).sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    torch.testing.assert_close(*gradients, atol=1e-9, rtol=0)


def test_dropout_hides_the_same_units_at_every_step():
    x = torch.ones(50, 6, 40)
    dropped = sequence_dropout(x, 0.25, training=True)
    assert torch.equal(dropped, dropped[:, :1].expand_as(x))
    assert set(dropped.unique().tolist()) == {0.0, np.float32(1 / 0.75).item()}
    assert (dropped[:, 0] == 0).float().mean().item() == pytest.approx(0.25, abs=0.05)
    assert torch.equal(sequence_dropout(x, 0.25, training=False), x)


def test_dropout_is_on_in_training_only():
    model = make(dropout=0.5)
    assert torch.equal(logits(model, NET_INPUT), logits(model, NET_INPUT))
    model.train()
    assert not torch.allclose(logits(model, NET_INPUT), logits(model, NET_INPUT), atol=1e-2)
    still = make(dropout=0.0)
    assert torch.equal(logits(copy.deepcopy(still).train(), NET_INPUT), logits(still, NET_INPUT))


def test_it_learns_to_copy_and_the_search_repeats_it():
    words = TASK.target_dictionary
    model = make_any(
        task=Task(source=words, target=words),
        arch="context_gru_tiny",
        gru_embed_dim=64,
        gru_size=64,
        share_all_embeddings=True,
    )
    random = np.random.default_rng(1)
    windows = [[random.integers(0, 10, size).tolist() for size in (2, 3)] for _ in range(24)]
    net_input = inputs_of(batch(windows, windows))
    source = batch(windows, windows, left_pad=False)["src_tokens"]
    target = torch.where(source.eq(SRC_SEP), TGT_SEP, source)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(120):
        words_first = logits(model.train(), net_input).transpose(1, 2)
        loss = nn.functional.cross_entropy(words_first, target, ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    generator = SequenceGenerator([model.eval()], words, beam_size=4)  # a beam of 2 may fill with early ends
    nbest = generator.generate([model], {"net_input": net_input})
    assert [beams[0]["tokens"].tolist() for beams in nbest] == [row[row.ne(PAD)].tolist() for row in target]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_close_and_finite(dtype):
    model = make((3, 4)).half() if dtype == torch.float16 else make((3, 4)).bfloat16()
    full = logits(make((3, 4)), NET_INPUT)
    half = logits(model.train(), NET_INPUT)
    half.float().log_softmax(-1)[..., 5].sum().backward()
    assert half.dtype == dtype
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    torch.testing.assert_close(logits(model.eval(), NET_INPUT).float(), full, atol=0.15, rtol=0.1)


def test_saved_and_reloaded_logits_are_identical(tmp_path):
    model = make()
    torch.save(model.state_dict(), tmp_path / "model.pt")
    again = make(seed=3)
    assert not torch.equal(logits(again, NET_INPUT), logits(model, NET_INPUT))
    again.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True), strict=True)
    assert torch.equal(logits(again, NET_INPUT), logits(model, NET_INPUT))


# ---- options -----------------------------------------------------------------------------------------------


def parse(arch, *options):
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
    ContextGRU.add_args(parser)
    args = parser.parse_args(options)
    ARCH_CONFIG_REGISTRY[arch](args)
    return args


def test_options():
    args = parse("context_gru_tiny", "--gru-size", "99")
    assert (args.gru_size, args.gru_embed_dim, args.dropout) == (99, 128, 0.1)
    assert (args.max_source_positions, args.max_target_positions) == (1024, 1024)
    base, default = parse("context_gru_base"), parse("context_gru")
    assert base.share_all_embeddings and not default.share_all_embeddings
    assert {**vars(base), "share_all_embeddings": False} == vars(default)
    assert parse("context_gru_iwslt", "--share-decoder-input-output-embed").share_decoder_input_output_embed


def test_limits():
    assert make().max_positions() == (128, 128)
    assert make().max_decoder_positions() == 128


def test_shared_embeddings_are_one_matrix():
    words = dictionary()
    separate, tied = make(), make(share_decoder_input_output_embed=True)
    shared = make(task=Task(source=words, target=words), share_all_embeddings=True)
    matrices = [
        {model.encoder.embed_tokens.weight, model.decoder.embed_tokens.weight, output}
        for model in (separate, tied, shared)
        for output in [model.decoder.output_projection.weight]
    ]
    assert [len(distinct) for distinct in matrices] == [3, 2, 1]
    assert all(matrix.norm(dim=1)[PAD] == 0 for matrix in matrices[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depths": (0, 2)}, "--gru-encoder-depth must be at least 1, found 0"),
        ({"depths": (1, 1)}, "--gru-decoder-depth must be at least 2, found 1"),
        ({"gru_size": 0}, "--gru-size must be at least 1, found 0"),
        ({"gru_embed_dim": -4}, "--gru-embed-dim must be at least 1, found -4"),
        ({"share_all_embeddings": True}, "joined dictionary"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        make(**options)


def test_the_base_size_has_the_parameters_of_the_thesis_marian_model():
    """Counted from Marian's layout for the thesis' options and 32,000 symbols; the thesis' logs of these runs
    reserve 336 MiB for the parameters."""
    e, d, words = 512, 1024, 32000
    gru = 3 * d * d + 3 * d  # U and its bias
    encoder = 2 * (4 * gru + 3 * d * e)
    attention = d * 2 * d + 2 * d * 2 * d + 2 * d + 2 * d
    decoder = 8 * gru + 3 * d * e + 3 * d * 2 * d + attention + 2 * d * d + d
    output = e * (d + e + 2 * d) + e + words
    marian = words * e + encoder + decoder + output
    joined = Dictionary()
    for number in range(words - len(joined)):
        joined.add_symbol(f"w{number}")
    with torch.device("meta"):
        model = make_any(arch="context_gru_base", task=Task(source=joined, target=joined))
    count = sum(parameter.numel() for parameter in model.parameters())
    assert marian / 2**18 == pytest.approx(336, abs=1)
    assert count == pytest.approx(marian, rel=1e-3)  # biases of the norms; no bias of the output
