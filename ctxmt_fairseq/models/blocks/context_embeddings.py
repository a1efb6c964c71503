"""Embeddings of context sentences: Sequence Shortening for Context-Aware Machine Translation, section 4.3."""

from typing import Optional

import torch
from torch import Tensor, nn

from ctxmt_fairseq.data.context_options import PREVIOUS_SOURCE

SEGMENTS = 32  # so many distances have an embedding of their own


class ContextEmbeddings(nn.Module):
    """Learned embeddings of a context sentence's distance and role, and of the place of each of its vectors.

    The paper has distances (segments) and places. Roles are added for following and target sentences; the
    role of previous source sentences, the paper's only context, has an embedding that is always zero.

    Args:
        embed_dim: D.
        places: the rows of the table of places, of which later places share the last; None: places have no
            embeddings.
    """

    def __init__(self, embed_dim: int, places: Optional[int] = 1024):
        super().__init__()
        self.segments = embedding_table(SEGMENTS, embed_dim)
        self.roles = embedding_table(3, embed_dim, padding_idx=PREVIOUS_SOURCE)
        self.positions = None if places is None else embedding_table(places, embed_dim)

    def forward(self, states: Tensor, distances: Tensor, roles: Tensor) -> Tensor:
        """Add the embeddings to ``states`` (B, C, K, D), K vectors of each context sentence; pads are not
        zero any more.

        Args:
            distances: LongTensor (B, C), 0 for the current sentence, 1 for its neighbours; those beyond the
                table share its last row.
            roles: LongTensor (B, C), those of ``data.context_options``: ``PREVIOUS_SOURCE`` (also of the
                current sentence), ``FOLLOWING_SOURCE`` or ``TARGET``.
        """
        sentences = self.segments(distances.clamp(max=SEGMENTS - 1)) + self.roles(roles)
        states = states + sentences.unsqueeze(2)
        if self.positions is None:
            return states
        places = torch.arange(states.size(2), device=states.device)
        return states + self.positions(places.clamp(max=self.positions.num_embeddings - 1))


def embedding_table(rows: int, embed_dim: int, **arguments: int) -> nn.Embedding:
    """Make a table with fairseq's initial values; the row ``padding_idx`` is always zero."""
    table = nn.Embedding(rows, embed_dim, **arguments)
    nn.init.normal_(table.weight, mean=0, std=embed_dim**-0.5)
    if table.padding_idx is not None:
        nn.init.zeros_(table.weight[table.padding_idx])
    return table
