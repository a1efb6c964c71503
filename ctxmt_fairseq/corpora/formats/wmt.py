"""Test sets and news of WMT: SGM, XML as of 2021, and plain text with its documents.

SGM has source and reference in two files. XML has both in one file, which is given twice; its first reference
is taken unless --by names another, or --system names the output of a system. Plain text has blank lines
between documents (News-Commentary, Europarl v10: --blank-lines), or a file of names (WMT24: --docs), whose
canary, a line that must not get into training text, is left out. Every other line of a test set stays, also
an empty one.

Examples:
  ctxmt corpus wmt --source newstest2015-src.en.sgm --target newstest2015-ref.de.sgm \\
      --source-lang en --target-lang de --out text/test
  ctxmt corpus wmt --source newstest2021.en-de.xml --target newstest2021.en-de.xml --by A \\
      --source-lang en --target-lang de --out text/test
"""

import itertools
from typing import Iterable, Iterator, List, Optional, Tuple

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import PathLike, lines_together

CANARY = "canary"  # the domain of the line that is to be kept out of training text
Line = Tuple[str, str, Optional[str]]  # both sides, and the document; None: of none


class Which(OptionGroup):
    """Says which text of the files is taken, or what kind of files they are."""

    exclusive = True

    by: Optional[str] = option("translator of the reference")
    system: Optional[str] = option("the translation of this system")
    blank_lines: bool = option("plain text, documents by blank lines")
    docs: Optional[Input] = option("plain text, DOMAIN<tab>DOCUMENT of every line")


class Wmt(NewCorpus):
    source: List[Input] = option("of the source side")
    target: List[Input] = option("of the target side")
    which: Which

    def parts(self) -> Iterator[Part]:
        from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files

        which = self.which
        if not (which.blank_lines or which.docs):
            kind = "hyp" if which.system else "ref"
            return paired_files(self.source, self.target, kind, which.system or which.by)
        if not len(self.source) == len(self.target) == 1:
            raise BadInput("--source, --target: plain text is read from one file each")
        sides = self.source[0], self.target[0]
        if which.docs:
            return _documents(_named(*sides, which.docs), CANARY, keep_empty=True)
        return _documents(_divided(*sides), "blank lines between documents", keep_empty=False)


def _divided(source: PathLike, target: PathLike) -> Iterator[Line]:
    """Number the documents: a line that is blank on both sides ends one."""
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
    """Read a part per document; lines of no document are left out and counted as ``between``."""
    for name, group in itertools.groupby(lines, key=lambda line: line[2]):
        builder = DocumentBuilder(name or "", Account(), keep_empty)
        for source, target, _ in group:
            if name is None:
                builder.leave_out(between)
            else:
                builder.add(source, target)
        yield builder.part()
