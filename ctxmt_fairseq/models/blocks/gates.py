"""Gates that weigh what a sentence says against what its context says."""

from functools import partial
from typing import Callable, Dict, Optional

import torch
from torch import Tensor, nn


class SumGate(nn.Module):
    """The gated sum of two attentions: Voita et al. 2018, equations 1 and 2."""

    def __init__(self, embed_dim: int):
        super().__init__()
        self.projection = nn.Linear(2 * embed_dim, embed_dim)

    def forward(self, source: Tensor, context: Tensor) -> Tensor:
        """Return g * source + (1 - g) * context, (T, B, D), with g = sigmoid(W [source, context] + b)."""
        gate = torch.sigmoid(self.projection(torch.cat([source, context], dim=-1)))
        return gate * source + (1 - gate) * context


class ResidualGate(nn.Module):
    """A gated residual connection (Zhang et al. 2018; the thesis, section 5.2).

    The gate is lambda = sigmoid(W_i H + b_i + W_s Sub(H) + b_s), a number for each dimension.

    Args:
        favour: what lambda multiplies: "sublayer" (thesis: lambda Sub(H) + (1 - lambda) H) or "input" (Zhang
            et al. 2018: lambda H + (1 - lambda) Sub(H)).
    """

    def __init__(self, embed_dim: int, favour: str):
        super().__init__()
        self.of_input = nn.Linear(embed_dim, embed_dim)
        self.of_sublayer = nn.Linear(embed_dim, embed_dim)
        self.favour = favour
        for linear in (self.of_input, self.of_sublayer):  # Marian's initialisation, which the thesis used
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, sublayer: Tensor, residual: Tensor) -> Tensor:
        """Join the sub-layer's output and its input, (T, B, D) each."""
        gate = torch.sigmoid(self.of_input(residual) + self.of_sublayer(sublayer))
        if self.favour == "sublayer":
            return gate * sublayer + (1 - gate) * residual
        return gate * residual + (1 - gate) * sublayer


class BranchGate(nn.Module):
    """A gate on the context branch, one number for each token: sequence shortening, equation 5."""

    def __init__(self, embed_dim: int):
        super().__init__()
        self.projection = nn.Linear(embed_dim, 1)

    def forward(self, context: Tensor) -> Tensor:
        """Multiply (T, B, D) by sigmoid(w h + b)."""
        return torch.sigmoid(self.projection(context)) * context


# The values of ``--context-gate``: see ``ContextLayer``.
GATES: Dict[str, Callable[[int], Optional[nn.Module]]] = {
    "none": lambda embed_dim: None,
    "branch": BranchGate,
    "next-sublayer": partial(ResidualGate, favour="sublayer"),
    "zhang": partial(ResidualGate, favour="input"),
}
