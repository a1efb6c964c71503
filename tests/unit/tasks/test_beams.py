"""What all hypotheses of a sentence attend to is projected and kept once; the search finds the same."""

import contextlib

import pytest
import torch
from fairseq.modules import MultiheadAttention
from fairseq.sequence_generator import SequenceGenerator
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.models.blocks.context_attention import ContextAttention, ContextStates
from ctxmt_fairseq.tasks.search import step_attention, window_generator
from ctxmt_fairseq.tasks.search.beams import Ensemble
from ctxmt_fairseq.tasks.search.current_sentence import WindowCount
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from ctxmt_fairseq.tasks.search.window_generator import generate_current
from tests.helpers.multi_source_models import dataset, make
from tests.helpers.window_datasets import EOS, PAD, SEP, VOCABULARY

BEAM = 3
CASES = ("gated", "dual hierarchical", "dual concat", "context encoder", "caching tokens", "caching group")


def search(model, forced):
    """n-best lists of six sentences, a number that the hypotheses of each divide."""
    data = dataset(model, target_context=int(forced))
    batch = data.collater([data[line] for line in (0, 4, 9, 11, 16, 30)])
    models, prefixes = (ForcedPrefixEnsemble([model], EOS, PAD) if forced else Ensemble([model])), None
    if forced:
        prefixes = [torch.tensor([300 + row] * row + [SEP] * (row > 0)) for row in range(6)]
    generator = SequenceGenerator(models, VOCABULARY, beam_size=BEAM, max_len_a=1, max_len_b=2)
    return generate_current(generator, [model], batch, SEP, WindowCount(), prefixes=prefixes)


@pytest.mark.parametrize("forced", [False, True], ids=["", "forced prefix"])
@pytest.mark.parametrize("case", CASES)
def test_hypotheses_and_scores_are_those_of_the_plain_search(case, forced, monkeypatch):
    model = make(case)
    sizes = []
    projection = model.decoder.layers[0].encoder_attn.k_proj
    projection.register_forward_pre_hook(lambda module, inputs: sizes.append(inputs[0].size(1)))
    found = search(model, forced)
    assert sizes[-1] == 6  # not a row for each hypothesis
    attentions = [module for module in model.modules() if isinstance(module, MultiheadAttention)]
    assert {attention.beam_size for attention in attentions} == {1}  # as before

    monkeypatch.setattr(window_generator, "beams", lambda *arguments: contextlib.nullcontext())
    monkeypatch.setattr(step_attention, "is_fairseqs", lambda module: False)
    expected = search(model, forced)
    assert sizes[-1] == 6 * BEAM
    for row, expected_row in zip(found, expected, strict=True):
        assert [h["tokens"].tolist() for h in row] == [h["tokens"].tolist() for h in expected_row]
        for one, other in zip(row, expected_row, strict=True):
            torch.testing.assert_close(
                one["positional_scores"], other["positional_scores"], atol=1e-4, rtol=0
            )


def test_states_move_with_their_sentences_only():
    model = make("caching tokens")
    data = dataset(model)
    inputs = dict(data.collater([data[line] for line in (4, 11, 30)])["net_input"])
    del inputs["prev_output_tokens"]
    encoder = model.encoder
    beams = torch.tensor([0, 0, 1, 1, 2, 2])
    out = encoder.reorder_encoder_out(encoder(**inputs), beams)
    ensemble = Ensemble([model])
    ensemble.rows = 6
    assert ensemble.reorder_encoder_out([out], torch.tensor([1, 0, 2, 2, 5, 5]))[0] is out
    moved = encoder.reorder_encoder_out(out, torch.tensor([1, 0, 4, 5]))  # the second sentence has left
    for name in ("context_states", "context_padding"):
        assert torch.equal(moved[name][0], out[name][0][[0, 1, 4, 5]])
    assert torch.equal(moved["encoder_out"][0], out["encoder_out"][0][:, [0, 1, 4, 5]])


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=4), st.integers(0, 99))
def test_attention_is_the_same_without_pads_between_sentences(padding, seed):
    torch.manual_seed(seed)
    padding = torch.tensor(padding)
    states = torch.randn(len(padding), 6, 8)
    context = ContextStates(states, padding)
    compact = context.compact()
    sizes = (~padding).sum(1)
    assert compact.padding.shape == (len(padding), max(1, int(sizes.max())))
    assert torch.equal(compact.present, context.present)
    for row, hidden, kept, size in zip(states, padding, compact.states, sizes.tolist(), strict=True):
        assert torch.equal(kept[:size], row[~hidden])
    attention = ContextAttention(8, 2).eval()
    query = torch.randn(3, len(padding), 8)
    torch.testing.assert_close(attention(query, compact), attention(query, context), atol=1e-6, rtol=1e-5)
