"""The console script ``ctxmt``: finds the subcommand and ends cleanly on bad input."""

import os
import sys
from typing import TYPE_CHECKING, List, Optional, Sequence, Type

from ctxmt_fairseq import __version__
from ctxmt_fairseq.base.exit_codes import BAD_INPUT, run_command
from ctxmt_fairseq.base.provenance import COMMAND_LINE, versions
from ctxmt_fairseq.cli.moved import check_not_moved
from ctxmt_fairseq.cli.parser import CommandParser, add_commands

if TYPE_CHECKING:
    from ctxmt_fairseq.base.command import Command

COMMANDS = {
    "cli.": {
        "demo-corpus": "write a small English-French corpus whose phenomena need context",
        "preprocess": "text and document ids to a binarised data folder",
        "embed": "sentences and metadata to a store of context vectors",
        "train": "train a system: fairseq-train with a system's and a size's options",
        "translate": "translate documents",
        "contrast": "score a contrastive set",
        "score": "BLEU, chrF and TER of a translation",
        "score-forms": "do translations contain the forms that their context calls for?",
        "compare": "is one system better than another? significance tests",
        "probe": "what a model makes of its context: other contexts, sizes, CXMI",
        "report": "one HTML page of what runs have found",
        "evaluate": "a trained model through translation, scores and contrastive sets, in one go",
        "corpus": "corpora as they are downloaded to text with document ids",
        "import": "take over a model that another program has trained",
        "export": "a trained model for other programs, or as a folder that runs alone",
        "card": "what a model is, reads and was made of",
        "average": "average the checkpoints nearest the best one",
        "analyse": "pictures of what models do with their context, and of systems side by side",
        "control": "control attributes such as formality by context, and measure it",
        "completion": "print what completes commands and options in bash",
        "user-dir": "print the path for fairseq's --user-dir",
    }
}


def parser() -> CommandParser:
    top = CommandParser(prog="ctxmt", description="Context-aware machine translation with fairseq.")
    top.add_argument("--version", action="store_true", help="print the versions of what is installed")
    add_commands(top, COMMANDS)
    return top


def main(argv: Optional[List[str]] = None) -> int:
    """Run one subcommand; returns the exit code (1 where nobody reads the output on, 130 for Ctrl-C), but for
    bad input, which exits with 2."""
    code = run_command(_run, sys.argv[1:] if argv is None else argv)
    if code == BAD_INPUT:
        raise SystemExit(code)
    return code


def _run(argv: List[str]) -> Optional[int]:
    COMMAND_LINE.set(["ctxmt", *argv])
    if not argv:
        parser().print_help()
        return 0
    if argv[:1] == ["completion"] and (line := os.environ.get("COMP_LINE")) is not None:
        from ctxmt_fairseq.cli.completion import completions

        print(*completions(parser(), line[: int(os.environ["COMP_POINT"])]), sep="\n")
        return 0
    if argv == ["--version"]:
        found = {**versions(), "ctxmt_fairseq": __version__}
        print(", ".join(f"{name} {number}" for name, number in found.items()))
        return 0
    check_not_moved(argv)
    _import_users_code(argv)
    return parser().command(argv).start()


def script(program: str, command: Type["Command"], arguments: Sequence[str]) -> int:
    """Run a command of a program of its own, outside of ``ctxmt``; returns the exit code."""
    COMMAND_LINE.set([*program.split(), *arguments])
    whole = CommandParser(prog=program, command=command)
    return run_command(lambda words: whole.command(words).start(), arguments)


def _import_users_code(argv: List[str]) -> None:
    """That of ``--user-dir``, before anything that it registers is asked for: an architecture, a command."""
    for place, word in enumerate(argv):
        option, equals, folder = word.partition("=")
        if option == "--user-dir" and (equals or argv[place + 1 :]):
            from ctxmt_fairseq.base.loggers import quiet_libraries
            from ctxmt_fairseq.generation.user_code import import_user_dir

            quiet_libraries()
            import_user_dir(folder if equals else argv[place + 1])
