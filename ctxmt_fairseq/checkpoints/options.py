"""Finds the options that a registered class declares, and checks saved values against them.

Values are judged by their type alone: no parsing function of an option is ever called on what a file says,
because some of fairseq's pass it to ``eval``.
"""

import argparse
import dataclasses
import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, Iterable, Optional, Tuple

from fairseq import utils
from fairseq.dataclass import FairseqDataclass
from fairseq.dataclass.utils import interpret_dc_type
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer.transformer_config import DecoderConfig, EncDecBaseConfig, QuantNoiseConfig
from omegaconf import OmegaConf

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import flag

NUMBERS = re.compile(r"\s*(\[\s*)?\d{1,18}(\s*,\s*\d{1,18})*\s*(,\s*)?(\]\s*)?")
# Declared as text, but fairseq evaluates it (MultiheadAttention).
EVALUATED = re.compile(r"(.*_)?xformers_att_config")
# Text in a language model's options that fairseq evaluates, too: it may be numbers, in brackets.
NUMERIC = re.compile(r"character_filters|adaptive_(softmax|input)_cutoff")
BRACKETED = re.compile(r"[\d\s,()\[\]]{0,200}")
# Files that a training started from, or read. An evaluation opens none of them, only the data folder.
PATHS = re.compile(
    r"(.*_)?embed_path|sentence_checkpoint|context_store|text_encoder|attention_highlights|token_weights"
)

# The sections of a transformer's configuration.
NESTED = {"encoder": EncDecBaseConfig, "decoder": DecoderConfig, "quant_noise": QuantNoiseConfig}


class WrongValue(ValueError):
    """An option cannot have this value; ``str()`` says what was expected."""


@dataclass(frozen=True)
class Option:
    """Says which types and ``choices`` an option, one of ``several``, or a configuration may have."""

    kinds: Tuple[type, ...] = (str, int, float)
    several: bool = False
    choices: Optional[Iterable[Any]] = None
    options: Optional[Dict[str, "Option"]] = None

    def checked(self, name: str, value: Any) -> Any:
        """Check a value, and return it as fairseq shall get it."""
        if value is None or PATHS.fullmatch(name):
            return None
        if EVALUATED.fullmatch(name):
            raise WrongValue("nothing, because fairseq evaluates it")
        if self.options is not None:
            return checked_options(self.options, mapping(value, name))
        if self.several:
            return self._items(name, value)
        if NUMERIC.fullmatch(name) and not (isinstance(value, str) and BRACKETED.fullmatch(value)):
            raise WrongValue("numbers")
        if bool in self.kinds and isinstance(value, str) and value in ("True", "False"):
            return value == "True"  # as old versions of fairseq saved it
        self._check(value)
        return value

    def _items(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and NUMBERS.fullmatch(value) and str not in self.kinds:
            if name.endswith("layers_to_keep"):
                return value  # fairseq splits it at the commas
            value = [int(number) for number in re.findall(r"\d+", value)]
        if not isinstance(value, (list, tuple)):
            raise WrongValue("a list")
        for item in value:
            self._check(item)
        return value

    def _check(self, value: Any) -> None:
        # bool is an int. And "${...}" would be replaced by another option's value.
        fits = type(value) in self.kinds or (type(value) is int and {bool, float} & set(self.kinds))
        if not fits or (isinstance(value, str) and "${" in value):
            raise WrongValue(" or ".join(kind.__name__ for kind in self.kinds))
        if isinstance(value, float) and not math.isfinite(value):
            raise WrongValue("a finite number")
        if self.choices is not None and value not in list(self.choices):
            raise WrongValue(f"one of {', '.join(map(str, self.choices))}")


def mapping(section: Any, name: str) -> Dict[str, Any]:
    """Turn a saved configuration, which is a dictionary or a namespace, into a dictionary."""
    values = vars(section) if isinstance(section, argparse.Namespace) else section
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise WrongValue(f"{name}: expected a dictionary of options, found {shown(section)}")
    return values


def checked_options(options: Dict[str, Option], values: Dict[str, Any]) -> Dict[str, Any]:
    """Keep the values of ``options``, and of what is not declared plain numbers, which nothing can evaluate.
    A model's namespace has the whole command line, so most of it is not declared. What cannot be is a
    ``WrongValue``."""
    kept = {}
    for name, value in values.items():
        if name in options:
            try:
                kept[name] = options[name].checked(name, value)
            except WrongValue as expected:
                raise WrongValue(f"{flag(name)}: expected {expected}, found {shown(value)}") from None
        elif value is None or type(value) in (bool, int, float):
            kept[name] = value
    return kept


def check_declared(options: Dict[str, Option], values: Dict[str, Any]) -> None:
    """Refuse what a user's own configuration gives and a class does not declare, or with another type."""
    for name in sorted(values.keys() - options.keys() - {"_name", "arch"}):
        raise WrongValue(f"{flag(name)}: there is no such option of {values['_name']}")
    checked_options(options, values)


def as_flat(options: Dict[str, Any]) -> Dict[str, Any]:
    """Give a transformer's options the names that they have on the command line. A YAML file of
    fairseq-hydra-train may have ``encoder: {layers: 1}``. Then fairseq takes the encoder's other options from
    its defaults, whatever else it is told."""
    flat = dict(options)
    for section, kind in NESTED.items():
        if not isinstance(options.get(section), dict):
            continue
        given = mapping(flat.pop(section), section)
        known = {field.name: field.default for field in dataclasses.fields(kind) if field.name != "_name"}
        for name in given.keys() - known.keys() - {"_name"}:
            raise WrongValue(f"{section}: {name}: expected one of {', '.join(known)}")
        for name, default in known.items():
            flat.pop(f"{section}_{name}", None)
            if name in given or "${" not in str(default):  # else it is another option's value
                flat[f"{section}_{name}"] = given.get(name, default)
    return flat


def shown(value: Any) -> str:
    """Show a value in a message."""
    if not isinstance(value, (str, int, float)):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) < 60 else f"{text[:60]}..."


