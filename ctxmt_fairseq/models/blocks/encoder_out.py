"""Context in ``encoder_out``, because fairseq gives the decoder nothing else."""

from typing import Any, Dict, List, Tuple

from torch import Tensor

EncoderOut = Dict[str, List[Any]]  # tensors: what fairseq's encoders return
PREFIX = "context_"  # of names of further entries, lists of tensors (B, ...)


def batch_first(encoder_out: EncoderOut) -> Tuple[Tensor, Tensor]:
    """The states (B, L, D) and their padding (B, L)."""
    return encoder_out["encoder_out"][0].transpose(0, 1), encoder_out["encoder_padding_mask"][0]
