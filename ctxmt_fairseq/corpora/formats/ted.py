"""TED talks of IWSLT: training text (train.tags.*) and development and test sets (*.xml).

With several files (--source A B --target A B, in the same order) the talks come one file after the other;
the ids of a set begin with the set's name, so they differ.

Examples:
  ctxmt corpus ted --source train.tags.en-de.en --target train.tags.en-de.de \\
      --source-lang en --target-lang de --out text/train
  ctxmt corpus ted --source IWSLT17.TED.tst201{1,2,3,4}.en-de.en.xml \\
      --target IWSLT17.TED.tst201{1,2,3,4}.en-de.de.xml --source-lang en --target-lang de --out text/valid
"""

from typing import Iterator, List

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, skip_broken
from ctxmt_fairseq.corpora.formats.talks_and_sets import paired_files
from ctxmt_fairseq.corpora.pairs import Part


class Ted(NewCorpus):
    source: List[Input] = option("text of the source side")
    target: List[Input] = option("text of the target side")
    skip_broken: bool = skip_broken("talks")

    def parts(self) -> Iterator[Part]:
        return paired_files(self.source, self.target, self.languages, skip=self.skip_broken)
