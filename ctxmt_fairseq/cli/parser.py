"""The parsers of command lines, and the tables in which commands are found."""

import argparse
import importlib
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NoReturn, Sequence, Type, Union

from ctxmt_fairseq.base.errors import BadInput

if TYPE_CHECKING:
    from ctxmt_fairseq.base.command import Command

# How the names of modules begin -> command -> its line in the list of commands. "cli.control." and few-shot
# are the module cli/control/few_shot.py, which has the class FewShot, or tables of its own, COMMANDS. A class
# in the place of a line is the command itself.
Tables = Mapping[str, Mapping[str, Union[str, Type["Command"]]]]


class CommandParser(argparse.ArgumentParser):
    """argparse's, but options are written in full, and a wrong command line is bad input as any other.
    Abbreviations would mean something else as soon as another option begins alike. The command is a class or,
    as it is imported when it is first asked for, its module: a command starts without what the others
    import."""

    def __init__(self, *args: Any, command: Union[str, Type["Command"], None] = None, **kwargs: Any):
        how = {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(*args, **{**kwargs, **how})
        self._command = command

    def commands(self) -> Mapping[str, "CommandParser"]:
        """Those that follow, by name; none after a command itself."""
        self._fill()
        return self._subparsers._group_actions[0].choices if self._subparsers else {}  # type: ignore

    def _fill(self) -> None:
        """Import the command, where it is not yet, and take its options or the commands that it has."""
        command, self._command = self._command, None
        if isinstance(command, str):
            module = importlib.import_module(command)
            if hasattr(module, "COMMANDS"):
                self.description = module.__doc__
                add_commands(self, module.COMMANDS)
                return
            command = getattr(module, command.rpartition(".")[2].title().replace("_", ""))
        if command is not None:
            from ctxmt_fairseq.cli.arguments import add_options

            self.description = command.help()
            add_options(self, command)
            self.set_defaults(command=command)

    def parse_known_args(self, *args: Any, **kwargs: Any) -> Any:
        self._fill()
        parsed, unknown = super().parse_known_args(*args, **kwargs)
        if getattr(parsed, "command", None) and parsed.command.passes_on and self._subparsers is None:
            parsed.others, unknown = unknown, []
        if unknown and self._subparsers is None:  # here, because the parser above would name its own help
            near = nearest(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{near and f'; {near}'}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            if near := nearest(str(value), map(str, action.choices or ())):
                error.message = f"{value!r}: {near}"  # instead of all choices, which may be many
            raise

    def command(self, argv: Sequence[str]) -> "Command":
        """The command that a command line asks for, with its options."""
        parsed = self.parse_args(argv)
        from ctxmt_fairseq.cli.arguments import with_values

        command = with_values(parsed.command, parsed)
        if command.passes_on:
            command.others = tuple(parsed.others)
        return command

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message} (see {self.prog} --help)")


def nearest(word: str, known: Iterable[str]) -> str:
    import difflib

    found = difflib.get_close_matches(word, known, 1)
    return f"did you mean {found[0]}?" if found else ""


def add_commands(parser: CommandParser, tables: Tables) -> None:
    """Give a parser the commands of tables."""
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for prefix, commands in tables.items():
        for name, line in commands.items():
            command: Any = f"ctxmt_fairseq.{prefix}{name.replace('-', '_')}"
            if not isinstance(line, str):
                command, line = line, line.help().partition("\n")[0].replace("%", "%%")
            subparsers.add_parser(name, help=line, command=command)
