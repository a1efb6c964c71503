"""``--marian``: what Marian's transformers (OPUS-MT) compute otherwise than fairseq's, whose layers are the
same."""

import torch
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput


class MarianPositions(SinusoidalPositionalEmbedding):
    """Sinusoids of p / 10000^(2k / D), p from 0 in row ``first``, in the place of fairseq's, which have other
    frequencies and begin farther on."""

    def __init__(self, embedding_dim: int, padding_idx: int, init_size: int = 1024):
        super().__init__(embedding_dim, padding_idx, init_size=padding_idx + 1)
        self.first = padding_idx + 1
        self.weights = self.get_embedding(init_size, embedding_dim, padding_idx)

    @staticmethod
    def frequencies(embedding_dim: int) -> Tensor:
        """(C // 2,) float64."""
        return 10000.0 ** (-torch.arange(0, embedding_dim, 2, dtype=torch.float64) / embedding_dim)

    @staticmethod
    def get_embedding(num_embeddings, embedding_dim, padding_idx=None):  # fairseq's name
        places = torch.arange(num_embeddings) - padding_idx - 1
        angles = places[:, None] * MarianPositions.frequencies(embedding_dim)
        return torch.cat([angles.sin(), angles.cos()], dim=1).float() * (places >= 0)[:, None]

    def forward(self, input, *args, **kwargs):
        most = self.first + input.size(1)
        if most > self.weights.size(0):  # fairseq would add rows of its own table
            self.weights = self.get_embedding(2 * most, self.embedding_dim, self.padding_idx).to(self.weights)
        return super().forward(input, *args, **kwargs)


class StartEmbedding(nn.Embedding):
    """Embeds ``start``, with which a target window begins, as the pad; shares the weights of ``table``."""

    def __init__(self, table: nn.Embedding, start: int):
        super().__init__(*table.weight.shape, table.padding_idx, _weight=table.weight)
        self.weight, self.start = table.weight, start

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens.masked_fill(tokens == self.start, self.padding_idx))


def make_marian(model: nn.Module) -> None:
    """Change a transformer's positions, its decoder's first symbol, and the bias of its output."""
    for module in list(model.modules()):
        positions = getattr(module, "embed_positions", None)
        if isinstance(positions, SinusoidalPositionalEmbedding):
            module.embed_positions = MarianPositions(positions.embedding_dim, positions.padding_idx)
    decoder = model.decoder
    if decoder.output_projection is None:
        raise BadInput("--marian: expected no --adaptive-softmax-cutoff")
    decoder.embed_tokens = StartEmbedding(decoder.embed_tokens, decoder.dictionary.eos())
    decoder.output_projection.bias = nn.Parameter(torch.zeros(len(decoder.dictionary)))
