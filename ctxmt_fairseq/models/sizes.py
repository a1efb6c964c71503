"""The sizes of the architectures, and how their options get defaults."""

import argparse
import contextlib
import traceback
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

from fairseq.models import ARCH_CONFIG_REGISTRY, register_model_architecture

from ctxmt_fairseq.base.errors import BadInput


def _size(embed_dim: int, ffn_embed_dim: int, layers: int, heads: int, **more: Any) -> Dict[str, Any]:
    """The dimensions of a transformer whose decoder is as large as its encoder; its widths follow those."""
    return {
        "encoder_embed_dim": embed_dim,
        "encoder_ffn_embed_dim": ffn_embed_dim,
        **{f"{side}_layers": layers for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": heads for side in ("encoder", "decoder")},
        **more,
    }


SIZES: Dict[str, Dict[str, Any]] = {
    "tiny": _size(128, 256, 2, 4),  # tests and the demo corpus
    "iwslt": _size(512, 1024, 6, 4),  # fairseq's transformer_iwslt_de_en
    # Transformer-base (Vaswani et al. 2017) with one tied vocabulary: 44,138,496 parameters and 512 for every
    # symbol, which is 60.7M for a vocabulary of 32,347 (60.65M to 60.75M: 32,249 to 32,444 symbols)
    "base": _size(512, 2048, 6, 8, share_all_embeddings=True),
    # Transformer-big (Vaswani et al. 2017), for the models that ask for it
    "big": _size(1024, 4096, 6, 16, share_all_embeddings=True),
}

# For papers whose base size has no tied vocabulary; --share-all-embeddings overrides it.
SEPARATE_VOCABULARIES = {"share_all_embeddings": False, "share_decoder_input_output_embed": True}


def add_options(parser: argparse.ArgumentParser, *options: Tuple[str, Any, str]) -> None:
    """Add options of a model: the name, what it takes (a type, its words, bool for a flag), and the help."""
    for name, takes, text in options:
        name, _, metavar = name.partition(" ")
        how: Dict[str, Any] = {"type": takes, "metavar": metavar or ("P" if takes is float else "N")}
        if takes is bool:
            how = {"action": "store_true"}
        elif not callable(takes):
            how = {"choices": tuple(takes)}
        parser.add_argument(name, help=text, **how)


def set_defaults(args: Any, **values: Any) -> None:
    """Set the options that ``args`` lacks."""
    for name, value in values.items():
        setattr(args, name, getattr(args, name, value))


@contextlib.contextmanager
def refused_by_fairseq(arch: str) -> Iterator[None]:
    """Say in one line what fairseq's own modules refuse of a new model's options, such as heads that do not
    divide its units. Errors of other code stay what they are."""
    try:
        yield
    except (AssertionError, ValueError) as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if not str(error) or not frame.f_globals["__name__"].startswith("fairseq."):
            raise
        raise BadInput(f"--arch {arch}: {error}") from error


def register_sizes(
    model: str,
    defaults: Optional[Callable[[Any], None]] = None,
    base: Mapping[str, Any] = {},
    big: bool = False,
    **own: Any,
) -> None:
    """Register MODEL (fairseq's default dimensions) and MODEL_tiny, MODEL_iwslt, MODEL_base, and perhaps
    MODEL_big.

    Args:
        defaults: a function that sets the defaults of the model's own options, if ``own`` are not all.
        base: options that ``MODEL_base`` sets besides those of ``SIZES``, or in their place.
        own: defaults of the model's own options.
    """

    def register(size: Optional[str]) -> None:
        def architecture(args: Any) -> None:
            for values in (base if size == "base" else {}, SIZES.get(size or "", {}), own):
                set_defaults(args, **values)
            if defaults is not None:
                defaults(args)

        register_model_architecture(model, f"{model}_{size}" if size else model)(architecture)

    for size in (None, *SIZES):
        if size != "big" or big:
            register(size)


def size_stock_transformer(is_ours: Callable[[Optional[str]], bool]) -> None:
    """Give fairseq's ``transformer_tiny`` the size of the other ``_tiny`` in tasks that are ours, so that
    they can be compared.

    In fairseq's own tasks it keeps its 64 units and 2 heads. Checkpoints keep their dimensions.
    """
    stock = ARCH_CONFIG_REGISTRY["transformer_tiny"]

    def architecture(args: Any) -> None:
        if is_ours(getattr(args, "task", None)):
            set_defaults(args, **SIZES["tiny"])
        stock(args)

    ARCH_CONFIG_REGISTRY["transformer_tiny"] = architecture
