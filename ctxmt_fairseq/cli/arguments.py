"""Commands and groups of options (``ctxmt_fairseq/base/command.py``) as arguments of a parser, and back."""

import argparse
from typing import Any, Dict, Literal, Tuple, Type, TypeVar, Union, get_args, get_origin

from ctxmt_fairseq.base.command import Field, OptionGroup
from ctxmt_fairseq.base.option_types import finite_float, positive_int

Options = TypeVar("Options", bound=OptionGroup)
_TYPES: Dict[Any, Any] = {str: None, int: positive_int, float: finite_float}  # where an option names no other
_METAVARS = {str: "NAME", int: "N", float: "X"}
_NARGS = {(False, True): "+", (True, True): "*", (True, False): "?", (False, False): None}


def _taken(field: Field) -> Tuple[bool, bool, Any, Tuple[str, ...]]:
    """What an option takes: may it be left out, are there several values, of what type or which words."""
    maybe = get_origin(field.annotation) is Union
    inner = get_args(field.annotation)[0] if maybe else field.annotation
    many = get_origin(inner) is list
    kind = get_args(inner)[0] if many else inner
    words = get_args(kind) if get_origin(kind) is Literal else ()
    optional = maybe or kind is bool or field.default is not None
    return optional, many, str if words else kind, words


def add_options(parser: Any, options: Type[OptionGroup], place: Any = None) -> None:
    """First what must be given, then a class's own options before those that it inherits; ``place`` is a
    group of the parser for options without a heading of their own."""
    place = parser.add_argument_group(options.heading) if options.heading else place or parser
    if options.exclusive:
        place = place.add_mutually_exclusive_group(required=options.required)

    def rank(name: str) -> int:
        field = options.all_fields[name]
        if field.group is None and not ("flag" in field.how and _taken(field)[0]):
            return 0  # arguments stay in their order
        return 1 if name in options.own_fields else 2

    for name in sorted(options.all_fields, key=rank):
        field = options.all_fields[name]
        if field.group is None:
            _add_option(place, name, field)
        else:
            add_options(parser, field.group, place)


def _add_option(parser: Any, name: str, field: Field) -> None:
    optional, many, kind, choices = _taken(field)
    default, how = field.default, {**field.how, "help": field.how["help"].replace("%", "%%")}
    if choices:
        how["choices"] = choices
    if kind is not bool:
        how.setdefault("type", _TYPES.get(kind, kind))
    if "flag" not in how:
        parser.add_argument(name, nargs=_NARGS[optional, many], **how)
        return
    flags = (how.pop("flag") or f"--{name.replace('_', '-')}").split()
    if kind is bool:
        parser.add_argument(*flags, dest=name, action="store_true", **how)
        return
    if default not in (None, [], "") and "default" not in how["help"]:
        shown = " ".join(map(str, default)) if many else default
        shown = f"(default: {shown:g})" if kind is float else f"(default: {shown})"
        how["help"] = f"{how['help']} {shown}".strip()
    if many and "action" not in how:
        how.setdefault("nargs", "+")
    if "choices" not in how:
        how.setdefault("metavar", getattr(kind, "metavar", None) or _METAVARS.get(kind))
    parser.add_argument(*flags, dest=name, required=not optional, **how)


def with_values(options: Type[Options], parsed: argparse.Namespace) -> Options:
    """Options with the values that were given; the others have their defaults."""
    values: Dict[str, Any] = {}
    for name, field in options.all_fields.items():
        value = with_values(field.group, parsed) if field.group else getattr(parsed, name)
        if value is not None:
            values[name] = value
    return options(**values)
