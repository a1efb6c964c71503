"""Pictures of what a model does with a sentence and its context, with the numbers beside them.

Example: ctxmt analyse attention checkpoint_best.pt --context "I saw a heart." --sentence "It was beating."
"""

from ctxmt_fairseq.cli.commands import add_commands

ANALYSES = {
    "groups": "which latent group a sentence's tokens are assigned to",
    "attention": "how a sentence's tokens attend to its context",
    "attention-share": "how much attention stays in the current sentence of a window",
    "lengths": "scores by the length of the source sentence",
    "contexts": "maps of contexts before and after the context encoder",
}


def add_arguments(parser) -> None:
    add_commands(parser, "analysis", "ctxmt_fairseq.cli.analyse_", ANALYSES)
