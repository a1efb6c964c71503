"""The latent groups of the tokens of a sentence (sequence shortening, section 5.4, figure 3)."""

from typing import Any

import numpy as np
import torch

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.tokens import describe
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.latent_groups import Latent


def latent_groups(model: Any) -> Latent:
    """The module of the model that groups or selects; other models are refused."""
    shortening = getattr(model.encoder, "context_shortening", None)
    if not isinstance(shortening, Latent):
        raise BadInput(
            "expected a caching_transformer with --shortening group or select, "
            f"found {architecture(model, 'shortening')}"
        )
    return shortening


def token_groups(loaded: LoadedModels, sentence: str) -> LabelledMap:
    """The weights c of equation 3 between the tokens of a sentence (rows) and the groups (columns).

    With grouping every row sums to 1, with selecting every column.
    """
    model = loaded.model
    latent = latent_groups(model)
    tokens = loaded.encode_source(sentence)
    if len(tokens) > loaded.limits[0]:
        raise BadInput(f"expected a sentence of at most {loaded.limits[0]} tokens, found {len(tokens)}")
    row = tokens[None].to(loaded.device)
    with torch.no_grad():
        out = model.encoder(row)
        weights = latent.assignment(out["encoder_out"][0].transpose(0, 1), row.eq(model.encoder.padding_idx))
    values = weights[0].double().cpu().numpy()
    return LabelledMap(
        title=f"{latent.title}, {architecture(model)}",
        values=values,
        rows=[token.label for token in describe(loaded.task.source_dictionary, tokens)],
        columns=[str(group) for group in range(1, values.shape[1] + 1)],
        row_name="token",
        column_name="group",
    )


def used_groups(values: np.ndarray) -> int:
    """How many groups (columns) have any token."""
    return int(values.any(axis=0).sum())
