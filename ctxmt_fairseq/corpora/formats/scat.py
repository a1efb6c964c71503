"""SCAT (Yin et al. 2021): sentences with pronouns, and the words that show how to translate them.

FILE is one of the four files of a split, PREFIX.en beside PREFIX.fr, PREFIX.context.en and
PREFIX.context.fr, or its records as JSON. The text before a sentence is one line that is only context,
because it comes without borders between sentences; the marks go to --highlights, for --attention-highlights
of a training with this text. The release of Sarti et al. (2024) is read in the same way.

Example: ctxmt corpus scat filtered.train.en --source-lang en --target-lang fr --out text/train \\
             --highlights marks.jsonl
"""

import json
from typing import Dict, Iterator, List, Optional

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.highlights import SIDES
from ctxmt_fairseq.text.scat import Marked, read_scat


class Scat(NewCorpus):
    unit = "sentences and the text before them"

    file: Input = argument("FILE", "one of the four, or JSON")
    highlights: Optional[Output] = option("where the marked words go")

    def run(self) -> None:
        self.marks: List[str] = []
        super().run()
        if self.highlights:
            write_file(self.highlights, "".join(self.marks))

    def parts(self) -> Iterator[Part]:
        line = 0
        for number, example in enumerate(read_scat(self.file, self.languages), 1):
            builder = DocumentBuilder(str(number), Account())
            sides = [[Marked.read(text) for text in side] for side in (example.source, example.target)]
            if any(before.text.strip() for before, _ in sides):
                builder.add(sides[0][0].text, sides[1][0].text, current=False)
            builder.add(sides[0][1].text, sides[1][1].text)
            part = builder.part()
            line += len(part.pairs)
            if part.pairs and part.pairs[-1].current:
                self.marks += _marks(line, sides)
            yield part


def _marks(line: int, sides: List[List[Marked]]) -> Iterator[str]:
    """The line of --highlights; none where no pronoun is marked, or nothing that supports it."""
    record: Dict[str, Dict[str, object]] = {}
    for name, (before, current) in zip(SIDES, sides, strict=True):
        support = {at: words for at, words in (("-1", before.support), ("0", current.support)) if words}
        entries = ("words", current.pronouns), ("support", support)
        record[name] = {key: value for key, value in entries if value}
    if {"words", "support"} <= {key for entry in record.values() for key in entry}:
        yield json.dumps({"line": line, **{name: entry for name, entry in record.items() if entry}}) + "\n"
