"""TED talks of IWSLT: training text (train.tags.*) and development and test sets (*.xml).

Of several files (--source A B --target A B, in the same order) the talks come one file after the other; ids
of sets have the set's name before them, so they differ.

Examples:
  ctxmt corpus ted --source train.tags.en-de.en --target train.tags.en-de.de \\
      --source-lang en --target-lang de --out text/train
  ctxmt corpus ted --source IWSLT17.TED.tst201{1,2,3,4}.en-de.en.xml \\
      --target IWSLT17.TED.tst201{1,2,3,4}.en-de.de.xml --source-lang en --target-lang de --out text/valid
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options, add_side_options

    add_side_options(parser)
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_sides

    write_sides(args, "ted")
