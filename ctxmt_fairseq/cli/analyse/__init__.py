"""Pictures of what models do with their context, and of systems side by side, with the numbers beside them.

Example: ctxmt analyse attention checkpoint_best.pt --context "I saw a heart." --sentence "It was beating."
"""

COMMANDS = {
    "cli.analyse.": {
        "groups": "which latent group a sentence's tokens are assigned to",
        "group-use": "how latent groups are used over a text",
        "attention": "how a sentence's tokens attend to its context",
        "antecedents": "does attention find what a pronoun refers to?",
        "attention-words": "which words look at the context in a whole text, and at which of its sentences",
        "attention-share": "how much attention stays in the current sentence of a window",
        "curves": "trainings side by side, from their logs",
        "results": "systems side by side, with mean and deviation over runs (seeds)",
        "consistency": "are terms that recur in a document translated alike?",
        "lengths": "scores by the length of the source sentence",
        "contexts": "maps of contexts before and after the context encoder",
    }
}
