"""``--to ctranslate2``: fairseq's transformer and ``concat_transformer`` as CTranslate2 computes them.

Its encoder adds the embedding of a source factor to that of a token. So what tells the sentences of a source
window apart (``SegmentPositions.places``) is a factor. Its decoder knows a token and the number of the step,
so a target window must be told apart by nothing; without target context all is the first segment.
"""

from pathlib import Path
from typing import Any, Optional

import torch
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.checkpoints.portable import write_options
from ctxmt_fairseq.generation.converted_models import FACTOR, PAD, PLACE, ctranslate2, digest_of, symbols_of
from ctxmt_fairseq.generation.exported_models import Target, Trained, check_layers, positions_table


class CTranslate2(Target):
    """Needs the extra ``ctranslate2``.

    Args:
        quantization: "int8" keeps the matrices in 8 bits; None: as they are.
    """

    def __init__(self, quantization: Optional[str] = None):
        self.quantization = quantization

    def write(self, model: Trained, folder: Path) -> None:
        ctranslate2()
        converter = import_of_extra("ctranslate2.converters.fairseq", "ctranslate2", "this needs CTranslate2")
        network, task = model.loaded.model, model.loaded.task
        check_layers(model, "CTranslate2", converter._SUPPORTED_ACTIVATIONS)
        _check(network, task)
        encoder, decoder, places = network.encoder, network.decoder, _places(network, task)
        positions, specs = encoder.embed_positions, converter.transformer_spec
        merge = converter.common_spec.EmbeddingsMerge.ADD
        factors = {"num_source_embeddings": 1 + bool(places), "embeddings_merge": merge}
        spec = specs.TransformerSpec(
            *(
                kind(
                    *(len(side.layers), side.layers[0].self_attn.num_heads),
                    pre_norm=side.layers[0].normalize_before,
                    activation=converter._SUPPORTED_ACTIVATIONS[network.args.activation_fn],
                    layernorm_embedding=side.layernorm_embedding is not None,
                    **more,
                )
                for kind, side, more in (
                    (specs.TransformerEncoderSpec, encoder, factors),
                    (specs.TransformerDecoderSpec, decoder, {}),
                )
            )
        )
        with torch.no_grad():
            for side in (encoder, decoder):
                side.embed_positions = torch.nn.Embedding.from_pretrained(_table(side, places > 0))
                side.embed_positions.padding_idx = -1  # its rows begin with the first position
            converter.set_transformer_encoder(spec.encoder, encoder)
            converter.set_transformer_decoder(spec.decoder, decoder)
        spec.register_source_vocabulary(symbols_of(task.source_dictionary))
        if places:
            table = positions.places_table(places) / encoder.embed_scale
            spec.encoder.embeddings[1].weight = table.detach().numpy()
            spec.register_source_vocabulary([PLACE.format(place) for place in range(len(table))])
        spec.register_target_vocabulary(symbols_of(task.target_dictionary))
        spec.config.add_source_eos = False
        spec.config.decoder_start_token = PAD if getattr(network.args, "marian", False) else "</s>"
        spec.validate()
        spec.optimize(quantization=self.quantization)
        spec.save(str(folder))
        write_options(model.state, folder, digest=digest_of(folder), places=places)


def _check(network: Any, task: Any) -> None:
    """Refuse by name what CTranslate2 cannot compute."""
    kind = getattr(network.encoder.embed_positions, "kind", "none")
    if kind == "restart":
        raise BadInput("--segment-positions restart: CTranslate2 counts positions on")
    if kind not in ("none", "flag") and task.decodes_windows:
        cannot = "CTranslate2's decoder cannot tell the sentences of a target window apart"
        raise BadInput(f"--segment-positions {kind}: {cannot}; without --target-context it can")
    if task.options.get("context_end") == "eos" and task.cfg.decoding == "prefix":
        raise BadInput("--context-end eos: CTranslate2 ends a translation at </s>")
    for dictionary in (task.source_dictionary, task.target_dictionary):
        if any(symbol == PAD or FACTOR in symbol for symbol in dictionary.symbols):
            raise BadInput(f"dictionary: CTranslate2 wants no symbol with {FACTOR}, and no {PAD}")


def _places(network: Any, task: Any) -> int:
    """How many places of ``SegmentPositions`` the windows of this task may have."""
    positions = network.encoder.embed_positions
    if getattr(positions, "segment_table", None) is not None:
        return 32 if positions.kind != "flag" else 2
    if getattr(positions, "kind", "none") != "shift":
        return 0
    longest, options = network.max_positions()[0], task.context_options()
    before = len(options.columns[0])
    return 1 + longest + before * (longest if positions.shift is None else positions.shift)


def _table(side: Any, has_places: bool) -> Tensor:
    """The embeddings (T, C) of a side's positions in the first segment. An encoder with places has those of
    the token alone, or none where a place is a shifted position."""
    positions, length = side.embed_positions, side.max_positions()
    if has_places and hasattr(side, "encode_context"):
        if positions.kind == "shift":
            return torch.zeros(length, positions.token_positions.embedding_dim)
        positions = positions.token_positions
    return positions_table(positions, length)
