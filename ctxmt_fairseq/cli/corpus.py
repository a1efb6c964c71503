"""Corpora as they are downloaded to text with document ids, which ctxmt preprocess reads.

Each kind writes PREFIX.SRC, PREFIX.TGT and PREFIX.docids, and PREFIX.counts.json, in which every unit of the
input is accounted for: kept, or left out for a reason. To a corpus in this form films adds
metadata; split, mix and filter make others of it, stats and check report on it.

Example: ctxmt corpus opensubtitles --alignment de-en.xml.gz --xml de.zip en.zip \\
             --source-lang en --target-lang de --out text/train
"""

from ctxmt_fairseq.cli.commands import add_commands

KINDS = {
    "opensubtitles": "subtitles from OPUS, documents without holes and pauses",
    "opus": "other corpora from OPUS (Europarl, News-Commentary, TED2020, Books, ...)",
    "moses": "OPUS' Moses format: aligned lines and the .ids file",
    "ted": "talks of IWSLT: training text and test sets",
    "europarl": "Europarl's text with its tags for chapters and speakers",
    "voita": "the corpora that Voita et al. released",
    "wmt": "test sets and news of WMT: SGM, XML, plain text with documents",
    "tmx": "TMX of web crawls (ParaCrawl), documents by the pages' addresses",
    "filter": "documents of a web crawl that are worth training on, step by step",
    "split": "corpora from one, such as training and test text, by documents",
    "mix": "one corpus from several, in proportions",
    "corenlp": "coreference and parts of speech from Stanford CoreNLP",
    "annotate": "part of speech, lemma, gender and number of a text's words",
    "align": "which words of a text and its translation translate each other",
    "stats": "documents, words, subwords and lengths of a corpus",
    "check": "is a corpus what it should be? files, encoding, ids, suspicious pairs",
    "films": "metadata of films for a corpus of subtitles, and how much of it has which context",
}


def add_arguments(parser) -> None:
    add_commands(parser, "kind", "ctxmt_fairseq.cli.corpus_", KINDS)
