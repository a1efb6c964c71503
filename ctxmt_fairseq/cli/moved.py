"""Where commands and options went that older versions had."""

from typing import Dict, Sequence

from ctxmt_fairseq.base.errors import BadInput

_SAMPLED = {
    "sample": "is now the command ctxmt corpus sample",
    "sample-context": "is now the option --context of ctxmt corpus sample",
    "sample-context-after": "is now the option --context-after of ctxmt corpus sample",
}
_SAMPLING = ("corpus moses", "corpus opensubtitles", "corpus opus")
_PROMPT = "is now a line of the file of --prompts: formal or informal, a tab and the text"
_SUBWORDS = "is gone; both models read the subwords of --subwords"
_DASK = "is gone; --workers uses the cores of one machine"
# The words of a command, or of a command and one of its options -> what became of it.
MOVED: Dict[str, str] = {
    "analyse attention-sentences": "is now ctxmt analyse attention-words --by sentence",
    "analyse attention-words --top": "is gone; ten words are printed, and --json has all",
    "analyse attention-share --shuffles": "is now --samples",
    "analyse consistency --show": "is gone; ten terms are printed, and --terms has all",
    "analyse curves --best-by": "is gone; the best checkpoint is the one that the training chose",
    "analyse group-use --least": "is gone; any weight above 0 counts as use",
    "analyse lenpen": "is now ctxmt analyse results --across penalty",
    "analyse memory": "is now python -m scripts.benchmark.document_memory, in the checkout",
    "analyse runs": "is now ctxmt analyse results --against random",
    "analyse sweep": "is now ctxmt analyse results --across OPTION",
    "analyse windows": "is now ctxmt analyse results --across window --against trained",
    "benchmark": "is now python -m scripts.benchmark, in the checkout",
    "control formality --formal-prompt": _PROMPT,
    "control formality --informal-prompt": _PROMPT,
    "control plot": "is now ctxmt analyse results --across examples",
    "corpus align --iterations": "is gone; there are five, as fast_align has",
    "corpus align --symmetrization": "is gone; it is grow-diag-final-and",
    "corpus check --max-ratio": "is gone; a side over nine times as long as the other is remarked on",
    "corpus corenlp": "is now python examples/gated_context/corenlp.py, in the checkout",
    "corpus filter domain --general-subwords": _SUBWORDS,
    "corpus filter domain --in-domain-subwords": _SUBWORDS,
    **{f"corpus {kind} --dask": _DASK for kind in ("europarl", "opensubtitles", "opus")},
    **{f"{kind} --{option}": became for kind in _SAMPLING for option, became in _SAMPLED.items()},
    "embed --pooling": "is gone; --encoder cls:NAME or mean:NAME says it",
    "preprocess --joined-dictionary": "is now --joint, which is the default",
}


def check_not_moved(argv: Sequence[str]) -> None:
    """Raises BadInput: a command line has a command or an option that went elsewhere."""
    for old, became in MOVED.items():
        command, _, option = old.partition(" --")
        words = command.split()
        given = {word.partition("=")[0] for word in argv[len(words) :]}
        if list(argv[: len(words)]) == words and (not option or f"--{option}" in given):
            raise BadInput(f"ctxmt {old} {became}")
