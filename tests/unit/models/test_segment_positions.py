"""Segment positions against tables written by hand and formulas written from the paper."""

import numpy as np
import pytest
import torch
from fairseq.modules import PositionalEmbedding
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.models.blocks.segment_positions import (
    SegmentPositions,
    average_sentence_length,
    segment_index,
)
from ctxmt_fairseq.models.concat_transformer import RELATIVE

PAD, EOS, SEP, WORD = 1, 2, 4, 7
DIM = 8
# Two rows whose sentences end at different places; the second is padded on the right.
WINDOW = torch.tensor([[7, 8, SEP, 9, 7, EOS], [7, SEP, 8, SEP, EOS, PAD]])


def sinusoids(numbers):
    """Vaswani et al. (2017), as tensor2tensor and fairseq lay them out: sines first, then cosines."""
    frequencies = 10000.0 ** (-np.arange(DIM // 2) / (DIM // 2 - 1))
    angles = np.asarray(numbers)[..., None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], -1)


def make(kind="none", learned=False, token_positions=True, size=64, **arguments):
    torch.manual_seed(0)
    stock = PositionalEmbedding(size, DIM, PAD, learned=learned) if token_positions else None
    return SegmentPositions(stock, DIM, PAD, separator=SEP, kind=kind, **arguments)


def test_segment_index_counts_the_separators_before_a_token():
    expected = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]
    assert segment_index(WINDOW, SEP).tolist() == expected


def test_average_sentence_length_is_rounded_up_and_leaves_pads_out():
    assert average_sentence_length(WINDOW, SEP, PAD).tolist() == [3, 2]  # 6 / 2, ceil(5 / 3)


def test_shift_of_ten_as_in_figure_1():
    shifted = np.array([[1, 2, 3, 14, 15, 16], [1, 2, 13, 14, 25, 0]])
    expected = sinusoids(PAD + shifted)  # fairseq counts from the pad's id on
    expected[1, 5] = 0
    np.testing.assert_allclose(make("shift", shift=10)(WINDOW), expected, atol=1e-5)


def test_shift_per_row():
    module = make("shift", shift=None)
    with module.given(torch.tensor([3, 2])):
        result = module(WINDOW)
    torch.testing.assert_close(result[0], make("shift", shift=3)(WINDOW)[0])
    torch.testing.assert_close(result[1], make("shift", shift=2)(WINDOW)[1])
    with pytest.raises(RuntimeError, match="given"):
        module(WINDOW)


def test_sinusoidal_segments_add_the_embedding_of_the_sentence_number():
    segments = np.array([[1, 1, 1, 2, 2, 2], [1, 1, 2, 2, 3, 3]])  # the paper counts sentences from 1
    positions = np.array([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 0]])
    expected = sinusoids(PAD + positions) + sinusoids(segments)
    expected[1, 5] = 0
    np.testing.assert_allclose(make("sinusoidal")(WINDOW), expected, atol=1e-5)


def test_learned_segments_add_a_row_of_the_table_and_far_segments_share_the_last():
    module = make("learned", rows=2)
    added = module(WINDOW) - make()(WINDOW)
    table = module.segment_table.weight
    torch.testing.assert_close(added[0, 3], table[2])
    torch.testing.assert_close(added[1, 4], table[2])  # k = 2 has no row of its own
    torch.testing.assert_close(added[1, 0], table[1])
    assert not added[1, 5].any()
    module(WINDOW).sum().backward()
    assert table.grad[1:].all() and not table.grad[0].any()


