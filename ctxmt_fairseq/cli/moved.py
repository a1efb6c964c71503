"""Where commands and options went that older versions had."""

from typing import Dict, Sequence

from ctxmt_fairseq.base.errors import BadInput

_SAMPLE = "is now the command ctxmt corpus sample"
_DASK = "is gone; --workers uses the cores of one machine"
# The words of a command, or of a command and one of its options -> what became of it.
MOVED: Dict[str, str] = {
    "analyse attention-sentences": "is now ctxmt analyse attention-words --by sentence",
    "analyse attention-words --top": "is gone; ten words are printed, and --json has all",
    "analyse lenpen": "is now ctxmt analyse results --across penalty",
    "analyse memory": "is now python -m scripts.benchmark.document_memory, in the checkout",
    "analyse runs": "is now ctxmt analyse results --against random",
    "analyse sweep": "is now ctxmt analyse results --across OPTION",
    "analyse windows": "is now ctxmt analyse results --across window --against trained",
    "benchmark": "is now python -m scripts.benchmark, in the checkout",
    "control plot": "is now ctxmt analyse results --across examples",
    "corpus corenlp": "is now python examples/gated_context/corenlp.py, in the checkout",
    "corpus europarl --dask": _DASK,
    "corpus moses --sample": _SAMPLE,
    "corpus opensubtitles --dask": _DASK,
    "corpus opensubtitles --sample": _SAMPLE,
    "corpus opus --dask": _DASK,
    "corpus opus --sample": _SAMPLE,
}


def check_not_moved(argv: Sequence[str]) -> None:
    """Raises BadInput: a command line has a command or an option that went elsewhere."""
    for old, became in MOVED.items():
        command, _, option = old.partition(" --")
        words = command.split()
        given = {word.partition("=")[0] for word in argv[len(words) :]}
        if list(argv[: len(words)]) == words and (not option or f"--{option}" in given):
            raise BadInput(f"ctxmt {old} {became}")
