"""Commands and groups of options (``ctxmt_fairseq/command.py``) as arguments of a parser, and back."""

import argparse
import dataclasses
from typing import (
    Any,
    Dict,
    Literal,
    NamedTuple,
    Tuple,
    Type,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from ctxmt_fairseq.command import OptionGroup
from ctxmt_fairseq.option_types import finite_float, positive_int

Options = TypeVar("Options", bound=OptionGroup)
_TYPES: Dict[Any, Any] = {str: None, int: positive_int, float: finite_float}  # where an option names no other
_METAVARS = {str: "NAME", int: "N", float: "X"}
_NARGS = {(False, True): "+", (True, True): "*", (True, False): "?", (False, False): None}


class _Taken(NamedTuple):
    """What an annotation says: may the value be missing, are there several, of what type or which words."""

    optional: bool
    many: bool
    kind: Any
    choices: Tuple[str, ...]


def _taken(annotation: Any) -> _Taken:
    optional = get_origin(annotation) is Union
    inner = get_args(annotation)[0] if optional else annotation
    many = get_origin(inner) is list
    kind = get_args(inner)[0] if many else inner
    words = get_args(kind) if get_origin(kind) is Literal else ()
    return _Taken(optional, many, str if words else kind, words)


def add_options(parser: Any, options: Type[OptionGroup]) -> None:
    """Arguments come first; then options, a class's own before those that it inherits."""
    if options.heading:
        parser = parser.add_argument_group(options.heading)
    if options.exclusive:
        parser = parser.add_mutually_exclusive_group(required=options.required)
    found: Any = dataclasses.fields(options)  # type: ignore[arg-type]
    own = vars(options).get("__annotations__", {})
    for each in sorted(found, key=lambda each: _by_name(each) and 1 + (each.name not in own)):
        if "group" in each.metadata:
            add_options(parser, each.metadata["group"])
        else:
            _add_option(parser, each, _taken(each.type))


def _by_name(each: Any) -> bool:
    return "flag" in each.metadata or "group" in each.metadata


def _add_option(parser: Any, each: Any, taken: _Taken) -> None:
    how = dict(each.metadata)
    default, how["help"] = how.pop("default"), how["help"].replace("%", "%%")
    optional = taken.optional or default is not None
    if taken.kind is not bool:
        how.setdefault("type", _TYPES.get(taken.kind, taken.kind))
    if taken.choices:
        how["choices"] = taken.choices
    if not _by_name(each):
        parser.add_argument(each.name, nargs=_NARGS[optional, taken.many], **how)
        return
    flags = (how.pop("flag") or f"--{each.name.replace('_', '-')}").split()
    if taken.kind is bool:
        how["action"] = "store_true"
    else:
        how["required"] = not optional
        if default not in (None, [], "") and "default" not in how["help"]:
            shown = " ".join(map(str, default)) if taken.many else default
            how["help"] = f"{how['help']} (default: {shown})".strip()
        if taken.many and "action" not in how:
            how.setdefault("nargs", "+")
        if "choices" not in how:
            how.setdefault("metavar", getattr(taken.kind, "metavar", None) or _METAVARS.get(taken.kind))
    parser.add_argument(*flags, dest=each.name, **how)


def with_values(options: Type[Options], parsed: argparse.Namespace) -> Options:
    """Options with the values that were given; the others have their defaults."""
    values: Dict[str, Any] = {}
    for each in dataclasses.fields(options):  # type: ignore[arg-type]
        kind = each.metadata.get("group")
        value = with_values(kind, parsed) if kind else getattr(parsed, each.name)
        if value is not None:
            values[each.name] = value
    return options(**values)
