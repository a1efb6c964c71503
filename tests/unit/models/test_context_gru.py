"""The GRU baseline against its equations in NumPy, batched and alone, step by step and in beam search."""

import numpy as np
import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from ctxmt_fairseq.models import context_gru  # noqa: F401
from ctxmt_fairseq.models.blocks.gru import TransitionGRU, gru_update
from tests.helpers.concat_models import (
    EOS,
    NET_INPUT,
    PAD,
    SOURCES,
    TARGETS,
    TASK,
    batch,
)
from tests.helpers.concat_models import make as make_any

DEPTHS = {"plain": (1, 2), "deep": (3, 4)}
ALL = pytest.mark.parametrize("depths", DEPTHS.values(), ids=DEPTHS.keys())


def make(depths=(1, 2), arch="context_gru_tiny", seed=1, **options):
    encoder_depth, decoder_depth = depths
    sizes = {"gru_encoder_depth": encoder_depth, "gru_decoder_depth": decoder_depth, "gru_embed_dim": 24}
    model = make_any(arch=arch, seed=seed, **{**sizes, "gru_size": 16, **options})
    for parameter in model.parameters():  # the layer norms' gains and biases away from 1 and 0
        if parameter.dim() == 1:
            nn.init.uniform_(parameter, -0.5, 1.5)
    return model


def inputs_of(net_input):
    return {name: net_input[name] for name in ("src_tokens", "src_lengths", "prev_output_tokens")}


def logits(model, net_input):
    return model(**inputs_of(net_input))[0]


def encode(model, net_input=NET_INPUT):
    return model.encoder(net_input["src_tokens"], net_input["src_lengths"])


# ---- equations ---------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class NumpyModel:
    """The equations of the papers, one sentence pair at a time, without padding."""

    def __init__(self, model):
        self.weights = {name: value.double().numpy() for name, value in model.state_dict().items()}
        self.encoder_depth = len(model.encoder.forwards.recurrent)
        self.decoder_depth = len(model.decoder.after.recurrent) + 1

    def normalised(self, name, x):
        product = self.weights[f"{name}.linear.weight"] @ x
        scaled = (product - product.mean()) / np.sqrt(product.var() + 1e-5)
        return scaled * self.weights[f"{name}.norm.weight"] + self.weights[f"{name}.norm.bias"]

    def gru(self, name, number, state, x=None):
        reset_u, update_u, new_u = np.split(self.normalised(f"{name}.recurrent.{number}", state), 3)
        reset_x = update_x = new_x = 0.0
        if x is not None:
            reset_x, update_x, new_x = np.split(self.normalised(f"{name}.input", x), 3)
        reset, update = sigmoid(reset_x + reset_u), sigmoid(update_x + update_u)
        return (1 - update) * np.tanh(new_x + reset * new_u) + update * state

    def direction(self, name, embedded):
        state = np.zeros(16)
        for x in embedded:
            state = self.gru(name, 0, state, x)
            for number in range(1, self.encoder_depth):
                state = self.gru(name, number, state)
            yield state

    def __call__(self, source, previous):
        embedded = self.weights["encoder.embed_tokens.weight"][source]
        there = list(self.direction("encoder.forwards", embedded))
        back = list(self.direction("encoder.backwards", embedded[::-1]))[::-1]
        h = np.concatenate([there, back], axis=1)
        state = np.tanh(self.normalised("decoder.start", h.mean(0)))
        keys = [self.normalised("encoder.key", position) for position in h]
        for token in previous:
            y = self.weights["decoder.embed_tokens.weight"][token]
            between = self.gru("decoder.before", 0, state, y)
            query = self.normalised("decoder.attention.query", between)
            v = self.weights["decoder.attention.score.weight"][0]
            energies = np.exp([v @ np.tanh(query + key) for key in keys])
            weights = energies / energies.sum()
            context = weights @ h
            state = self.gru("decoder.after", 0, between, context)
            for number in range(1, self.decoder_depth - 1):
                state = self.gru("decoder.after", number, state)
            parts = zip(range(3), (state, y, context), strict=True)
            t = np.tanh(sum(self.normalised(f"decoder.readout.{part}", x) for part, x in parts))
            yield self.weights["decoder.output_projection.weight"] @ t, weights


