"""The concatenation transformer step by step, and in beam search."""

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from tests.helpers.concat_models import (
    ALL,
    NET_INPUT,
    PAD,
    SOURCES,
    TARGETS,
    TASK,
    batch,
    logits,
    make,
    wanted,
)


@ALL
def test_incremental_decoding_equals_full_decoding_at_every_position(options):
    """Rows are in different segments, and change places at every step as beams do."""
    model = make(**options)
    beams = [
        (SOURCES[0], TARGETS[0]),
        (SOURCES[0], [[9], [2, 3, 4, 5]]),
        (SOURCES[1], TARGETS[1]),
        (SOURCES[1], [[6]]),
    ]
    net_input = batch(*zip(*beams, strict=True))
    full = logits(model, net_input)
    inputs = wanted(model, net_input)
    previous = inputs.pop("prev_output_tokens")
    encoder_out = model.encoder(**inputs)
    state, order = {}, torch.arange(4)
    swap = torch.tensor(
        [1, 0, 3, 2]
    )  # within the beams of one window: fairseq keeps their cross-attention cache
    for step in range(previous.size(1)):
        order = order[swap]
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, swap)
        model.decoder.reorder_incremental_state_scripting(state, swap)
        out = model.decoder(previous[order, : step + 1], encoder_out=encoder_out, incremental_state=state)[0]
        real = previous[order, step].ne(PAD)
        torch.testing.assert_close(out[real, 0], full[order, step][real], atol=1e-5, rtol=1e-5)


@ALL
def test_beam_search_of_a_batch_equals_one_window_at_a_time(options):
    model = make(**options)
    generator = SequenceGenerator([model], TASK.target_dictionary, beam_size=3, max_len_b=8, min_len=4)

    def translate(net_input):
        hypotheses = generator.generate([model], {"net_input": wanted(model, net_input)})
        return [(beams[0]["tokens"].tolist(), float(beams[0]["score"])) for beams in hypotheses]

    together = translate(NET_INPUT)
    for row, (tokens, score) in enumerate(together):
        alone_tokens, alone_score = translate(batch([SOURCES[row]], [TARGETS[row]]))[0]
        assert tokens == alone_tokens and score == pytest.approx(alone_score, abs=1e-4)


@ALL
def test_no_entry_of_encoder_out_is_forgotten_when_rows_are_reordered(options):
    model = make(**options)
    inputs = wanted(model, NET_INPUT)
    del inputs["prev_output_tokens"]
    before = model.encoder(**inputs)
    after = model.encoder.reorder_encoder_out(before, torch.tensor([2, 2, 0]))
    for name in set(before) - {"fc_results"}:
        batch_dimension = 1 if name == "encoder_out" else 0
        for old, new in zip(before[name], after[name], strict=True):
            order = torch.tensor([2, 2, 0])
            torch.testing.assert_close(new, old.index_select(batch_dimension, order), rtol=0, atol=0)
