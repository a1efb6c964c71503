"""What a checkpoint may say.

fairseq builds whatever task, model and criterion a checkpoint names, with the options that it gives them, and
some of fairseq's own classes pass their options to ``eval``, or open the files that they name. Therefore a
checkpoint is reduced before anything is built: to classes that this list allows, with options of the declared
types. All else in its configuration (optimizer, tokenizer, folders of Python code, ...) is left out.
"""

import argparse
import dataclasses
from typing import Any, Dict, FrozenSet, Iterable, Mapping, NamedTuple, Optional

import torch
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.dataclass.configs import CommonConfig, DatasetConfig, OptimizationConfig
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel
from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.options import (
    WrongValue,
    as_flat,
    checked_options,
    declared_options,
    mapping,
    shown,
)
from ctxmt_fairseq.data.context_options import flag

# The fairseq modules whose classes a checkpoint may name, and other classes may derive from. None of them
# evaluates or opens anything that ``checkpoints.options`` lets through.
ALLOWED: FrozenSet[str] = frozenset(
    f"fairseq.{module}"
    for module in (
        "tasks.fairseq_task",
        "tasks.translation",
        "models.fairseq_model",
        "models.bart.model",
        "models.lightconv",
        "models.lstm",
        "models.transformer.transformer_base",
        "models.transformer.transformer_legacy",
        "models.transformer_align",
        "criterions.fairseq_criterion",
        "criterions.adaptive_loss",
        "criterions.cross_entropy",
        "criterions.label_smoothed_cross_entropy",
        "criterions.label_smoothed_cross_entropy_with_alignment",
        "criterions.label_smoothed_cross_entropy_with_rdrop",
    )
)

# Those that pass options to ``eval``: a checkpoint may name them if the user trusts whoever made it.
EVALUATING: FrozenSet[str] = frozenset(("fairseq.models.fconv", "fairseq.models.fconv_self_att"))
TRUSTED = ALLOWED | EVALUATING


class Section(NamedTuple):
    """A part of the configuration that names a class by an option of the command line."""

    option: str
    registered: Mapping[str, Any]
    default: Optional[str] = None


SECTIONS: Dict[str, Section] = {
    "task": Section("task", TASK_REGISTRY, "translation"),
    "model": Section("arch", ARCH_MODEL_REGISTRY),
    "criterion": Section("criterion", CRITERION_REGISTRY, "cross_entropy"),
}
# The options of those three may refer to these.
SHARED: Dict[str, Any] = {
    "common": CommonConfig,
    "dataset": DatasetConfig,
    "optimization": OptimizationConfig,
}
# Of parameters; torch cannot compute with its types of 8 bits.
_TYPES = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool} | {
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
}
# fairseq computes with none of these and saves whatever memory they got: one is asked for its type alone, the
# other is the bias that no convolution of lightconv has.
_UNSET = ("_float_tensor", ".conv_bias")
# fairseq saves these besides the parameters and the configuration.
KINDS = {
    "optimizer_history": list,
    "extra_state": dict,
    "task_state": dict,
    "last_optimizer_state": dict,
    "criterion": dict,
}


_MOST_LAYERS = 100  # of a model whose parameters are not there to be counted


def check_trainable(arch: str) -> None:
    """Refuse an architecture of fairseq's own that no task of ours can train: those of speech, language
    models, encoders alone, what does not write from left to right. A folder's own code is up to its
    author."""
    module = getattr(ARCH_MODEL_REGISTRY.get(arch), "__module__", "")
    if module.startswith("fairseq.") and module not in TRUSTED:
        known = sorted(name for name, kind in MODEL_REGISTRY.items() if kind.__module__ in TRUSTED)
        raise BadInput(
            f"--arch {arch}: does not translate a window of sentences; of fairseq's own models these do: "
            f"{', '.join(known)}, with all their sizes"
        )


def modules_of(*kinds: type) -> FrozenSet[str]:
    """The fairseq modules that classes, or what they derive from, come from."""
    modules = {base.__module__ for kind in kinds for base in kind.__mro__}
    return frozenset(module for module in modules if module.split(".")[0] in ("fairseq", "fairseq_cli"))


def check_parameters(parameters: Any, path: object) -> None:
    """Refuse what are no parameters of a model: a dictionary of tensors with finite numbers, none of which
    says that it is larger than what is stored of it."""
    if not isinstance(parameters, dict) or not parameters:
        raise BadInput("is no checkpoint of fairseq-train: it has no parameters of a model", path)
    for name, tensor in parameters.items():
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout == torch.strided
        plain = plain and tensor.device.type == "cpu" and tensor.dtype in _TYPES
        if not isinstance(name, str) or not plain:
            raise BadInput(f"{name}: expected a parameter of a model", path)
        if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.itemsize:
            raise BadInput(f"{name}: fewer numbers than the parameter's shape says", path)
        if name.endswith(_UNSET):
            continue
        if tensor.is_floating_point() and tensor.numel():
            least, most = tensor.aminmax()
            if not (torch.isfinite(least) and torch.isfinite(most)):
                raise BadInput(f"{name}: expected finite numbers, found NaN or infinity", path)


