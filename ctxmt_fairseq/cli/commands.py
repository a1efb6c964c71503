"""The parsers of command lines, and subcommands from a table."""

import argparse
import importlib
from typing import Any, Dict, NoReturn, Optional, Sequence

from ctxmt_fairseq.errors import BadInput


class Options(argparse.Namespace):
    """The options of a command, and beside them (not in ``vars``) the words that were typed."""

    __slots__ = ("command_line",)

    def __init__(self, command_line: Sequence[str]):
        super().__init__()
        self.command_line = list(command_line)


class CommandParser(argparse.ArgumentParser):
    """argparse's, but an option is written in full, and a wrong command line is bad input as any other.

    Abbreviations would mean something else as soon as another option begins alike.

    Args:
        module: the name of a module that gives the parser the rest when it is first used, and not before: so
            a command starts without what the others import. It defines add_arguments(parser), and run(args)
            unless it adds subcommands of its own; its docstring is the parser's help.
    """

    def __init__(self, *args: Any, module: Optional[str] = None, **kwargs: Any):
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})
        self._module = module

    def parse_known_args(self, *args: Any, **kwargs: Any) -> Any:
        name, self._module = self._module, None
        if name is not None:
            module = importlib.import_module(name)
            self.description = module.__doc__
            module.add_arguments(self)
            if hasattr(module, "run"):
                self.set_defaults(run=module.run)
        parsed, unknown = super().parse_known_args(*args, **kwargs)
        if unknown and self._subparsers is None:  # here, for the parser above would name its own help
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def add_commands(parser: CommandParser, dest: str, tables: Dict[str, Dict[str, str]]) -> None:
    """Give a parser subcommands.

    Args:
        dest: the option that holds the subcommand's name.
        tables: what comes before a subcommand's name, with _ for -, in the name of its module (see
            ``CommandParser``) -> subcommand -> the line that the parser's own help shows.
    """
    subparsers = parser.add_subparsers(dest=dest, metavar=dest.upper(), required=True)
    for prefix, commands in tables.items():
        for name, summary in commands.items():
            subparsers.add_parser(
                name,
                help=summary,
                module=f"ctxmt_fairseq.{prefix}{name.replace('-', '_')}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
