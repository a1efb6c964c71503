"""Documents of a web crawl that are worth training on, as the thesis selects them (its section 3.4).

Each step is a command, which can be left out and is run again where it was stopped: deduplicate and language
write a smaller corpus of what is worth scoring; adequacy and domain write the scores of its pairs; select
gives the scores back to the whole crawl, by hashes of the pairs, and keeps whole documents.

Example:
  ctxmt corpus filter deduplicate text/crawl --source-lang en --target-lang cs --out text/unique
  ctxmt corpus filter language text/unique --target-admits cs sk sl --source-lang en --target-lang cs \\
      --out text/right
  ctxmt corpus filter adequacy text/right --forward en-cs.pt --backward cs-en.pt --source-lang en \\
      --target-lang cs --scores adequacy.tsv
  ctxmt corpus filter domain text/right --in-domain news.pt --general crawl.pt --subwords data \\
      --source-lang en --target-lang cs --scores domain.tsv
  ctxmt corpus filter select text/crawl --scores adequacy.tsv domain.tsv --threshold 0.3 --source-lang en \\
      --target-lang cs --out text/train
"""

COMMANDS = {
    "corpora.transforms.": {
        "deduplicate": "the first copy of every pair",
        "language": "pairs whose sides are in the right languages",
        "select": "whole documents with good scores",
    },
    "cli.corpus.filter.": {
        "adequacy": "scores: does a side translate the other? by two translation models",
        "domain": "scores: is the target side of the domain? by two language models",
    },
}
