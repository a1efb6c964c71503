"""Starts a model from a sentence-level one: from a checkpoint of fairseq's transformer, whoever trained
it."""

import argparse
import copy
import logging
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, modules_of
from ctxmt_fairseq.checkpoints.known_symbols import KnownSymbols
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.checkpoints.reading import read
from ctxmt_fairseq.checkpoints.shapes import shapes_only
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.models.blocks.marian import make_marian
from ctxmt_fairseq.models.blocks.segment_positions import stock_name

logger = logging.getLogger(__name__)

# What a transformer computes depends on these, and only some of them show in the shapes of its parameters.
_OF_SIDES = ("layers", "embed_dim", "ffn_embed_dim", "attention_heads", "normalize_before", "learned_pos")
OPTIONS = (
    *(f"{side}_{name}" for name in _OF_SIDES for side in ("encoder", "decoder")),
    *("decoder_input_dim", "decoder_output_dim", "layernorm_embedding", "activation_fn"),
    *("no_token_positional_embeddings", "no_scale_embedding", "adaptive_input", "no_cross_attention"),
    "marian",
)
# What makes a model of the same size in a training.
SIZE_OPTIONS = (
    *(name for name in OPTIONS if name not in ("decoder_input_dim", "decoder_output_dim")),
    *("share_all_embeddings", "share_decoder_input_output_embed"),
    *("max_source_positions", "max_target_positions"),
)
_SIDES = {"encoder": "source", "decoder": "target"}
# a row for each symbol
_EMBEDDINGS = (".embed_tokens.weight", ".output_projection.weight", ".output_projection.bias")
_BUFFERS = (".version", "._float_tensor", ".weights")  # in fairseq's modules, also of earlier versions


def sentence_model_shapes(args: Any, task: Any) -> Dict[str, torch.Size]:
    """Find the names and shapes that the parameters of fairseq's transformer have with these options."""
    args = copy.deepcopy(args)
    args.encoder_embed_path = args.decoder_embed_path = None
    with shapes_only():
        model = TransformerModel.build_model(args, task)
        if getattr(args, "marian", False):
            make_marian(model)
    return {name: parameter.shape for name, parameter in model.named_parameters()}


def load_sentence_model(
    model: Any,
    path: str,
    symbols: Optional[Mapping[str, KnownSymbols]] = None,
    check: Callable[[Dict[str, Any]], None] = lambda task_state: None,
) -> None:
    """Take over every parameter of the checkpoint ``path`` that ``model`` has, too, and log which were not.

    Symbols that the checkpoint lacks keep the embeddings that the model was initialised with; what is known
    of the two dictionaries is in ``symbols`` (None: they are the checkpoint's). The model's
    ``sentence_parameters`` (see ``ContextModel``) say which parameters a sentence-level model has; without
    this attribute it is all of them. ``check`` refuses a checkpoint by its task's state.
    """
    checkpoint = Path(path)
    allowed = ALLOWED | modules_of(type(model))  # it may be named, because the command line has named it
    state, own = read(checkpoint, allowed, ("model",)), model.state_dict()
    try:
        check(state.get("task_state") or {})
        saved, new_symbols = _fitting(model, state, symbols or {})
        taken = {name: _value(name, saved[name], own[name], new_symbols) for name in own if name in saved}
        _check_ties(model, own, taken)
    except BadInput as error:
        raise BadInput(str(error), checkpoint) from None
    model.load_state_dict({**own, **taken})
    new = sorted(name for name, _ in model.named_parameters() if name not in saved)
    for what, names in (("new", new), ("not used", sorted(saved.keys() - own.keys()))):
        logger.info("%s: %d parameters %s: %s", path, len(names), what, ", ".join(names) or "none")
    logger.info("%s: %d parameters taken over", path, len(taken))
    for side, added in new_symbols.items():
        if added:
            counts = (len(added), side, ", ".join(added))
            logger.info("%s: embeddings of %d new %s symbols initialised: %s", path, *counts)


def _fitting(
    model: Any, state: Mapping[str, Any], known: Mapping[str, KnownSymbols]
) -> Tuple[Dict[str, Tensor], Dict[str, Sequence[str]]]:
    """Give a checkpoint's parameters the model's names, and find the symbols of each side that it lacks."""
    options = mapping(state["cfg"]["model"], "model")
    _check_architecture(model, options)
    saved = _named_as_in(model.state_dict(), _upgraded(model, state["model"]))
    _check_names(model, saved, options)
    task_state = state.get("task_state") or {}
    new = _new_symbols(saved, task_state, known)
    for name in [name for name in saved if _side(name) in new]:
        saved[name] = saved[name][: len(saved[name]) - _added(task_state, name)]
    return saved, new


def _arch(model: Any) -> str:
    return getattr(getattr(model, "args", None), "arch", type(model).__name__)


def _check_architecture(model: Any, options: Mapping[str, Any]) -> None:
    """Refuse another kind of model, and a transformer that computes something else."""
    arch = _arch(model)
    wanted = TransformerModel if isinstance(model, TransformerModel) else type(model)
    if not issubclass(ARCH_MODEL_REGISTRY[options["_name"]], wanted):
        what = "a transformer" if wanted is TransformerModel else arch
        raise BadInput(f"--arch {arch}: expected a checkpoint of {what}, found one of {options['_name']}")
    if wanted is not TransformerModel:
        return
    theirs = argparse.Namespace(**{name: value for name, value in options.items() if value is not None})
    base_architecture(theirs)  # sets what old checkpoints leave open
    check_computed(vars(theirs), model.args, arch, False)


