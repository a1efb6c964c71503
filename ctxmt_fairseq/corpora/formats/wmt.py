"""Test sets and news of WMT: SGM, XML as of 2021, and plain text with its documents.

SGM has source and reference in two files; XML has both in one, which is then given twice, and of several
references the first is taken unless --by names another, or --system the output of a system. Plain text has
blank lines between documents (News-Commentary, Europarl v10: --blank-lines), or a file of names (WMT24:
--docs), whose canary, a line that must not get into training text, is left out. Every other line of a test
set stays, also an empty one.

Examples:
  ctxmt corpus wmt --source newstest2015-src.en.sgm --target newstest2015-ref.de.sgm \\
      --source-lang en --target-lang de --out text/test
  ctxmt corpus wmt --source newstest2021.en-de.xml --target newstest2021.en-de.xml --by A \\
      --source-lang en --target-lang de --out text/test
"""

import itertools
from typing import Any, Iterable, Iterator, Optional, Tuple

from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.data.text_lines import PathLike, lines_together
from ctxmt_fairseq.errors import BadInput

CANARY = "canary"  # the domain of the line that is to be kept out of training text
Line = Tuple[str, str, Optional[str]]  # both sides, and the document; None: of none


def add_arguments(parser: Any) -> None:
    options.add_side_options(parser, nargs="+")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--by", metavar="NAME", help="translator of the reference")
    which.add_argument("--system", metavar="NAME", help="the translation of this system")
    which.add_argument("--blank-lines", action="store_true", help="plain text, documents by blank lines")
    which.add_argument("--docs", metavar="FILE", help="plain text, DOMAIN<tab>DOCUMENT of every line")
    options.add_corpus_options(parser)


def parts(args: Any) -> Iterator[Part]:
    if not (args.blank_lines or args.docs):
        kind = "hyp" if args.system else "ref"
        return paired_files(args.source, args.target, kind, args.system or args.by)
    if not len(args.source) == len(args.target) == 1:
        raise BadInput("--source, --target: expected one file of plain text each")
    sides = args.source[0], args.target[0]
    if args.docs:
        return _documents(_named(*sides, args.docs), CANARY, keep_empty=True)
    return _documents(_divided(*sides), "blank lines between documents", keep_empty=False)


def _divided(source: PathLike, target: PathLike) -> Iterator[Line]:
    """A line that is blank on both sides ends a document; documents are numbered."""
    number, inside = 0, False
    for first, second in lines_together(source, target):
        blank = not (first.strip() or second.strip())
        number += not blank and not inside
        inside = not blank
        yield first, second, None if blank else str(number)


def _named(source: PathLike, target: PathLike, names: PathLike) -> Iterator[Line]:
    for number, (first, second, name) in enumerate(lines_together(source, target, names), 1):
        domain, _, document = name.partition("\t")
        if not (domain.strip() and document.strip()):
            raise BadInput(f"expected a domain, a tab and a document's id, found {name!r}", names, number)
        yield first, second, None if domain == CANARY else document.strip()


def _documents(lines: Iterable[Line], between: str, keep_empty: bool) -> Iterator[Part]:
    """A part per document; lines that belong to none are left out as ``between``."""
    for name, group in itertools.groupby(lines, key=lambda line: line[2]):
        builder = DocumentBuilder(name or "", Account(), keep_empty)
        for source, target, _ in group:
            if name is None:
                builder.leave_out(between)
            else:
                builder.add(source, target)
        yield builder.part()


run = options.writes("wmt", "lines", parts)
