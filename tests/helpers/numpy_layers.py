"""A transformer's sub-layers in NumPy, for one row without pads: written from Vaswani et al. 2017.

Only the weights come from the modules under test.
"""

import numpy as np


def array(tensor):
    return tensor.detach().double().numpy()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def linear(module, x):
    return x @ array(module.weight).T + array(module.bias)


def layer_norm(module, x):
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + module.eps)
    return centred / deviation * array(module.weight) + array(module.bias)


def attend(module, queries, states, causal=False):
    """Multi-head attention of ``queries`` (T, D) to ``states`` (K, D); with ``causal`` not to later ones."""
    q, k, v = (
        linear(projection, x)
        for projection, x in (
            (module.q_proj, queries),
            (module.k_proj, states),
            (module.v_proj, states),
        )
    )
    width = q.shape[1] // module.num_heads
    heads = []
    for first in range(0, q.shape[1], width):
        part = slice(first, first + width)
        scores = q[:, part] @ k[:, part].T / np.sqrt(width)
        if causal:
            scores[np.triu_indices_from(scores, 1)] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        heads.append(weights / weights.sum(1, keepdims=True) @ v[:, part])
    return linear(module.out_proj, np.concatenate(heads, axis=1))


def attend_qk_norm(module, x):
    """Self-attention of (K, D) with each head's queries and keys of length 1: Henry et al. 2020, equations 3
    and 4."""
    q, k, v = (linear(projection, x) for projection in (module.q_proj, module.k_proj, module.v_proj))
    heads = []
    for part in np.split(np.arange(q.shape[1]), module.num_heads):
        unit_q, unit_k = (y[:, part] / np.linalg.norm(y[:, part], axis=1, keepdims=True) for y in (q, k))
        weights = np.exp(array(module.qk_scale) * unit_q @ unit_k.T)
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
    return linear(module.out_proj, np.concatenate(heads, axis=1))


def feed_forward(layer, x):
    return linear(layer.fc2, np.maximum(linear(layer.fc1, x), 0))


def sublayer(x, norm, function, pre_norm, join=np.add):
    """LayerNorm(join(x, f(x))), or with ``pre_norm`` join(x, f(LayerNorm(x)))."""
    if pre_norm:
        return join(x, function(layer_norm(norm, x)))
    return layer_norm(norm, join(x, function(x)))
