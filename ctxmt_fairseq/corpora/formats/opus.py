"""Any corpus of OPUS with XML and an alignment: Europarl, News-Commentary, TED2020, Books, ...

--alignment is OPUS' alignment file of the two languages, --xml the documents of both: folders, or the .zip
files as downloaded, which are never unpacked. A document ends at sentences that have no counterpart; with
--unaligned keep they stay as lines that are only context (PREFIX.current). Chapters and speakers become
metadata where a side has them (PREFIX.meta.jsonl).

Example: ctxmt corpus opus --alignment de-en.xml.gz --xml de.zip en.zip --source-lang en --target-lang de \\
             --out text/train
"""

from typing import Any, Iterator, List, Literal, Sequence

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import FileWise, NewCorpus, cleaning
from ctxmt_fairseq.corpora.pairs import Part, distinct


class LinkedCorpus(NewCorpus):
    unit = "links"

    alignment: Input = option("OPUS' alignment, .gz or not")
    xml: List[Input] = option(
        "the documents of both languages", action="extend", nargs="+", metavar="FOLDER|ZIP"
    )
    reading: FileWise

    def linked(self, steps: Sequence[str], **how: Any) -> Iterator[Part]:
        """Read the parts of all linked documents; ``how`` are arguments of ``Pairing``."""
        from ctxmt_fairseq.corpora.archives import Archives
        from ctxmt_fairseq.corpora.formats.opus_pairs import Pairing, links_of
        from ctxmt_fairseq.corpora.formats.opus_xml import read_links

        archives = tuple(self.xml)
        Archives(archives)  # refuses a wrong name at once
        pairing = Pairing(archives, *self.languages, tuple(steps), **how)
        linked = read_links(self.alignment, *self.languages)
        return distinct(self.reading.parts(pairing.part, links_of, linked))


class Opus(LinkedCorpus):
    unaligned: Literal["end", "keep"] = option(
        "sentences without counterpart end a document, or are context", "end"
    )
    clean: Sequence[str] = cleaning()

    def parts(self) -> Iterator[Part]:
        return self.linked(self.clean, keep_unaligned=self.unaligned == "keep")
