"""The programs behind the papers, as families of models that can be imported."""

import math
from typing import Any, Dict, List

import torch
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.imported_models import FAMILIES, Family, Parameters, Row
from ctxmt_fairseq.models.blocks.context_embeddings import SEGMENTS
from ctxmt_fairseq.text.symbols import SEPARATOR

_END = "<END>"  # of focused-concat's windows, whose sentences all end with </s>
_LAYER = r"(decoder\.layers\.\d+)\."


@FAMILIES.register("contextual-mt")
class ContextualMT(Family):
    """Fernandes et al. (2021)."""

    description = "neulab/contextual-mt"
    archs = r"contextual_transformer.*"
    arch, task = "transformer", "document_window"
    needed = {"multi_encoder": False}

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        sizes = {f"{side}_context": options.get(f"{side}_context_size", 0) for side in ("source", "target")}
        return {**sizes, "context_end": "eos"}


@FAMILIES.register("focused-concat")
class FocusedConcat(Family):
    """Lupo et al. (2022)."""

    description = "lorelupo/focused-concat"
    archs = r"concat_.*"
    arch, task = "concat_transformer", "document_window"
    names = (
        (r".*_float_tensor", ""),
        (r"\.embed_segments\.weight", ".embed_positions.segment_table.weight"),
        (r"\.embed_positions\.weight", ".embed_positions.token_positions.weight"),
    )
    needed = {
        **{"onehot_segment_emb": False, "pse_segment_dim": 0, "persistent_pse": False},
        **{"persistent_positions": False, "persistent_segment_emb": False, "add_doc_markup": False},
    }

    def symbols(self, symbols: List[str], rows: int) -> List[Row]:
        symbols = symbols if _END in symbols else [*symbols, _END]  # the program adds it
        end, stop = symbols.index(_END), symbols.index("</s>")
        ours: Dict[str, Row] = {"</s>": ("</s>", end), _END: (SEPARATOR, stop)}
        return [ours.get(symbol, (symbol, row)) for row, symbol in enumerate(symbols)]

    def options(self, options: Dict[str, Any], parameters: Parameters) -> Dict[str, Any]:
        if options.get("use_segment_emb"):
            kind = "learned" if options.get("lrn_segment_emb") else "sinusoidal"
            return {"segment_positions": kind, "segment_types": "distance"}
        if not options.get("segment_shifted_positions"):
            return {"segment_positions": "none"}
        shift = options.get("position_shift", 0)
        return {"segment_positions": "shift", "segment_shift": "avg-sequence" if shift == -1 else shift}

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        before = max((options.get("num_sent") or 1) - 1, 0)
        to_one = options.get("mode") == "slide_n2one"
        return {"source_context": before, "target_context": 0 if to_one else before}

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        tables = {k: _filled(v, SEGMENTS + 1) for k, v in parameters.items() if "segment_table" in k}
        return {**parameters, **tables}


