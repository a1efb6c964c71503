"""The console script ``ctxmt``: finds the subcommand and ends cleanly on bad input."""

import argparse
import importlib
from typing import List, Optional

from ctxmt_fairseq.cli.quiet import quiet_libraries
from ctxmt_fairseq.errors import exit_on_bad_input

# Subcommand -> the line that `ctxmt --help` shows. The module is ctxmt_fairseq.cli.<name with _>;
# it defines add_arguments(parser) and run(args), and its docstring is the subcommand's help.
COMMANDS = {
    "demo-corpus": "write a small English-French corpus whose phenomena need context",
    "preprocess": "text and document ids to a binarised data folder",
    "translate": "translate documents",
    "contrast": "score a contrastive set",
    "score": "BLEU and chrF of a translation",
    "average": "average the checkpoints nearest the best one",
    "benchmark": "paired speed and memory ratios against stock fairseq",
    "user-dir": "print the path for fairseq's --user-dir",
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ctxmt", description="Context-aware machine translation with fairseq.")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        module = importlib.import_module(f"ctxmt_fairseq.cli.{name.replace('-', '_')}")
        sub = subparsers.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return top


@exit_on_bad_input
def main(argv: Optional[List[str]] = None) -> int:
    """Run one subcommand; returns the exit code (2 for bad input)."""
    quiet_libraries()
    args = parser().parse_args(argv)
    return args.run(args) or 0
