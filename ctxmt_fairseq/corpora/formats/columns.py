"""Text in columns with tabs between them: raw releases of ParaCrawl, CzEng, ...

--columns says what they are, in their order: each language once, doc for a part of the document's id, any
other word for what is passed over; so are the columns behind them. A document is a run of lines with one id,
which a blank line ends. Without doc every line is a document.

Example: ctxmt corpus columns --files en-cs.raw.gz --columns doc doc en cs --source-lang en \\
             --target-lang cs --out text/crawl
"""

import itertools
import operator
from typing import Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, skip_broken
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import is_text, iterate_lines

Line = Tuple[str, Sequence[str], Optional[BadInput]]  # document; texts, none: it is blank or broken


class Columns(NewCorpus):
    files: List[Input] = option("read one after the other, .gz or not")
    columns: List[str] = option("what each column is", metavar="NAME")
    skip_broken: bool = skip_broken()

    def parts(self) -> Iterator[Part]:
        for language in self.languages:
            if self.columns.count(language) != 1:
                raise BadInput(f"--columns: expected {language} once, found {' '.join(self.columns)}")
        alone = map(str, itertools.count(1))  # the ids of lines that have none
        lines = (line for path in self.files for line in self._lines(path, alone))
        for name, group in itertools.groupby(lines, key=operator.itemgetter(0)):
            builder = DocumentBuilder(name, Account())
            for _, texts, error in group:
                if texts:
                    builder.add(texts[0], texts[1])
                    continue
                builder.leave_out("broken lines" if error else "blank lines")
                builder.account.broken += [str(error)] if error else []
            yield builder.part()

    def _lines(self, path: str, alone: Iterator[str]) -> Iterator[Line]:
        sides = [self.columns.index(language) for language in self.languages]
        ids = [place for place, name in enumerate(self.columns) if name == "doc"]
        last = ""
        for number, line in enumerate(iterate_lines(path, self.skip_broken), 1):
            fields, error = line.split("\t"), None
            if len(fields) >= len(self.columns) and is_text(line):
                last = " ".join(filter(None, (fields[place].strip() for place in ids))) or next(alone)
                yield last, [fields[place] for place in sides], None
                continue
            if line.strip():
                error = BadInput(f"expected {len(self.columns)} columns, found {len(fields)}", path, number)
            if error and not self.skip_broken:
                raise error
            yield last, (), error
