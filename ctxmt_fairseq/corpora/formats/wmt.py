"""Test sets and news of WMT: SGM, XML as of 2021, and plain text with its documents.

SGM has source and reference in two files. XML has both in one file, which is given twice; its first reference
is taken unless --by names another ("any": whichever a document has), or --system names the output of a
system. Plain text has blank lines between documents (News-Commentary, Europarl v10: --blank-lines), or a file
of names (WMT24: --docs), whose canary, a line that must not get into training text, is left out. Every other
line of a test set stays, also an empty one. Plain text in two columns (TSV; no more are read) is given twice;
its languages are in the order that the name says (news.de-en.tsv), else the source is first.

Examples:
  ctxmt corpus wmt --source newstest2015-src.en.sgm --target newstest2015-ref.de.sgm \\
      --source-lang en --target-lang de --out text/test
  ctxmt corpus wmt --source newstest2021.en-de.xml --target newstest2021.en-de.xml --by A \\
      --source-lang en --target-lang de --out text/test
"""

import itertools
import re
from pathlib import Path
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, skip_broken
from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import (
    PathLike,
    is_text,
    iterate_lines,
    lines_together,
    same_file,
    together,
)

CANARY = "canary"  # the domain of the line that is to be kept out of training text


class Line(NamedTuple):
    """Both sides of a line, the document and its domain, and why the line is left out, if it is."""

    texts: Any
    document: str
    domain: str = ""
    reason: str = ""
    error: object = ""


class Which(OptionGroup):
    """Says which text of the files is taken, or what kind of files they are."""

    exclusive = True

    by: Optional[str] = option("translator of the reference; any: the first of each document")
    system: Optional[str] = option("the translation of this system")
    blank_lines: bool = option("plain text, documents by blank lines")
    docs: Optional[Input] = option("plain text: a file with DOMAIN<tab>DOCUMENT for every line")


class Wmt(NewCorpus):
    source: List[Input] = option("text of the source side")
    target: List[Input] = option("text of the target side")
    which: Which
    skip_broken: bool = skip_broken("documents, lines of plain text")

    def parts(self) -> Iterator[Part]:
        which = self.which
        if not (which.blank_lines or which.docs):
            kind = "hyp" if which.system else "ref"
            by = which.system or which.by
            return paired_files(self.source, self.target, self.languages, kind, by, self.skip_broken)
        if not len(self.source) == len(self.target) == 1:
            raise BadInput("--source, --target: plain text is read from one file each")
        lines = _sides(self.source[0], self.target[0], self.languages, self.skip_broken)
        if which.docs:
            return _documents(_named(self.source[0], lines, which.docs, self.skip_broken), keep_empty=True)
        return _documents(_divided(lines), keep_empty=False)


def _sides(source: PathLike, target: PathLike, languages: Sequence[str], skip: bool) -> Iterator[Any]:
    """Both sides of each line, of two files or of the columns of one, and what is in its further columns; the
    error for a broken line."""
    if not same_file(source, target):
        yield from lines_together(source, target, lenient=skip)
        return
    order = -1 if f"{languages[1]}-{languages[0]}" in re.split(r"[._]", Path(source).name) else 1
    for number, line in enumerate(iterate_lines(source, skip), 1):
        first, *columns = line.split("\t") if line.strip() else ["", ""]
        if columns:
            yield [*(first, columns[0])[::order], *columns[1:]]
            continue
        error = BadInput("is given for both sides: expected two columns, found no tab", source, number)
        if not skip:
            raise error
        yield error


def _divided(sides: Iterable[Any]) -> Iterator[Line]:
    """Number the documents: a line that is blank on both sides ends one."""
    number, inside = 0, False
    for texts in sides:
        broken = isinstance(texts, BadInput)
        blank = not broken and not any(map(str.strip, texts[:2]))
        number += not blank and not inside
        inside = not blank
        reason = "broken lines" if broken else "blank lines between documents" if blank else ""
        yield Line(texts, str(number), "", reason, texts if broken else "")


def _named(source: PathLike, sides: Iterator[Any], names: PathLike, skip: bool) -> Iterator[Line]:
    last, columns = "", [(source, sides), (names, iterate_lines(names, skip))]
    for number, (texts, name) in enumerate(together(columns), 1):
        domain, _, document = name.partition("\t")
        error = texts if isinstance(texts, BadInput) else ""
        if not (domain.strip() and document.strip() and is_text(name)):
            error = BadInput(f"expected a domain, a tab and a document's id, found {name!r}", names, number)
            if not skip:
                raise error
        else:
            last = document.strip()
        yield Line(texts, last, domain, "broken lines" if error else CANARY * (domain == CANARY), error)


def _documents(lines: Iterable[Line], keep_empty: bool) -> Iterator[Part]:
    """Read a part per document; lines with a reason are left out and counted."""
    for name, group in itertools.groupby(lines, key=lambda line: line.document):
        builder = DocumentBuilder(name, Account(), keep_empty)
        for texts, _, domain, reason, error in group:
            if reason:
                builder.leave_out(reason, error=error)
            else:
                source, target, *more = texts
                builder.account.remarks["with further columns, not read"] += any(map(str.strip, more))
                builder.add(source, target, {"domain": single_spaces(domain)} if domain else {})
        yield builder.part()
