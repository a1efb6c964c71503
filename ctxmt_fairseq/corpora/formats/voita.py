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

import re
from typing import Iterator, Literal, Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, skip_broken
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import check_not_same, lines_together

END = re.compile(r"(?<!\S)_eos(?!\S)")


class Release(OptionGroup):
    """Says which of the two corpora it is."""

    exclusive = required = True

    context: Optional[Input] = option("2018: the previous source sentences")
    current: Optional[Literal["all", "last"]] = option("2019: the sentences that are translated")


class Voita(NewCorpus):
    unit = "sentences"

    source: Input = option("text of the source side")
    target: Input = option("text of the target side")
    release: Release
    skip_broken: bool = skip_broken()

    def parts(self) -> Iterator[Part]:
        check_not_same(self.source, self.target)
        paths = [self.source, self.target, *([self.release.context] if self.release.context else [])]
        lines = lines_together(*paths, lenient=self.skip_broken)
        for number, (source, target, *context) in enumerate(lines, 1):
            builder = DocumentBuilder(str(number), Account())
            if context:
                if context[0].strip():
                    builder.add(context[0], "", current=False)
                else:
                    builder.account.remarks["sentences without context"] += 1
                builder.add(source, target)
            else:
                sides = [END.split(line) for line in (source, target)]
                if len(sides[0]) != len(sides[1]):
                    message = f"expected {len(sides[0])} sentences as in {self.source}, found {len(sides[1])}"
                    error = BadInput(message, self.target, number)
                    if not self.skip_broken:
                        raise error
                    builder.leave_out("in broken lines", len(sides[0]), error)
                    sides = [[], []]
                for place, (first, second) in enumerate(zip(*sides, strict=True), 1):
                    current = self.release.current == "all" or place == len(sides[0])
                    builder.add(first, second, current=current)
            yield builder.part()
