"""The parsers of command lines, and the tables in which commands are found."""

import argparse
import importlib
import re
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Sequence, Type, Union

from ctxmt_fairseq.errors import BadInput

if TYPE_CHECKING:
    from ctxmt_fairseq.command import Command

# How the names of modules begin -> command -> its line in the list of commands. "cli.control." and few-shot
# are the module cli/control/few_shot.py, which has the class FewShot, or tables of its own, COMMANDS. A class
# in the place of a line is the command itself.
Tables = Mapping[str, Mapping[str, Union[str, Type["Command"]]]]


class CommandParser(argparse.ArgumentParser):
    """argparse's, but options are written in full, and a wrong command line is bad input as any other.

    Abbreviations would mean something else as soon as another option begins alike.

    Args:
        command: its class or, as it is imported when it is first asked for, its module: a command starts
            without what the others import.
    """

    def __init__(self, *args: Any, command: Union[str, Type["Command"], None] = None, **kwargs: Any):
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})
        self._command = command

    def parse_known_args(self, *args: Any, **kwargs: Any) -> Any:
        command, self._command = self._command, None
        if command is not None:
            self._add(command)
        parsed, unknown = super().parse_known_args(*args, **kwargs)
        if unknown and self._subparsers is None:  # here, because the parser above would name its own help
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def _add(self, command: Union[str, Type["Command"]]) -> None:
        from ctxmt_fairseq.cli import arguments

        if not isinstance(command, str):
            self.description = command.help()
            arguments.add_options(self, command)
            self.set_defaults(command=command)
            return
        module = importlib.import_module(command)
        if hasattr(module, "COMMANDS"):
            self.description = module.__doc__
            add_commands(self, module.COMMANDS)
        elif hasattr(module, "add_arguments"):  # TODO: goes with the last command that is no class
            self.description = module.__doc__
            module.add_arguments(self)
            self.set_defaults(**({"run": module.run} if hasattr(module, "run") else {}))
        else:
            self._add(getattr(module, command.rpartition(".")[2].title().replace("_", "")))

    def command(self, argv: Sequence[str]) -> Any:
        """The command that a command line asks for, with its options.

        Raises:
            BadInput: the command line is wrong.
        """
        for word in argv:
            if re.fullmatch("--[^=]+=--", word):  # argparse would take the value away
                self.error(f"{word}: expected a value, found --")
        from ctxmt_fairseq.cli.commands import Options, Plain

        parsed = self.parse_args(argv, Options(argv))
        if hasattr(parsed, "run"):
            return Plain(parsed)
        from ctxmt_fairseq.cli import arguments

        return arguments.with_values(parsed.command, parsed)

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def add_commands(parser: CommandParser, tables: Tables) -> None:
    """Give a parser the commands of tables."""
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for prefix, commands in tables.items():
        for name, line in commands.items():
            if isinstance(line, str):
                command: Union[str, Type[Command]] = f"ctxmt_fairseq.{prefix}{name.replace('-', '_')}"
            else:
                command, line = line, line.help().partition("\n")[0].replace("%", "%%")
            how: Any = {"command": command, "formatter_class": argparse.RawDescriptionHelpFormatter}
            subparsers.add_parser(name, help=line, **how)
