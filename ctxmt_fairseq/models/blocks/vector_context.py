"""Encodes contexts that are vectors of whole texts (MTCue, sections 2.1 and 2.2)."""

import copy
import math
from typing import Any, Optional

from fairseq.modules import FairseqDropout, LayerNorm
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.context_attention import ContextStates
from ctxmt_fairseq.models.blocks.context_embeddings import embedding_table
from ctxmt_fairseq.models.blocks.pads import real_mean, softmaxable, zero_pads
from ctxmt_fairseq.models.blocks.qk_norm_attention import QKNormEncoderLayer
from ctxmt_fairseq.text.absence import NO_VECTOR

INPUTS = ("plain", "layernorm", "small-init")
_SMALL = 1e-3  # initial values of "small-init" are between -0.001 and it; those of distances are 0


class VectorContextEncoder(nn.Module):
    """A linear layer, an embedding of distances, and self-attention layers.

    Args:
        cfg: fairseq's, for heads, dropout and the place of layer norms; with ``qk_norm`` also
            ``contexts_per_sample``.
        vector_dim: R, the width of the vectors.
        layers: their number; 0: the states are the linear layer's output, with distances.
        ffn_dim: the width of the layers' feed-forward networks.
        distances: the rows of the table of distances, of which 0 is for the current sentence's vector, and
            sentences that are farther away share the last. None: distances have no embedding.
        qk_norm: whether the layers have ``QKNormAttention``.
        input: what the layers read. "plain": vectors through the linear layer, with their distances;
            "layernorm": these scaled by sqrt(D), as fairseq scales words, and normalised; "small-init": the
            same, from tiny initial values (the alternatives of appendix C).
        feature_dropout: the dropout of these inputs' elements; None: that of ``cfg``.
    """

    def __init__(
        self,
        cfg: Any,
        vector_dim: int,
        layers: int,
        ffn_dim: int,
        distances: Optional[int],
        qk_norm: bool,
        input: str = "plain",
        feature_dropout: Optional[float] = None,
    ):
        super().__init__()
        cfg = copy.deepcopy(cfg)
        cfg.encoder.ffn_embed_dim = ffn_dim
        embed_dim = cfg.encoder.embed_dim
        self.projection = nn.Linear(vector_dim, embed_dim)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)
        self.distance_embeddings = None if distances is None else embedding_table(distances, embed_dim)
        self.input_norm = None if input == "plain" else LayerNorm(embed_dim)
        self.input_scale = 1.0 if input == "plain" else math.sqrt(embed_dim)
        if input == "small-init":
            nn.init.uniform_(self.projection.weight, -_SMALL, _SMALL)
            if self.distance_embeddings is not None:
                nn.init.zeros_(self.distance_embeddings.weight)
        dropout = cfg.dropout if feature_dropout is None else feature_dropout
        self.dropout = FairseqDropout(dropout, module_name=type(self).__name__)
        layer = QKNormEncoderLayer if qk_norm else TransformerEncoderLayerBase
        self.layers = nn.ModuleList(layer(cfg) for _ in range(layers))
        self.layer_norm = LayerNorm(embed_dim) if cfg.encoder.normalize_before and layers else None

    def forward(self, vectors: Tensor, distances: Tensor) -> ContextStates:
        """Turn each vector into a state, K = M; the order of a row's vectors makes no difference.

        Args:
            vectors: (B, M, R), M at least 1, with zeros where there is nothing.
            distances: LongTensor (B, M): 0 is the current sentence, 1 and more are previous ones, -1 is
                metadata, -2 is nothing.
        """
        padding = distances.eq(NO_VECTOR)
        states = self.projection(vectors.to(self.projection.weight.dtype))
        if self.distance_embeddings is not None:
            farthest = self.distance_embeddings.num_embeddings - 1
            places = self.distance_embeddings(distances.clamp(0, farthest))
            states = states + places.masked_fill(distances.lt(0).unsqueeze(-1), 0)
        if self.input_norm is not None:
            states = self.input_norm(self.input_scale * states)
        states = self.dropout(states).transpose(0, 1)
        hidden = softmaxable(padding)
        for layer in self.layers:
            states = layer(states, hidden)
        if self.layer_norm is not None:
            states = self.layer_norm(states)
        return ContextStates(states.transpose(0, 1), padding)


def mean_context(context: ContextStates) -> ContextStates:
    """Turn each row's states into one, their mean: K = 1 (MTCue, section 3.3: CUE)."""
    mean = real_mean(zero_pads(context.states, context.padding), context.padding)
    return ContextStates(mean.unsqueeze(1), context.padding.all(dim=1, keepdim=True))
