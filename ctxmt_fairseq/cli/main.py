"""The console script ``ctxmt``: finds the subcommand and ends cleanly on bad input."""

import argparse
import os
import sys
from typing import List, Optional

from ctxmt_fairseq.cli.commands import add_commands
from ctxmt_fairseq.cli.quiet import quiet_libraries
from ctxmt_fairseq.errors import exit_on_bad_input

COMMANDS = {
    "demo-corpus": "write a small English-French corpus whose phenomena need context",
    "preprocess": "text and document ids to a binarised data folder",
    "embed": "sentences and metadata to a store of context vectors",
    "translate": "translate documents",
    "contrast": "score a contrastive set",
    "score": "BLEU and chrF of a translation",
    "compare": "is one system better than another? significance tests",
    "average": "average the checkpoints nearest the best one",
    "analyse": "pictures of what a model does with a sentence and its context",
    "control": "control attributes such as formality by context, and measure it",
    "benchmark": "paired speed and memory ratios against stock fairseq",
    "user-dir": "print the path for fairseq's --user-dir",
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ctxmt", description="Context-aware machine translation with fairseq.")
    add_commands(top, "command", "ctxmt_fairseq.cli.", COMMANDS)
    return top


@exit_on_bad_input
def main(argv: Optional[List[str]] = None) -> int:
    """Run one subcommand; returns the exit code (2 for bad input, 1 where nobody reads the output on)."""
    quiet_libraries()
    args = parser().parse_args(argv)
    try:
        code = args.run(args) or 0
        sys.stdout.flush()
    except BrokenPipeError:  # as with "| head"; what is left must not fail again at the interpreter's end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
