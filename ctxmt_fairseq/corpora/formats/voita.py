"""The corpora that Voita et al. released: short documents, with context that is not translated.

2018: --context has the previous source sentence of each line of --source and --target.
2019: a line of --source and --target is four sentences joined by _eos; --current says which are translated,
all or the last. A document's id is the number of its line.

Examples:
  ctxmt corpus voita --context train.ctx --source train.src --target train.dst \\
      --source-lang en --target-lang ru --out text/train
  ctxmt corpus voita --current last --source en_train --target ru_train \\
      --source-lang en --target-lang ru --out text/train
"""

from typing import Any, Iterator

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.data.text_lines import lines_together
from ctxmt_fairseq.errors import BadInput

END = "_eos"


def add_arguments(parser: Any) -> None:
    options.add_side_options(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--context", metavar="FILE", help="2018: the previous source sentences")
    which.add_argument("--current", choices=("all", "last"), help="2019: the sentences that are translated")
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    """A part for each line.

    Raises:
        BadInput: files, or lines, that do not have as many sentences on both sides.
    """
    paths = [args.source, args.target, *([args.context] if args.context else [])]
    for number, (source, target, *context) in enumerate(lines_together(*paths), 1):
        builder = DocumentBuilder(str(number), Account())
        if context:
            if context[0].strip():
                builder.add(context[0], "", current=False)
            builder.add(source, target)
        else:
            sides = [f" {line} ".split(f" {END} ") for line in (source, target)]
            if len(sides[0]) != len(sides[1]):
                message = f"expected {len(sides[0])} sentences as in {args.source}, found {len(sides[1])}"
                raise BadInput(message, args.target, number)
            for place, (first, second) in enumerate(zip(*sides, strict=True), 1):
                builder.add(first, second, current=args.current == "all" or place == len(sides[0]))
        yield builder.part()


run = options.writes("voita", "sentences", parts)
