"""All commands of ``ctxmt``."""

import importlib

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
