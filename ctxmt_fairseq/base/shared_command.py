"""Commands whose work several processes can share."""

import contextlib
import os
import sys
import tempfile
from contextlib import ExitStack
from typing import Any, List, Optional

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.command import Command, OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import STANDARD, Output, OutputFolder, SharedFolder
from ctxmt_fairseq.base.provenance import COMMAND_LINE


class SharedCommand(Command):
    """Every process does the whole command but for its heavy work, of which each does a share
    (``ranks.united``). Only the first one's outputs stay, and only it speaks."""

    processes: int = option("that share the work on this machine; or start them by torchrun", 1)

    def _start(self, end: ExitStack) -> Optional[int]:
        if (self.processes > 1 or ranks.started()) and STANDARD in self.inputs():
            raise BadInput("- is standard input, which only one process can read: give a file")
        if self.processes > 1 and not ranks.started():
            words = [sys.executable, "-m", "ctxmt_fairseq", *COMMAND_LINE.get()[1:]]
            return ranks.run_processes(words, self.processes)
        ranks.begin_sharing()
        if not ranks.number():
            return super()._start(end)
        null = end.enter_context(open(os.devnull, "w"))
        folder = end.enter_context(tempfile.TemporaryDirectory())
        files: List[str] = []
        end.callback(_remove, files)
        with contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
            return Command._start(_elsewhere(self, folder, files), end)


def _elsewhere(group: Any, folder: str, files: List[str]) -> Any:
    """A group of options with other outputs: files beside those that were asked for, because their journals
    must outlive this process, and folders below ``folder``, unless they are shared. What is no file, such as
    standard output, gets the first process' content alone."""
    from ctxmt_fairseq.base.files import destination

    values = {}
    for name, value in vars(group).items():
        if isinstance(value, OptionGroup):
            value = _elsewhere(value, folder, files)
        elif isinstance(value, SharedFolder):
            pass
        elif isinstance(value, OutputFolder):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            value = type(value)(os.path.join(folder, name, os.path.basename(value)))
        elif isinstance(value, Output) and destination(value).file is None:
            value = None
        elif isinstance(value, Output):
            value = type(value)(ranks.own_file(value))
            files += value.files()
        values[name] = value
    return type(group)(**values)


def _remove(files: List[str]) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            os.unlink(file)
