"""GRUs with layer normalisation and deep transitions, and their attention."""

from typing import Iterable, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

UPDATE_BIAS = 2.0  # of a new update gate; LSTMs have one for the same reason (Jozefowicz et al. 2015)


class NormalisedLinear(nn.Module):
    """Computes LN(W x), with the gain and the bias of layer normalisation (Ba et al. 2016, equation 4)."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.norm = nn.LayerNorm(outputs)
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) -> (..., outputs)."""
        return self.norm(self.linear(x))


def sequence_dropout(x: Tensor, probability: float, training: bool) -> Tensor:
    """Drop the same units of x (B, T, C) at every step of a sequence (Gal and Ghahramani 2016)."""
    return x * F.dropout(torch.ones_like(x[:, :1]), probability, training)


def gru_update(state: Tensor, recurrent: Tensor, inputs: Optional[Tensor] = None) -> Tensor:
    """Compute the next state of a GRU (Cho et al. 2014, reset after the matrix product).

    r = sigmoid(x_r + u_r), z = sigmoid(x_z + u_z), n = tanh(x_n + r * u_n); returns (1 - z) * n + z * state.

    Args:
        state: (B, H).
        recurrent: (B, 3H), u: what the state gives to r, z and n.
        inputs: (B, 3H), x: what the input gives; None in a transition without input.
    """
    size = state.size(-1)
    gates, candidate = recurrent.split((2 * size, size), dim=-1)
    if inputs is None:
        reset, update = torch.sigmoid(gates).chunk(2, dim=-1)
        new = torch.tanh(reset * candidate)
    else:
        input_gates, input_candidate = inputs.split((2 * size, size), dim=-1)
        reset, update = torch.sigmoid(input_gates + gates).chunk(2, dim=-1)
        new = torch.tanh(input_candidate + reset * candidate)
    # Under autocast the gates may be in half precision, but the state is not.
    return torch.lerp(new.type_as(state), state, update.type_as(state))


class TransitionGRU(nn.Module):
    """A recurrent layer that makes several GRU updates at every step, of which the first one reads the input.

    This is deep transition (Miceli Barone et al. 2017, section 2.3.1); a depth of one is the plain GRU. Each
    matrix product is layer-normalised over its three gates together, as in Marian.

    A new layer keeps sigmoid(2) = 0.88 of its state at every update. If it kept the usual half, nothing of
    the sentence before would be left after a few words, and models would learn much later to use that
    sentence. The gain of the updates without input begins at (depth - 1)^(-1/4). With the usual 1 the
    gradient of a new layer grows 100 times in 80 tokens at a depth of 4 and 10^7 times at 7, which half
    precision cannot hold.

    Args:
        inputs: the input's width. size: the state's width H. depth: GRU updates per step, at least 1.
        dropout: the probability of hiding a unit of the state from the gates, the same ones at every step.
    """

    def __init__(self, inputs: int, size: int, depth: int, dropout: float):
        super().__init__()
        self.size, self.dropout = size, dropout
        self.input = NormalisedLinear(inputs, 3 * size)
        self.recurrent = nn.ModuleList(NormalisedLinear(size, 3 * size) for _ in range(depth))
        for recurrent in self.recurrent:
            nn.init.constant_(recurrent.norm.bias[size : 2 * size], UPDATE_BIAS)
        for recurrent in self.recurrent[1:]:
            nn.init.constant_(recurrent.norm.weight, (depth - 1) ** (-1 / 4))

    def masks(self, state: Tensor) -> List[Tensor]:
        """Draw the dropout masks (B, H) of a sequence, one for each update; in evaluation they are ones."""
        return [F.dropout(torch.ones_like(state), self.dropout, self.training) for _ in self.recurrent]

    def forward(self, gates: Tensor, state: Tensor, masks: Iterable[Tensor]) -> Tensor:
        """Make a step, from ``self.input`` of the input (B, 3H) and the state (B, H) to the next state."""
        inputs: Optional[Tensor] = gates
        for recurrent, mask in zip(self.recurrent, masks, strict=True):
            state = gru_update(state, recurrent(state * mask), inputs)
            inputs = None
        return state

    def unroll(self, inputs: Tensor, real: Tensor) -> Tensor:
        """Compute all states (B, T, H) from inputs (B, T, C), starting from zero.

        The state stays where ``real``, BoolTensor (B, T), is false, so pads change nothing wherever they are.
        """
        state = inputs.new_zeros(len(inputs), self.size)
        masks = self.masks(state)
        states = []
        for gates, is_token in zip(self.input(inputs).unbind(1), real.unsqueeze(2).unbind(1), strict=True):
            state = torch.where(is_token, self(gates, state, masks), state)
            states.append(state)
        return torch.stack(states, dim=1)


class AdditiveAttention(nn.Module):
    """e = v . tanh(LN(W query) + key), weights = softmax(e) over the source (Bahdanau et al. 2015).

    The caller projects the keys, LN(U states), once for a sentence, because they do not depend on the query.
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        self.query = NormalisedLinear(query_size, key_size)
        self.score = nn.Linear(key_size, 1, bias=False)
        nn.init.xavier_uniform_(self.score.weight)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, padding: Tensor) -> Tuple[Tensor, Tensor]:
        """Attend once with a query (B, Q) to keys (B, S, K), but pads (B, S): the weighted sum of the values
        (B, S, V), (B, V), and the weights (B, S)."""
        scores = self.score(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(2)
        weights = scores.float().masked_fill(padding, -torch.inf).softmax(dim=1).type_as(values)
        return weighted_sum(weights, values), weights


def weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    """(B, S) and (B, S, V) -> (B, V)."""
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1)
