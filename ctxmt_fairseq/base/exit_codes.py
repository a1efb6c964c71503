"""How commands end: bad input gives one line on stderr and exit code 2, Ctrl-C one line and 130.

Functions of the package raise ``BadInput``, whoever calls them. This module turns it into an exit code where
the program is a command, ``ctxmt`` or one of fairseq's.
"""

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput, as_bad_input
from ctxmt_fairseq.base.loggers import spell_out_control_characters

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def exit_code(error: BaseException) -> Optional[int]:
    """Print in one line what stopped a command, and return its exit code; for a defect nothing and None."""
    if isinstance(error, KeyboardInterrupt):
        print("ctxmt: interrupted", file=sys.stderr, flush=True)
        return INTERRUPTED
    bad_input = as_bad_input(error)
    if bad_input is None:
        return None
    print(f"ctxmt: error: {bad_input}", file=sys.stderr, flush=True)
    return BAD_INPUT


def run_command(work: Callable[[List[str]], Optional[int]], arguments: Sequence[str]) -> int:
    """Do the work of a command or a script, and return its exit code: what ``work`` returns (None: 0), 1 if
    nobody reads the rest of its output, otherwise that of ``exit_code``. A defect is raised."""
    try:
        check_arguments(arguments)
        code = work(list(arguments)) or 0
        sys.stdout.flush()
    except BrokenPipeError:  # as with "| head"; the rest must not fail again when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Exception, KeyboardInterrupt) as error:
        stopped = exit_code(error)
        if stopped is None:
            raise
        return stopped
    return code


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments that no shell can give, no file can hold, or whose value argparse would take away."""
    if list(arguments).count("--") > 1:
        raise BadInput("--: give it once; what follows are no options")
    for argument in arguments:
        if re.fullmatch("--[^=]+=--", argument):
            raise BadInput(f"{argument}: expected a value, found --")
        if "\0" in argument:
            raise BadInput(f"expected arguments without a NUL character, found {argument!r}")
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise BadInput(f"expected arguments in UTF-8, found {argument!r}") from None


def fairseq_command(program: str) -> Optional[str]:
    """The command that ``sys.argv[0]`` stands for: "train" for fairseq-train and for
    ``python -m fairseq_cli.train``; None for a program that is none of fairseq's."""
    path = Path(program)
    if path.parent.name == "fairseq_cli":
        return path.stem
    return path.stem[len("fairseq-") :] if path.stem.startswith("fairseq-") else None


def hook_command() -> None:
    """If the program is a command of fairseq's, let exceptions that nobody catches end it as ``exit_code``
    says.

    The interpreter's hook is the only place: fairseq's main function runs already when a task of ours is set
    up.
    """
    previous = sys.excepthook
    if fairseq_command(sys.argv[0] if sys.argv else "") is None or previous.__module__ == __name__:
        return
    spell_out_control_characters()
    if (fairseq_command(sys.argv[0]) or "").startswith("hydra"):
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # otherwise hydra prints a traceback itself

    def hook(kind: Any, error: BaseException, traceback: Any) -> None:
        # Where processes train together, torch's own hook calls this one and keeps what is printed.
        with contextlib.redirect_stderr(sys.__stderr__):
            code = None if isinstance(error, KeyboardInterrupt) else exit_code(error)
        if code is None:
            previous(kind, error, traceback)
        else:
            raise SystemExit(code)  # raised in a hook, it ends the interpreter with this code

    sys.excepthook = hook
