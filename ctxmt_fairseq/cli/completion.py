"""Prints what bash needs to complete commands, options and their words.

Add this line to ~/.bashrc (in zsh, after ``autoload bashcompinit && bashcompinit``):
  eval "$(ctxmt completion)"

Example: ctxmt completion >> ~/.bashrc
"""

import argparse
from typing import Iterable

from ctxmt_fairseq.base.command import Command
from ctxmt_fairseq.cli.parser import CommandParser


class Completion(Command):
    def run(self) -> None:
        print("complete -o bashdefault -o default -C 'ctxmt completion' ctxmt")


def completions(parser: CommandParser, line: str) -> Iterable[str]:
    """The words that may follow a line: commands, options, and the words that an option has. bash calls
    ``ctxmt completion`` with the line and the cursor's place in its environment (``main.py``)."""
    *words, begun = line.split(" ")[1:]
    for word in words:
        commands = parser.commands()
        parser = commands[word] if word in commands else parser
    known = parser._option_string_actions
    before = known.get(words[-1]) if words else None
    choices: Iterable[str] = parser.commands() or known
    if before is not None and before.nargs != 0 and not isinstance(before, argparse._HelpAction):
        choices = before.choices or ()
    return sorted(word for word in choices if word.startswith(begun) and (word[0] != "-" or begun[:1] == "-"))