@ALL
def test_logits_and_attention_are_those_of_the_equations(depths):
    model = make(depths)
    ours, extra = model(**inputs_of(NET_INPUT))
    by_hand = NumpyModel(model)
    for row, (source, previous) in enumerate(
        zip(NET_INPUT["src_tokens"], NET_INPUT["prev_output_tokens"], strict=True)
    ):
        is_token = source.ne(PAD)
        expected = by_hand(source[is_token].numpy(), previous[previous.ne(PAD)].numpy())
        for step, (words, weights) in enumerate(expected):
            np.testing.assert_allclose(ours[row, step].detach(), words, atol=1e-5)
            np.testing.assert_allclose(extra["attn"][0][row, step, is_token].detach(), weights, atol=1e-5)
        assert not extra["attn"][0][row, :, ~is_token].any()


def test_a_new_layer_keeps_most_of_its_state():
    torch.manual_seed(1)
    layer = TransitionGRU(5, 400, 3, dropout=0.0)
    state = torch.randn(8, 400)
    gates = layer.input(torch.randn(8, 5))
    after = layer(gates, state, layer.masks(state))
    kept = (after * state).sum() / state.square().sum()
    assert 0.5 < kept < 0.9**3  # 0.5 ** 3 with a gate in the middle


def test_the_update_is_torch_s_gru_cell():
    cell = nn.GRUCell(5, 7)
    x, state = torch.randn(3, 5), torch.randn(3, 7)
    recurrent = nn.functional.linear(state, cell.weight_hh, cell.bias_hh)
    inputs = nn.functional.linear(x, cell.weight_ih, cell.bias_ih)
    torch.testing.assert_close(gru_update(state, recurrent, inputs), cell(x, state))
    nothing = torch.zeros_like(inputs)
    torch.testing.assert_close(gru_update(state, recurrent), gru_update(state, recurrent, nothing))


# ---- rows do not see each other, nor pads ------------------------------------------------------------------


@ALL
def test_context_matters_and_neither_padding_nor_batch_mates_do(depths):
    model = make(depths)
    together = logits(model, NET_INPUT)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = logits(model, batch([source], [target]))[0]
        torch.testing.assert_close(together[row, : len(alone)], alone, atol=1e-5, rtol=0)
    right = logits(model, batch(SOURCES, TARGETS, left_pad=False))
    real = NET_INPUT["prev_output_tokens"].ne(PAD)
    torch.testing.assert_close(right[real], together[real], atol=1e-5, rtol=0)
    other = logits(model, batch([[[1, 2, 9], [4, 5]], *SOURCES[1:]], TARGETS))
    assert (other[0] - together[0]).abs().max() > 1e-4
    torch.testing.assert_close(other[1:], together[1:], atol=1e-5, rtol=0)


def test_left_padded_targets_read_the_same():
    model = make()
    previous = NET_INPUT["prev_output_tokens"]
    pads = previous.eq(PAD).sum(1, keepdim=True)
    left = previous.gather(1, (torch.arange(previous.size(1)) - pads) % previous.size(1))
    right_logits, left_logits = (
        logits(model, {**NET_INPUT, "prev_output_tokens": tokens}) for tokens in (previous, left)
    )
    torch.testing.assert_close(left_logits[left.ne(PAD)], right_logits[previous.ne(PAD)], atol=1e-5, rtol=0)


# ---- step by step ------------------------------------------------------------------------------------------


@ALL
def test_incremental_decoding_equals_full_decoding_at_every_position(depths):
    """Only the last token is read, and rows change places at every step as beams do, across windows too."""
    model = make(depths)
    full = logits(model, NET_INPUT)
    previous = NET_INPUT["prev_output_tokens"]
    encoder_out, state, order = encode(model), {}, torch.arange(3)
    turn = torch.tensor([2, 0, 1])
    for step in range(previous.size(1)):
        order = order[turn]
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, turn)
        model.decoder.reorder_incremental_state_scripting(state, turn)
        tokens = torch.full((3, step + 4), PAD)  # what stands before the last token is not looked at
        tokens[:, -1] = previous[order, step]
        out = model.decoder(tokens, encoder_out=encoder_out, incremental_state=state)[0]
        real = previous[order, step].ne(PAD)
        assert out.shape[:2] == (3, 1)
        torch.testing.assert_close(out[real, 0], full[order, step][real], atol=1e-5, rtol=1e-5)