def arch_name(cfg: Any) -> str:
    """The name of a model to be built."""
    return getattr(cfg, "arch", None) or cfg._name


def as_command_line(cfg: Any, from_checkpoint: bool = False, task: Optional[str] = None) -> Any:
    """The options of a model as fairseq-train's command line gives them, with the name of the task; of the
    criterion's nobody knows here. fairseq-hydra-train and checkpoints give a configuration, in which those of
    a transformer can be nested. A YAML file's are checked here."""
    kind = ARCH_MODEL_REGISTRY.get(cfg.get("_name")) if OmegaConf.is_config(cfg) else None
    if kind is None or getattr(kind, "__dataclass", None) is not None:
        return cfg
    options: Any = OmegaConf.to_container(cfg, resolve=True)
    try:
        options = as_flat(options)
        if not from_checkpoint:
            check_declared(declared_options(kind), options)
    except WrongValue as error:
        raise BadInput(str(error)) from None
    return argparse.Namespace(**{"arch": cfg._name, "task": task, "criterion": None, **options})


def saved_options(saved: Any, defaults: Dict[str, Any]) -> Dict[str, Any]:
    """Check a checkpoint's context options, and return those that have defaults here."""
    if not isinstance(saved, dict):
        raise BadInput(f"the checkpoint's context options: expected a dictionary, found {shown(saved)}")
    for name in saved.keys() & defaults.keys():
        if type(saved[name]) is not type(defaults[name]):
            kind = type(defaults[name]).__name__
            raise BadInput(f"the checkpoint's {name}: expected {kind}, found {shown(saved[name])}")
    return {name: value for name, value in saved.items() if name in defaults}


def declared_options(kind: Any) -> Dict[str, Option]:
    """Find the options of a registered task, model or criterion, by their names in a configuration."""
    fields = getattr(kind, "__dataclass", None)
    if fields is not None:
        return _of_dataclass(fields)
    # Defaults are not read, because the architecture sets those of some classes.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    kind.add_args(parser)
    return {action.dest: _of_action(action) for action in parser._actions}


def _of_action(action: argparse.Action) -> Option:
    if action.nargs == 0:
        return Option((bool,) if action.const in (True, False) else (type(action.const),))
    several = action.nargs not in (None, "?")
    if action.type is None:
        return Option(several=several, choices=action.choices)
    if isinstance(action.type, type):
        return Option((action.type,), several, action.choices)
    if action.type is utils.eval_bool:
        return Option((bool,))
    if str(getattr(action.type, "__module__", "")).split(".")[0] == "fairseq":
        return Option((int, float), several=True)  # its functions read lists of numbers
    return Option(choices=action.choices, several=several)


def _of_dataclass(kind: Any) -> Dict[str, Option]:
    return {
        field.name: _of_type(interpret_dc_type(field.type))
        for field in dataclasses.fields(kind)
        if field.name != "_name"
    }


def _of_type(kind: Any) -> Option:
    if isinstance(kind, type) and issubclass(kind, FairseqDataclass):
        return Option(options=_of_dataclass(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Option((str,), choices=[choice.value for choice in kind])
    if kind in (bool, int, float, str):
        return Option((kind,))
    if any(word in str(kind) for word in ("List", "Tuple", "list", "tuple")):
        return Option(tuple(item for item in (int, float, str) if item.__name__ in str(kind)), several=True)
    return Option()