def _check_kinds(state: Dict[str, Any]) -> None:
    for name, kind in KINDS.items():
        if not isinstance(state.get(name), (kind, type(None))):
            raise WrongValue(f"{name}: expected a {kind.__name__}, found {shown(state[name])}")
    history = state.get("optimizer_history")
    if history is not None and not (history and isinstance(history[-1], dict)):
        raise WrongValue("optimizer_history: expected a list of dictionaries")
    counts = {"num_updates": history[-1].get("num_updates", 0) if history else 0}
    extra = state.get("extra_state") or {}
    place = mapping(extra.get("train_iterator") or {}, "train_iterator")
    counts.update({name: place.get(name, 0) for name in ("epoch", "iterations_in_epoch")})
    counts.update({name: extra.get(name, 0) for name in ("patience_runs", "bad_epochs")})
    if not isinstance(extra.get("patience_best"), (float, type(None))):
        raise WrongValue(f"patience_best: expected a number, found {shown(extra['patience_best'])}")
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise WrongValue(f"{name}: expected a number from 0, found {shown(count)}")
    groups = (state.get("last_optimizer_state") or {}).get("param_groups", [])
    for group in groups if isinstance(groups, list) else [groups]:
        for name, value in mapping(group, "param_groups").items():
            if not isinstance(value, (int, float, list, tuple, type(None))):
                raise WrongValue(f"{name} of the optimizer: expected numbers, found {shown(value)}")


def reduced(
    state: Any,
    path: object,
    allowed: FrozenSet[str] = ALLOWED,
    sections: Iterable[str] = tuple(SECTIONS),
    parameters: bool = True,
) -> Dict[str, Any]:
    """Refuse a checkpoint (``state``, safely loaded) that names what may not be built, and reduce its
    configuration to what may.

    Args:
        allowed: the fairseq modules whose classes may be named. Classes of other packages are this plugin's
            or those of the user's own ``--user-dir``, because nothing that a checkpoint says is imported.
        sections: those of ``SECTIONS`` that the caller builds, or compares with what it has built; the others
            are left out.
        parameters: whether it has any; another program's file may have them.
    """
    if not isinstance(state, dict):
        raise BadInput(f"is no checkpoint of fairseq-train but a {type(state).__name__}", path)
    if parameters:
        check_parameters(state.get("model"), path)
    try:
        _check_kinds(state)
        old = state.get("args")
        cfg = mapping(state.get("cfg"), "cfg") if old is None else _sections(mapping(old, "args"))
        kept: Dict[str, Any] = {name: _reduced_section(name, cfg.get(name), allowed) for name in sections}
        if isinstance(kept.get("model"), argparse.Namespace):
            _name_others(kept["model"], cfg)
        if "model" in kept:
            most = len(state["model"]) if parameters else _MOST_LAYERS
            _check_depth(mapping(kept["model"], "model"), most)
        for name, shared in SHARED.items():
            kept[name] = dataclasses.asdict(shared())
            for option, value in mapping(cfg.get(name) or {}, name).items():
                if option in kept[name] and type(value) in (bool, int, float):
                    kept[name][option] = value
    except WrongValue as error:
        raise BadInput(str(error), path) from None
    return {**state, "args": None, "cfg": kept}


def _check_depth(options: Dict[str, Any], parameters: int) -> None:
    """Refuse a model with more layers than its checkpoint has parameters before it is built."""
    for name, value in options.items():
        if name.endswith(("layers", "depth")) and type(value) is int and value > parameters:
            raise WrongValue(f"{flag(name)} {value}: there are not so many layers in the checkpoint")


def _sections(args: Dict[str, Any]) -> Dict[str, Any]:
    """Make the configuration of an old checkpoint, which has the parsed command line instead."""
    args = {name: value for name, value in args.items() if name != "_name"}  # it has all classes' options
    if isinstance(args.get("data"), list):
        args["data"] = args["data"][0] if args["data"] else None
    for side in ("source", "target"):
        args.setdefault(f"max_{side}_positions", args.get("max_positions", 1024))
    cfg: Dict[str, Any] = {name: argparse.Namespace(**args) for name in SECTIONS}
    return {**cfg, **dict.fromkeys(SHARED, args)}


def _reduced_section(name: str, section: Any, allowed: FrozenSet[str]) -> Any:
    values = mapping(section, name)
    option, registered, default = SECTIONS[name]
    chosen = values.get("_name") or values.get(option, default)
    if not isinstance(chosen, str) or chosen not in registered:
        raise WrongValue(
            f"--{option} {shown(chosen)}: expected a registered {name}; if it is yours, give its --user-dir"
        )
    kind = registered[chosen]
    foreign = sorted(modules_of(kind) - allowed)
    if foreign and EVALUATING.issuperset(foreign):
        raise WrongValue(
            f"--{option} {chosen}: fairseq runs what a checkpoint of {foreign[0]} says as Python code; if "
            "you trust whoever made it: --trust-checkpoint (Translator.load: trust_checkpoint=True)"
        )
    if foreign:
        raise WrongValue(
            f"--{option} {chosen}: expected a {name} of this plugin or of the --user-dir, or one of "
            f"fairseq's that a checkpoint may name, not one of {foreign[0]}"
        )
    if issubclass(kind, TransformerModel):
        values = as_flat(values)
    options = {**checked_options(declared_options(kind), values), "_name": chosen}
    if isinstance(section, dict):
        return options
    if getattr(kind, "__dataclass", None) is None:
        return argparse.Namespace(**{**options, option: chosen})
    return {name: options[name] for name in ("_name", *declared_options(kind)) if name in options}


def _name_others(model: argparse.Namespace, cfg: Dict[str, Any]) -> None:
    """Tell a model the names of its task and criterion: fairseq's LSTM and BART compare them with some."""
    for name in ("task", "criterion"):
        option, registered, _ = SECTIONS[name]
        values = mapping(cfg.get(name) or {}, name)
        chosen = values.get("_name") or values.get(option)
        setattr(model, name, chosen if isinstance(chosen, str) and chosen in registered else None)
