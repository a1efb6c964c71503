"""Where commands and options went that older versions had."""

from typing import Dict, Sequence

from ctxmt_fairseq.errors import BadInput

# The words of a command, or of a command and one of its options -> what does it now.
MOVED: Dict[str, str] = {
    "corpus opensubtitles --sample": "ctxmt corpus sample, on the corpus that was written",
}


def check_not_moved(argv: Sequence[str]) -> None:
    """Raises BadInput: a command line has a command or an option that went elsewhere."""
    for old, new in MOVED.items():
        command, _, option = old.partition(" --")
        words = command.split()
        given = {word.partition("=")[0] for word in argv[len(words) :]}
        if list(argv[: len(words)]) == words and (not option or f"--{option}" in given):
            raise BadInput(f"ctxmt {old}: this is now {new}")
