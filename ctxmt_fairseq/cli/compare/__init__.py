"""Does a difference between systems mean anything, and where is it? Paired significance tests, the first
system against each later one; p-values are corrected after Holm for the number of systems compared.

* stands for p < .05 and ** for p < .01, both after the correction.

Example: ctxmt compare contrast baseline.examples.jsonl context.examples.jsonl
"""

COMMANDS = {
    "cli.compare.": {
        "contrast": "accuracies on a contrastive set: McNemar's test",
        "lines": "the lines that systems translate differently, with their context",
        "pronouns": "sentences whose pronouns refer to the sentences before",
        "translations": "BLEU and chrF: paired bootstrap and approximate randomization",
    }
}
