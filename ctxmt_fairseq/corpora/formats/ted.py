"""TED talks of IWSLT: training text (train.tags.*) and development and test sets (*.xml).

Of several files (--source A B --target A B, in the same order) the talks come one file after the other; ids
of sets have the set's name before them, so they differ.

Examples:
  ctxmt corpus ted --source train.tags.en-de.en --target train.tags.en-de.de \\
      --source-lang en --target-lang de --out text/train
  ctxmt corpus ted --source IWSLT17.TED.tst201{1,2,3,4}.en-de.en.xml \\
      --target IWSLT17.TED.tst201{1,2,3,4}.en-de.de.xml --source-lang en --target-lang de --out text/valid
"""

from typing import Any, Iterator

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files
from ctxmt_fairseq.corpora.pairs import Part


def add_arguments(parser: Any) -> None:
    options.add_side_options(parser, nargs="+")
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    return paired_files(args.source, args.target)


run = options.writes("ted", "lines", parts)
