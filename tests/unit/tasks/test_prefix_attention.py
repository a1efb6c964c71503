"""Attention to a prefix that all hypotheses of a sentence share, beside fairseq's to one of each's own."""

import pytest
import torch
from fairseq.modules import MultiheadAttention
from fairseq.sequence_generator import SequenceGenerator
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from ctxmt_fairseq.tasks.search.prefix_attention import continued, read_by
from tests.helpers.concat_models import EOS, PAD, TASK
from tests.unit.tasks.test_forced_prefix import MODELS, models_of, net_input, prefix, windows

HEADS, SIZE = 2, 4


def whole_caches(attention, states, padding, beam):
    """fairseq's cache with the prefixes repeated for every hypothesis."""
    shape = (*states.shape[:2], HEADS, SIZE)
    keys, values = (
        projection(states).view(shape).permute(1, 2, 0, 3).repeat_interleave(beam, 0)
        for projection in (attention.k_proj, attention.v_proj)
    )
    state = {}
    cached = {"prev_key": keys, "prev_value": values}
    attention._set_input_buffer(
        state, {**cached, "prev_key_padding_mask": padding.repeat_interleave(beam, 0)}
    )
    return state


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 99),
    st.sampled_from([torch.float64, torch.float32]),
)
def test_two_parts_are_one_attention_whoever_leaves_or_changes_places(lengths, beam, steps, seed, kind):
    torch.manual_seed(seed)
    attention = MultiheadAttention(HEADS * SIZE, HEADS, self_attention=True).eval().to(kind)
    rows, tolerance = len(lengths), 1e-6 if kind == torch.float32 else 1e-12
    padding = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    states = torch.randn(max(lengths), rows, HEADS * SIZE, dtype=kind)
    with read_by(nn.ModuleList([attention]), padding) as prefixes:
        attention(states, states, states, need_weights=False)
    ours, stocks = {}, whole_caches(attention, states, padding, beam)
    alive = torch.arange(rows)
    for _ in range(steps):
        query = torch.randn(1, len(alive) * beam, HEADS * SIZE, dtype=kind)
        expected, _ = attention(query, query, query, incremental_state=stocks, need_weights=False)
        with continued(prefixes):
            found, weights = attention(query, query, query, incremental_state=ours, need_weights=False)
        assert weights is None
        torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
        # Some sentences are finished; the hypotheses of the others change places within them.
        stay = torch.rand(len(alive)) < 0.8
        stay[0] = True
        (kept,) = stay.nonzero(as_tuple=True)
        order = (kept[:, None] * beam + torch.randint(beam, (len(kept), beam))).flatten()
        for state in (ours, stocks):
            attention.reorder_incremental_state(state, order)
        prefixes[attention].keep(kept)
        alive = alive[kept]
    assert prefixes[attention].keys.size(0) == len(alive)


@pytest.mark.parametrize("options", [MODELS["stock"], MODELS["shift"]])
def test_the_cache_holds_no_more_than_what_follows_the_prefix(options, monkeypatch):
    models = models_of(options, 2)
    sources, contexts = windows(8)
    ensemble = ForcedPrefixEnsemble(models, EOS, PAD)
    sizes = []

    def forward_decoder(tokens, encoder_outs, states, temperature=1.0):
        found = ForcedPrefixEnsemble.forward_decoder(ensemble, tokens, encoder_outs, states, temperature)
        for model, state, prefixes in zip(models, states, ensemble._kept, strict=True):
            assert len(prefixes) == 2  # layers
            for layer in model.decoder.layers:
                cached = layer.self_attn._get_input_buffer(state)["prev_key"]
                assert cached.shape[:3:2] == tokens.shape
                kept = prefixes[layer.self_attn]
                assert kept.keys.size(3) == kept.values.size(2) == max(map(len, ensemble.prefixes))
                assert len(kept.keys) == len(kept.values) == len(tokens) / 3
        sizes.append(len(tokens) // 3)
        return found

    monkeypatch.setattr(ensemble, "forward_decoder", forward_decoder)
    generator = SequenceGenerator(ensemble, TASK.target_dictionary, beam_size=3, max_len_b=9)
    ensemble.prefixes = [prefix(context) for context in contexts]
    generator.generate(models, {"net_input": net_input(models[0], sources, contexts)})
    assert sizes[0] == 8 > sizes[-1], "sentences leave the batch when they are finished"
