"""The options of the recipes' scripts, and the commands that they show and run."""

import argparse
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, Callable, List, NoReturn, Optional, Sequence, Tuple

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput, as_bad_input
from ctxmt_fairseq.base.processes import run_logged


class BadRecipe(BadInput):
    """Something that a recipe does not know."""


def run_script(work: Callable[[List[str]], object], arguments: Sequence[str]) -> int:
    """Do the work of a script, and return its exit code: 0, or 2 for bad input, which is one line."""
    try:
        work(list(arguments))
    except Exception as error:
        bad_input = as_bad_input(error)
        if bad_input is None:
            raise
        print(f"error: {bad_input}", file=sys.stderr)
        return 2
    return 0


class OptionParser(argparse.ArgumentParser):
    """Every option can also come from the environment, --some-name as SOME_NAME; errors are one line."""

    def __init__(self, **kwargs: Any):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise BadRecipe(f"{message}; see --help")

    def add_option(
        self, name: str, default: str, help: str = "", shown: Optional[str] = None, **kwargs: Any
    ) -> None:
        """Add --NAME X; ``shown`` is what a default of auto means."""
        value = os.environ.get(name.replace("-", "_").upper()) or default
        text = f"{help} (default: {shown if shown and value == default else value})"
        kwargs.setdefault("metavar", "X")
        self.add_argument(f"--{name}", default=value, help=text.strip().replace("%", "%%"), **kwargs)

    def add_dry_run(self) -> None:
        """Add --dry-run."""
        asked = bool(os.environ.get("DRY_RUN"))
        self.add_argument("--dry-run", action="store_true", default=asked, help="print the commands only")


def whole(text: str) -> str:
    """The type of options that are a whole number, or auto."""
    if not re.fullmatch("[0-9]+|auto", text):
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return text


def one_of(*names: str) -> Callable[[str], str]:
    """The type of options that are one of these. (argparse does not look whether a default is a choice.)"""

    def checked(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"expected {' or '.join(names)}, found {text!r}")
        return text

    return checked


def split_extra(arguments: Sequence[str]) -> Tuple[List[str], List[str]]:
    """What comes before a lone --, and after it."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def find_plugin() -> Path:
    """The package's folder, fairseq's --user-dir."""
    return Path(ctxmt_fairseq.__file__).resolve().parent


def run(command: Sequence[Any], dry: bool, log: Optional[Path] = None) -> None:
    """Show a command and run it, with its output also in the file ``log``; a dry run prints it only."""
    words = [str(word) for word in command]
    if dry:
        print(shlex.join(words))
        return
    if shutil.which(words[0]) is None:
        raise BadRecipe(f"{words[0]} not found: activate the environment that has ctxmt_fairseq (README)")
    print("+ " + shlex.join(words), file=sys.stderr, flush=True)
    code = run_logged(words, log)
    if code:
        sys.exit(code)