def test_reordering_takes_rows_of_every_entry():
    before = encode(make())
    order = torch.tensor([2, 2, 0])
    after = make().encoder.reorder_encoder_out(before, order)
    assert set(after) == set(before)
    for name, (entry,) in before.items():
        dimension = entry.shape.index(3)
        torch.testing.assert_close(after[name][0], entry.index_select(dimension, order), atol=0, rtol=0)


def sharp(model):
    """Sharp probabilities, and ``</s>`` among the likely words: hypotheses of several lengths."""
    projection = nn.Linear(*model.decoder.output_projection.weight.T.shape)
    projection.weight.data = 4 * model.decoder.output_projection.weight.data
    projection.bias.data = 2.0 * torch.arange(len(projection.bias)).eq(EOS)
    model.decoder.output_projection = projection
    return model


@ALL
def test_beam_search_scores_its_hypotheses_as_full_decoding_does(depths):
    model = sharp(make(depths))
    generator = SequenceGenerator([model], TASK.target_dictionary, beam_size=4, max_len_b=8)

    def translate(net_input):
        return generator.generate([model], {"net_input": inputs_of(net_input)})

    together = translate(NET_INPUT)
    for row, nbest in enumerate(together):
        (alone,) = translate(batch([SOURCES[row]], [TARGETS[row]]))
        assert [beam["tokens"].tolist() for beam in nbest] == [beam["tokens"].tolist() for beam in alone]
        for beam in nbest:
            tokens = beam["tokens"]
            source = NET_INPUT["src_tokens"][row : row + 1]
            previous = torch.cat([torch.tensor([EOS]), tokens[:-1]])[None]
            log_probs = model(source, None, previous)[0][0].log_softmax(-1)
            expected = log_probs.gather(1, tokens[:, None]).squeeze(1)
            torch.testing.assert_close(beam["positional_scores"], expected, atol=1e-4, rtol=0)
    lengths = {len(beam["tokens"]) for nbest in together for beam in nbest}
    assert len(lengths) > 1


@ALL
def test_reading_prefixes_leaves_the_state_of_decoding_them(depths):
    model = make(depths)
    prefixes = [[EOS, 12, 13, 14], [], [EOS], [EOS, 15, 16]]
    tokens = torch.tensor([row + [PAD] * (4 - len(row)) for row in prefixes])
    net_input = batch([*SOURCES, SOURCES[0]], [*TARGETS, TARGETS[0]])
    together, projected = {}, []
    model.decoder.output_projection.register_forward_hook(lambda *call: projected.append(call))
    model.decoder.read_prefix(tokens, encode(model, net_input), together)
    assert not projected
    following = torch.tensor([[11], [EOS], [17], [18]])
    search = torch.cat([tokens, following], dim=1)
    out = model.decoder(search, encoder_out=encode(model, net_input), incremental_state=together)[0]
    for row, prefix in enumerate(prefixes):
        encoder_out = model.encoder.reorder_encoder_out(encode(model, net_input), torch.tensor([row]))
        alone = {}
        for token in [*prefix, following[row, 0]]:
            expected = model.decoder(torch.tensor([[token]]), encoder_out, alone)[0]
        torch.testing.assert_close(out[row : row + 1], expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(AssertionError):  # the rows do differ
        torch.testing.assert_close(out[:1], out[3:], atol=1e-3, rtol=0)


def test_prefixes_may_be_read_in_pieces():
    model = make()
    tokens = torch.tensor([[EOS, 12, 13], [EOS, 14, PAD], [PAD, PAD, PAD]])
    whole, pieces = {}, {}
    model.decoder.read_prefix(tokens, encode(model), whole)
    for piece in tokens.split(1, dim=1):
        model.decoder.read_prefix(piece, encode(model), pieces)
    (a,), (b,) = whole.values(), pieces.values()
    torch.testing.assert_close(a["state"], b["state"], atol=1e-6, rtol=0)


@pytest.mark.parametrize("depth", [1, 2, 4, 7])
def test_the_gradient_of_a_new_layer_neither_explodes_nor_dies(depth):
    """As in the thesis' size, over a window of four sentences."""
    torch.manual_seed(1)
    layer = TransitionGRU(64, 256, depth, dropout=0.0)
    inputs = torch.randn(2, 81, 64, requires_grad=True)
    layer.unroll(inputs, torch.ones(2, 81, dtype=torch.bool))[:, -1].square().sum().backward()
    first, last = (inputs.grad[:, place].norm() for place in (0, -1))
    assert 0.02 < first / last < 10
