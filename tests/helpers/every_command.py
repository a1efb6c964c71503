"""All commands of ``ctxmt``."""

import importlib
from typing import get_args

from ctxmt_fairseq.cli import main


def commands(tables=main.COMMANDS, words=()):
    """The words of each command, and its class."""
    for prefix, table in tables.items():
        for name in table:
            module = importlib.import_module(f"ctxmt_fairseq.{prefix}{name.replace('-', '_')}")
            if hasattr(module, "COMMANDS"):
                yield from commands(module.COMMANDS, (*words, name))
            else:
                yield (*words, name), getattr(module, name.title().replace("-", ""))


def options(group):
    """The name and the field of each option of a command, those of its groups among them."""
    for name, field in group.all_fields.items():
        yield from options(field.group) if field.group else [(name, field)]


def is_made_of(field, kind):
    """Whether the values of an option, or of a list of them, are of a type."""

    def types(annotation):
        inner = get_args(annotation)
        return [each for part in inner for each in types(part)] if inner else [annotation]

    return any(isinstance(each, type) and issubclass(each, kind) for each in types(field.annotation))


def flags(name, field):
    """The words that give an option; none are an argument's."""
    return (field.how["flag"] or f"--{name.replace('_', '-')}").split() if "flag" in field.how else []
