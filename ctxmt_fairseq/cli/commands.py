"""What commands need that are no classes yet."""

import argparse
from typing import Any, Sequence

from ctxmt_fairseq.cli.inputs import inputs
from ctxmt_fairseq.files import keeping


class Options(argparse.Namespace):
    """The options of a command, and beside them (not in ``vars``) the words that were typed."""

    __slots__ = ("command_line",)

    def __init__(self, command_line: Sequence[str]):
        super().__init__()
        self.command_line = list(command_line)


class Plain:
    """A command that is a module with a function ``run``."""

    def __init__(self, args: Any):
        self.args = args

    def start(self) -> Any:
        with keeping(inputs(self.args)):
            return self.args.run(self.args)
