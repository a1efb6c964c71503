"""Corpora from corpora: a module for each command, with its options and what it does."""

TRANSFORMS = {
    "split": "corpora from one, such as training and test text, by documents",
    "sample": "sentences that are drawn from a corpus, with their context",
    "mix": "one corpus from several, in proportions",
}
FILTERS = {
    "deduplicate": "the first copy of every pair",
    "language": "pairs whose sides are in the right languages",
    "select": "whole documents with good scores",
}