def check_computed(saved: Mapping[str, Any], own: Any, arch: str, unsaid: Optional[bool] = None) -> None:
    """Refuse the parameters of a model that computes something else, which their shapes do not always show.
    What an option is that one of the two does not name is ``unsaid``; None: it is not compared."""
    for name in OPTIONS:
        found, expected = saved.get(name, unsaid), getattr(own, name, unsaid)
        if found != expected and None not in (found, expected):
            raise BadInput(f"{flag(name)}: the checkpoint has {found}, --arch {arch} has {expected}")


def _upgraded(model: Any, saved: Mapping[str, Tensor]) -> Dict[str, Tensor]:
    """Turn parameters into what fairseq stores today: once it had other names, and joined matrices."""
    # Without a module's version fairseq would change the model into one of an earlier version.
    versions = {name: value for name, value in model.state_dict().items() if name.endswith(".version")}
    upgraded = {**versions, **saved}
    try:
        model.upgrade_state_dict(upgraded)
    except Exception:  # fairseq checks no shapes here
        raise BadInput("its parameters are not those of a model of fairseq-train") from None
    return {name: value for name, value in upgraded.items() if name in saved or name not in versions}


def _named_as_in(own: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> Dict[str, Tensor]:
    """Give parameters the names that the model has for them; learned positions have two names."""
    names = {stock_name(name): name for name in own}
    return {names.get(stock_name(name), name): value for name, value in saved.items()}


def _check_names(model: Any, saved: Mapping[str, Tensor], options: Mapping[str, Any]) -> None:
    """Refuse a checkpoint if a parameter of the sentence-level model is missing, or one is left over."""
    recorded = getattr(model, "sentence_parameters", None)
    for name, _ in model.named_parameters():
        if name not in saved and (recorded is None or stock_name(name) in recorded):
            raise BadInput(f"expected a sentence-level model of this size, found one without {name}")
    if ARCH_MODEL_REGISTRY[options["_name"]] is TransformerModel:  # it has no parameters of a context
        own = model.state_dict()
        for name in saved:
            if name not in own and not name.endswith(_BUFFERS):
                raise BadInput(f"{name}: --arch {_arch(model)} has no such parameter")


def _side(name: str) -> str:
    """The side (source or target) for whose symbols a parameter has a row each; "": it has none."""
    return _SIDES.get(name.split(".")[0], "") if name.endswith(_EMBEDDINGS) else ""


def _new_symbols(
    saved: Mapping[str, Tensor], task_state: Mapping[str, Any], known: Mapping[str, KnownSymbols]
) -> Dict[str, Sequence[str]]:
    """Find the symbols of each side that the checkpoint lacks; refuse it if its own may be others."""
    digests = task_state.get("dictionaries")
    new: Dict[str, Sequence[str]] = {}
    for name, value in saved.items():
        if _side(name) in known and value.dim() == 2:
            digest = digests.get(_side(name)) if isinstance(digests, dict) else None
            symbols = known[_side(name)]
            more = symbols.beyond(len(value), digest, ours="context" in task_state)
            new[_side(name)] = symbols.symbols[len(symbols.symbols) - len(more) - _added(task_state, name) :]
    return new


def _added(task_state: Mapping[str, Any], name: str) -> int:
    """How many of the last symbols of a side ``ctxmt import`` has added: no model was trained with them."""
    added = task_state.get("added_symbols")
    count = added.get(_side(name)) if isinstance(added, dict) else None
    return count if count in (1, 2) else 0


def _value(name: str, saved: Tensor, own: Tensor, new: Mapping[str, Sequence[str]]) -> Tensor:
    """Take a parameter's value from the checkpoint, and the rows of new symbols from the model."""
    rows = len(own) - len(new.get(_side(name), ())) if own.dim() else 0
    if _side(name) and saved.shape == (rows, *own.shape[1:]):
        return torch.cat([saved.to(own), own[rows:]])
    if saved.shape != own.shape:
        shapes = f"expected the shape {tuple(own.shape)}, found {tuple(saved.shape)}"
        side = _SIDES.get(name.split(".")[0])
        learned = side and stock_name(name).endswith(".embed_positions.weight")
        raise BadInput(f"{name}: {shapes}{f' (--max-{side}-positions)' if learned else ''}")
    return saved


def _check_ties(model: Any, own: Mapping[str, Tensor], taken: Mapping[str, Tensor]) -> None:
    """Refuse a checkpoint if one matrix of the model is several ones in it."""
    names: Dict[int, List[str]] = {}
    for name in taken:
        if own[name].dim() == 2:
            names.setdefault(own[name].data_ptr(), []).append(name)
    for first, *others in names.values():
        for name in others:
            if not torch.equal(taken[name], taken[first]):
                options = " (--share-all-embeddings, --share-decoder-input-output-embed)" * bool(_side(name))
                shares = f"--arch {_arch(model)} shares one{options}"
                raise BadInput(f"{name}: the checkpoint has another matrix than {first}, {shares}")
