"""fairseq's decoder with torch's fused attention wherever nobody reads attention weights."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from fairseq.models.transformer import TransformerDecoder
from torch import Tensor, nn

from ctxmt_fairseq.modules.row_groups import GROUPS, decode_in_groups

_NO_LAYER = -1


class Decoder(TransformerDecoder):
    """fairseq's, without what keeps its attentions from being fused.

    An attention that makes weights cannot be. fairseq asks its last layer for them at every pass, in
    evaluation all layers; this one in a search, until it is told that nobody reads them
    (``make_generation_fast_``, as by ``fairseq-generate`` without ``--print-alignment``), and where the
    caller names an ``alignment_layer``. And fairseq calls its attention to the source as in a search, also
    where there is none.

    Attributes:
        need_attn: whether the weights of a search are read.
    """

    need_attn = True

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        # Iterating over the layers would let --decoder-layerdrop leave some out.
        fuse_attention([self.layers[number] for number in range(len(self.layers))])

    def make_generation_fast_(self, need_attn: bool = False, **kwargs: Any) -> None:
        """fairseq's hook, called once before a search."""
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
        """As fairseq's: features (B, T, D); ``attn`` holds None where no weights are made. A batch that names
        groups of rows (``GROUPS``) is computed group by group, but in a search or for weights."""
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
    """Let fairseq's decoder layers make weights only when they are told to, and call their attention to the
    source as one that is fused, where there are neither weights nor keys that are kept."""
    for layer in layers:
        layer.need_attn = False
        if layer.encoder_attn is not None:
            layer.encoder_attn.register_forward_pre_hook(_fused, with_kwargs=True)


def _fused(attention: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
    # torch's own function, which the other value leads to, gives no weights of single heads.
    own = kwargs.get("incremental_state") is not None or kwargs.get("need_head_weights", False)
    return args, {**kwargs, "static_kv": own}
