"""fairseq's decoder, with torch's fused attention wherever nobody reads the attention's weights."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from fairseq.models.transformer import TransformerDecoder
from torch import Tensor, nn

from ctxmt_fairseq.models.blocks.row_groups import GROUPS, decode_in_groups

_NO_LAYER = -1


class Decoder(TransformerDecoder):
    """fairseq's decoder, without what keeps torch from fusing its attention.

    An attention that returns weights cannot be fused. fairseq asks its last layer for weights at every pass,
    and in evaluation all layers. This decoder asks for them if the caller names an ``alignment_layer``, and
    in a search, until it is told that nobody reads them (``make_generation_fast_``, which
    ``fairseq-generate`` calls without ``--print-alignment``). fairseq also calls its attention to the source
    as in a search where there is none; this decoder does not.

    Attributes:
        need_attn: whether somebody reads the weights of a search.
    """

    need_attn = True

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        # Iterating over the layers would let --decoder-layerdrop leave some out.
        fuse_attention([self.layers[number] for number in range(len(self.layers))])

    def make_generation_fast_(self, need_attn: bool = False, **kwargs: Any) -> None:
        """fairseq calls this once before a search."""
        self.need_attn = bool(need_attn)

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: Optional[Dict[str, List[Tensor]]] = None,
        incremental_state: Optional[Dict[str, Any]] = None,
        full_context_alignment: bool = False,
        alignment_layer: Optional[int] = None,
        alignment_heads: Optional[int] = None,
    ) -> Tuple[Tensor, Dict[str, Any]]:
        """As fairseq's: features (B, T, D); ``attn`` has None where no weights are made. A batch that names
        groups of rows (``GROUPS``) is computed group by group, except in a search and for weights."""
        nobody_asks = alignment_layer is None and incremental_state is None
        if nobody_asks and encoder_out and encoder_out.get(GROUPS):

            def decode(tokens: Tensor, own: Dict[str, List[Tensor]]) -> Tensor:
                return self.extract_features(tokens, own, None, full_context_alignment)[0]

            return decode_in_groups(decode, prev_output_tokens, encoder_out), {"attn": [None]}
        if alignment_layer is None and (incremental_state is None or not self.need_attn):
            alignment_layer = _NO_LAYER
        return super().extract_features(
            prev_output_tokens,
            encoder_out,
            incremental_state,
            full_context_alignment,
            alignment_layer,
            alignment_heads,
        )


def fuse_attention(layers: Sequence[nn.Module]) -> None:
    """Have fairseq's decoder layers make weights only when they are told to, and call their attention to the
    source so that torch can fuse it, unless weights are wanted or keys are kept."""
    for layer in layers:
        layer.need_attn = False
        if layer.encoder_attn is not None:
            layer.encoder_attn.register_forward_pre_hook(_fused, with_kwargs=True)


def _fused(attention: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
    # With static_kv off fairseq calls torch's own function, which gives no weights of single heads.
    own = kwargs.get("incremental_state") is not None or kwargs.get("need_head_weights", False)
    return args, {**kwargs, "static_kv": own}
