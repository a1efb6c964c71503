"""Caches that hypotheses share and that are never reordered, beside fairseq's, of which each has one."""

import pytest
import torch
from fairseq.modules import MultiheadAttention
from fairseq.sequence_generator import SequenceGenerator
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ctxmt_fairseq.tasks.search.beams import Ensemble, beams
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from ctxmt_fairseq.tasks.search.step_attention import Steps
from tests.helpers.concat_models import EOS, PAD, TASK
from tests.helpers.steps import STOCK, SYSTEMS, batch, build
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
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.integers(1, 3),
    st.integers(1, 20),
    st.integers(0, 99),
)
def test_attention_is_fairseqs_whoever_leaves_or_changes_places(lengths, beam, number, seed):
    torch.manual_seed(seed)
    attention = MultiheadAttention(HEADS * SIZE, HEADS, self_attention=True).eval()
    rows = len(lengths)
    padding = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    states = torch.randn(max(lengths), rows, HEADS * SIZE)
    steps = Steps(nn.ModuleList([attention]), beam, padding, {attention: states} if any(lengths) else {})
    stocks = whole_caches(attention, states, padding, beam)
    alive = rows
    for _ in range(number):
        query = torch.randn(1, alive * beam, HEADS * SIZE)
        expected, _ = attention(query, query, query, incremental_state=stocks, need_weights=False)
        with steps.step():
            found, weights = attention(query, query, query, incremental_state={}, need_weights=False)
        assert weights is None
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
        # Some sentences are finished; the hypotheses of the others change places within them.
        stay = torch.rand(alive) < 0.9
        stay[0] = True
        (kept,) = stay.nonzero(as_tuple=True)
        order = (kept[:, None] * beam + torch.randint(beam, (len(kept), beam))).flatten()
        attention.reorder_incremental_state(stocks, order)
        steps.reorder(order)
        alive = len(kept)
    assert steps.attentions[attention].cache.size(1) == alive


@pytest.mark.parametrize("system", [STOCK, *SYSTEMS], ids=["stock", *SYSTEMS])
def test_n_best_lists_are_those_of_fairseqs_ensemble(system):
    task, model = build(system)
    sample, beam = batch(task), 3
    model.eval().make_generation_fast_(need_attn=False)
    plain = SequenceGenerator([model], task.target_dictionary, beam_size=beam, max_len_b=20)
    expected = plain.generate([model], sample)
    generator = SequenceGenerator(Ensemble([model]), task.target_dictionary, beam_size=beam, max_len_b=20)
    calls = count_stock_steps(model)
    with beams([model], beam):
        found = generator.generate([model], sample)
    attentions = [each for each in model.decoder.modules() if type(each) is MultiheadAttention]
    assert not calls or len(set(calls)) < len(attentions)
    for row, expected_row in zip(found, expected, strict=True):
        assert [each["tokens"].tolist() for each in row] == [each["tokens"].tolist() for each in expected_row]
        for one, other in zip(row, expected_row, strict=True):
            torch.testing.assert_close(
                one["positional_scores"], other["positional_scores"], atol=1e-4, rtol=0
            )


def count_stock_steps(model):
    """Which of the decoder's attentions keep something in fairseq's way."""
    calls = []
    for module in model.decoder.modules():
        if isinstance(module, MultiheadAttention):
            stock = module._set_input_buffer
            module._set_input_buffer = lambda state, kept, module=module, stock=stock: (
                calls.extend([module] * len(kept)) or stock(state, kept)
            )
    return calls


@pytest.mark.parametrize("options", [MODELS["stock"], MODELS["shift"]])
def test_the_cache_holds_a_prefix_once_for_all_hypotheses(options, monkeypatch):
    models = models_of(options, 2)
    sources, contexts = windows(8)
    ensemble = ForcedPrefixEnsemble(models, EOS, PAD)
    sizes = []

    def forward_decoder(tokens, encoder_outs, states, temperature=1.0):
        found = ForcedPrefixEnsemble.forward_decoder(ensemble, tokens, encoder_outs, states, temperature)
        for model, state, steps in zip(models, states, ensemble.steps, strict=True):
            assert not any(layer.self_attn._get_input_buffer(state) for layer in model.decoder.layers)
            assert len(steps.attentions) == 4  # of two layers
            room = {each.cache.size(3) for each in steps.attentions.values() if hasattr(each, "cache")}
            assert room == {steps.mask.size(2)}
            assert steps.used == max(map(len, ensemble.prefixes)) + 3 * tokens.size(1)
            assert len(steps.mask) == len(tokens) / 3
        sizes.append(len(tokens) // 3)
        return found

    monkeypatch.setattr(ensemble, "forward_decoder", forward_decoder)
    generator = SequenceGenerator(ensemble, TASK.target_dictionary, beam_size=3, max_len_b=9)
    ensemble.prefixes = [prefix(context) for context in contexts]
    for model in models:
        model.make_generation_fast_(need_attn=False)
    with beams(models, 3):
        generator.generate(models, {"net_input": net_input(models[0], sources, contexts)})
    assert sizes[0] == 8 > sizes[-1], "sentences leave the batch when they are finished"
