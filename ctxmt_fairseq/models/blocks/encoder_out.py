"""Context in ``encoder_out``, because fairseq gives the decoder nothing else."""

from typing import Any, Dict, List, Tuple

from torch import Tensor

EncoderOut = Dict[str, List[Any]]  # tensors: what fairseq's encoders return
PREFIX = "context_"


def batch_first(encoder_out: EncoderOut) -> Tuple[Tensor, Tensor]:
    """The states (B, L, D) and their padding (B, L)."""
    return encoder_out["encoder_out"][0].transpose(0, 1), encoder_out["encoder_padding_mask"][0]


def reorder_context_entries(
    reordered: Dict[str, Any], encoder_out: Dict[str, Any], new_order: Tensor
) -> Dict[str, Any]:
    """Complete what fairseq's ``reorder_encoder_out`` returns, which drops the entries that it does not know,
    with the rows ``new_order`` of those whose names start with ``context_``, lists of tensors (B, ...)."""
    for name, entries in encoder_out.items():
        if name.startswith(PREFIX):
            reordered[name] = [entry.index_select(0, new_order) for entry in entries]
    return reordered
