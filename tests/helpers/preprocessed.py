"""A corpus for ctxmt preprocess, in two languages, with a blank line and three documents."""

from pathlib import Path

from ctxmt_fairseq.corpora.preprocess import Corpus
from ctxmt_fairseq.corpora.vocabulary import Vocabulary

ENGLISH = ["the cat sees the dog", "it  runs", "the dog sleeps", "it runs home", "", "a cat sleeps"]
FRENCH = ["le chat voit le chien", "il court", "le chien dort", "il rentre", "vide", "un chat dort"]
IDS = ["a", "a", "b", "b", "b", "c"]
WORDS = Vocabulary(subwords=False)


def write(prefix, **columns):
    """Write PREFIX.NAME for every column of lines; returns the prefix."""
    for name, lines in columns.items():
        text = "".join(line + "\n" for line in lines)
        Path(f"{prefix}.{name.replace('__', '.')}").write_text(text, encoding="utf-8")
    return str(prefix)


def corpus(text, blank_lines=False, **splits):
    return Corpus("en", "fr", {"train": text, **splits}, blank_lines)
