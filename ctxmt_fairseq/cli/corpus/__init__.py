"""Corpora as they are downloaded to text with document ids, which ctxmt preprocess reads.

Each kind writes PREFIX.SRC, PREFIX.TGT and PREFIX.docids, and PREFIX.counts.json, in which every unit of the
input is accounted for: kept, or left out for a reason. To a corpus in this form films adds
metadata; split, sample, mix and filter make others of it, stats and check report on it.

Example: ctxmt corpus opensubtitles --alignment de-en.xml.gz --xml de.zip en.zip \\
             --source-lang en --target-lang de --out text/train
"""

from ctxmt_fairseq.corpora.formats import FORMATS

COMMANDS = {
    "corpora.formats.": FORMATS,
    "corpora.transforms.": {
        "split": "corpora from one, such as training and test text, by documents",
        "sample": "sentences that are drawn from a corpus, with their context",
        "mix": "one corpus from several, in proportions",
    },
    "cli.corpus.": {
        "filter": "documents of a web crawl that are worth training on, step by step",
        "annotate": "part of speech, lemma, gender and number of a text's words",
        "align": "which words of a text and its translation translate each other",
        "tag": "words of a translation that context decides, and test sets of them",
        "stats": "documents, words, subwords and lengths of a corpus",
        "check": "is a corpus what it should be? files, encoding, ids, suspicious pairs",
        "films": "metadata of films for a corpus of subtitles, and how much of it has which context",
    },
}