@FAMILIES.register("shortening")
class Shortening(Family):
    """Sequence shortening."""

    description = "Pawel-M/shortening-context-mt"
    archs = r"(caching|shortening)_contextual_transformer.*"
    arch, task = "caching_transformer", "multi_source"
    names = (
        (r".*_float_tensor", ""),
        (r"encoder\.shortening_cat\.", "encoder.context_shortening.categoriser."),
        (r"encoder\.linear_pooler\.", "encoder.context_shortening.linear."),
        (r"encoder\.shortening_attn\.", "encoder.context_shortening.attention.attention."),
        (r"encoder\.shortening_layer_norm\.", "encoder.context_shortening.attention.layer_norm."),
        (_LAYER + r"context_attn\.", r"\1.context_attn.attention."),
        (_LAYER + r"context_gate\.0\.", r"\1.context_gate.projection."),
    )
    needed = {
        **{"target_context_size": 0, "context_use_gated_attentions": False},
        **{"context_sentence_learned_pos": True, "shortening_group_learned_pos": True},
    }

    def options(self, options: Dict[str, Any], parameters: Parameters) -> Dict[str, Any]:
        fusion = "serial"
        if options.get("context_concatenate_context"):
            fusion = "concat"
        elif options.get("context_use_parallel_cross_attention"):
            fusion = "separate"
        gate = "branch" if options.get("context_use_gated_context_attention") else "none"
        if (fusion, gate) == ("serial", "branch"):
            raise BadInput("--context-use-gated-context-attention: only parallel ones can be imported")
        prefix = options["arch"].partition("_")[0]
        if prefix == "caching":
            kind = "sentence" if options.get("caching_aggregate_sentence") else "none"
            found = {"shortening": kind, "current_in_context": _yes(options, "caching_use_current_context")}
        else:
            found = _shortened(options)
        gradient = _yes(options, f"{prefix}_propagate_context_encoder_gradient")
        return {
            **found,
            **{"context_fusion": fusion, "context_gate": gate, "context_gradient_encoder": gradient},
        }

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        return {"source_context": options.get("source_context_size", 0), "missing_context": "empty"}

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        made, before = dict(parameters), options.get("source_context_size", 0)
        # Row 0 of their tables is for pads. Their sentences are numbered from the farthest to the current
        # one; ours by the distance from it.
        sentences = made.pop("decoder.sentence_positions.weight")
        near = sentences[1 : before + 2].flip(0)
        made["encoder.context_embeddings.segments.weight"] = _filled(near, SEGMENTS)
        made["encoder.context_embeddings.roles.weight"] = torch.zeros(3, near.size(1))
        groups = made.pop("encoder.group_positions.weight", None)
        if groups is not None:
            size = options["shortening_groups"] if options.get("shortening_use_pooling") else 1
            places = -(-(len(groups) - 1) // size)
            made["encoder.context_embeddings.positions.weight"] = groups[1 : places + 1]
        return made


@FAMILIES.register("MTCue")
class MTCue(Family):
    """Vincent et al. (2023)."""

    description = "st-vincent1/MTCue"
    archs = r"mtcue.*|abl_.*"
    arch, task = "mtcue_transformer", "metadata_context"
    names = (
        (r"cxt_encoder\.version", ""),
        (r"cxt_encoder\.lin_proj\.", "encoder.context_encoder.projection."),
        (r"cxt_encoder\.doc_pos_embed\.", "encoder.context_encoder.distance_embeddings."),
        (r"cxt_encoder\.layernorm_embedding\.", "encoder.context_encoder.input_norm."),
        (r"^cxt_encoder\.", "encoder.context_encoder."),
        (r"\.scaling\.scale$", ".qk_scale"),
        (_LAYER + r"encoder_attn2\.", r"\1.context_attn.attention."),
        (_LAYER + r"encoder_attn_layer_norm2\.", r"\1.context_attn_layer_norm."),
    )
    needed = {"context_inclusion": "aug", "context_average": False}

    def options(self, options: Dict[str, Any], parameters: Parameters) -> Dict[str, Any]:
        distances = parameters.get("encoder.context_encoder.distance_embeddings.weight")
        merge = options.get("synthesizer_augmented_cross_attention_merge_type", "parallel")
        return {
            "context_fusion": "parallel-mean" if merge == "parallel" else "serial",
            "context_qk_norm": "all" if options.get("qknorm", True) else "no",
            "context_layers": 0 if options.get("context_just_embed") else options.get("context_layer", 6),
            "context_positions": "no" if distances is None else "yes",
            "context_input": "layernorm" if options.get("layernorm_embedding_context") else "plain",
            "context_feature_dropout": options.get("context_dropout", 0.25),
            "vector_dimension": parameters["encoder.context_encoder.projection.weight"].size(1),
            "contexts_per_sample": float(options.get("doc_context_len", 6)),
            "farthest_context": (6 if distances is None else len(distances)) - 1,
        }

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        before = 0 if options.get("no_doc_context") else options.get("doc_context_len", 6) - 1
        metadata = "none" if options.get("no_meta_context") else "all"
        return {"source_context": before, "metadata_fields": metadata}

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        scales = {name: value.reshape(1) for name, value in parameters.items() if name.endswith("qk_scale")}
        made = {**parameters, **scales}
        weight = made["encoder.context_encoder.projection.weight"]
        made["encoder.context_encoder.projection.bias"] = weight.new_zeros(len(weight))
        if not (options.get("no_scale_embedding") or options.get("layernorm_embedding_context")):
            for name in ("projection.weight", "distance_embeddings.weight"):  # scaled like words
                if f"encoder.context_encoder.{name}" in made:
                    made[f"encoder.context_encoder.{name}"] *= math.sqrt(len(weight))
        return made


def _yes(options: Dict[str, Any], name: str) -> str:
    return "yes" if options.get(name) else "no"


def _shortened(options: Dict[str, Any]) -> Dict[str, Any]:
    """What their options of the shortening are in ours."""
    kind = "select" if options.get("shortening_selecting_groups") else "group"
    if options.get("shortening_use_pooling"):
        kind = options.get("shortening_pooling_type", "mean")
    if kind == "min" or (kind in ("group", "select") and options.get("shortening_ffn_hidden") != 512):
        raise BadInput("--shortening-pooling-type min, --shortening-ffn-hidden: only 512 can be imported")
    sentences = options.get("shortening_propagate_context_size_gradient")
    return {
        "shortening": kind,
        "shortening_size": options["shortening_groups"],
        "shortening_activation": "sparsemax" if options.get("shortening_use_sparsemax") else "softmax",
        "shortening_partial": "zeros",
        "current_in_context": "no" if options.get("shortening_no_current_context") else "yes",
        "context_gradient_sentences": -1 if sentences is None else sentences,
    }


def _filled(table: Tensor, rows: int) -> Tensor:
    """Cut or repeat the last row of a table (n, D), so that it has so many rows."""
    return torch.cat([table[:rows], table[-1:].expand(max(rows - len(table), 0), -1)])