@pytest.mark.parametrize(
    ("types", "side", "segments"),
    [
        ("context", 0, [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1]]),
        ("context", 1, [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        # The authors' program counts from 1, which our row 1 is, from the current sentence back; the first
        # token of the decoder is of the current one.
        ("distance", 0, [[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1]]),
        ("distance", 1, [[0, 1, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]]),
    ],
)
def test_what_a_segment_tells(types, side, segments):
    module = make("learned", rows=2, relative=RELATIVE[types][side], token_positions=False)
    with module.given(torch.tensor([1, 1])):
        result = module(WINDOW)
    expected = module.segment_table.weight[torch.tensor(segments) + 1]
    torch.testing.assert_close(result[0], expected[0])
    torch.testing.assert_close(result[1, :5], expected[1, :5])


def test_positions_that_begin_anew_in_every_sentence():
    module = make("restart", rows=2)
    table = module.segment_table.weight.detach().numpy()
    places = {  # positions, and segments, of which far ones share the last row
        False: ([[1, 2, 3, 1, 2, 3], [1, 2, 1, 2, 1, 0]], [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]]),
        True: ([[1, 2, 1, 2, 3, 4], [1, 1, 2, 1, 2, 0]], [[0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 0]]),
    }
    for module.opens, (positions, segments) in places.items():
        expected = sinusoids(PAD + np.array(positions)) + table[1 + np.array(segments)]
        expected[1, 5] = 0
        np.testing.assert_allclose(module(WINDOW).detach(), expected, atol=1e-5)


@pytest.mark.parametrize("learned", [False, True])
def test_none_and_shift_zero_are_stock_bit_for_bit(learned):
    for module in (make(learned=learned), make("shift", learned=learned, shift=0)):
        stock = module.token_positions
        assert torch.equal(module(WINDOW), stock(WINDOW))
        for length in range(1, 6):
            prefix = WINDOW[:, :length]
            ours, theirs = (m(prefix, incremental_state={}) for m in (module, stock))
            assert torch.equal(ours, theirs.expand_as(ours))


KINDS = {
    "none": {},
    "none learned positions": {"learned": True},
    "shift": {"kind": "shift", "shift": 5},
    "shift per row": {"kind": "shift", "shift": None},
    "learned": {"kind": "learned", "rows": 3},
    "restart": {"kind": "restart", "rows": 3},
    "restart, learned positions": {"kind": "restart", "learned": True},
    "restart, opened by separators": {"kind": "restart", "opens": True},
    "learned, learned positions": {"kind": "learned", "learned": True},
    "learned without token positions": {"kind": "learned", "token_positions": False},
    "sinusoidal": {"kind": "sinusoidal", "rows": 2},
    "flag": {"kind": "learned", "rows": 2, "relative": RELATIVE["context"][1]},
    "distance": {"kind": "sinusoidal", "relative": RELATIVE["distance"][1]},
}


@pytest.mark.parametrize("arguments", KINDS.values(), ids=KINDS.keys())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_step_of_incremental_decoding_equals_the_full_call(arguments, data):
    """Pads anywhere (prefixes of different lengths), rows in different segments."""
    length = data.draw(st.integers(1, 9))
    row = st.lists(st.sampled_from([PAD, SEP, WORD, EOS]), min_size=length, max_size=length)
    tokens = torch.tensor(data.draw(st.lists(row, min_size=1, max_size=4)))
    module = make(**arguments)
    with module.given(torch.arange(len(tokens)) + 1):
        full = module(tokens)
        for step in range(1, length + 1):
            assert torch.equal(module(tokens[:, :step], incremental_state={})[:, 0], full[:, step - 1])
        # Pads take no position: the row without them has the same embeddings.
        real = tokens[0].ne(PAD)
        if real.any():
            module.row_values = module.row_values[:1]
            assert torch.equal(module(tokens[:1, real])[0], full[0, real])
    assert not full[tokens.eq(PAD)].any()


def test_the_tables_grow():
    module = make("shift", shift=100, size=4)
    torch.testing.assert_close(module(WINDOW), make("shift", shift=100, size=2000)(WINDOW), rtol=0, atol=0)
    many = torch.full((1, 50), SEP)
    np.testing.assert_allclose(
        make("sinusoidal", rows=3)(many)[0],
        sinusoids(PAD + np.arange(1, 51)) + sinusoids(np.arange(1, 51)),
        atol=1e-4,
    )


@pytest.mark.parametrize(
    "arguments", [{"shift": 100, "size": 4}, {"kind": "learned"}, {"kind": "sinusoidal"}]
)
def test_half_precision_stays_half_and_finite(arguments):
    module = make(**{"kind": "shift", **arguments}).half()
    result = module(WINDOW)
    assert result.dtype == torch.float16 and result.isfinite().all()
