"""The parsers of command lines, and subcommands from a table."""

import argparse
import importlib
from typing import Any, Dict, NoReturn

from ctxmt_fairseq.errors import BadInput


class CommandParser(argparse.ArgumentParser):
    """argparse's, but an option is written in full, and a wrong command line is bad input as any other.

    Abbreviations would mean something else as soon as another option begins alike.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def add_commands(parser: argparse.ArgumentParser, dest: str, prefix: str, commands: Dict[str, str]) -> None:
    """Give a parser subcommands.

    Args:
        dest: the option that holds the subcommand's name.
        prefix: what comes before a subcommand's name, with _ for -, in the name of its module. The module
            defines add_arguments(parser), and run(args) unless it adds subcommands of its own; its docstring
            is the subcommand's help.
        commands: name -> the line that the parser's own help shows.
    """
    subparsers = parser.add_subparsers(dest=dest, metavar=dest.upper(), required=True)
    for name, summary in commands.items():
        module = importlib.import_module(prefix + name.replace("-", "_"))
        sub = subparsers.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        if hasattr(module, "run"):
            sub.set_defaults(run=module.run)
