"""OpenSubtitles from OPUS: documents without holes or pauses, as Voita et al. (2019) and MTCue make them.

--alignment is OPUS' alignment file of the two languages, --xml the subtitles of both: folders, or the .zip
files as downloaded, which are never unpacked. Pairs whose subtitles overlap in time by less than
--min-overlap are left out; a document ends there, at sentences that have no counterpart, and at a pause of
more than --max-gap seconds on either side. Its id is YEAR/IMDB/FILE; from the second document of a file on,
a number follows it. Metadata (PREFIX.meta.jsonl) is what the subtitles say: year (else that of the folder),
genre, country, duration; --metadata none leaves it to a database ("ctxmt corpus films").

--clean names steps, joined by commas (-NAME: all but this one; none): entities (escaped twice), markup (<i>),
music, brackets (what is heard but not said), dashes (before turns), speakers (NAME:), ocr (l for I),
punctuation (Moses). How many lines each changed is counted.

Example: ctxmt corpus opensubtitles --alignment de-en.xml.gz --xml de.zip --xml en.zip --source-lang en \\
             --target-lang de --held-out text/dev=dev-films.txt --held-out text/test=0.01 --out text/train
"""

from typing import List, Literal, Sequence

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.option_types import finite_float, number
from ctxmt_fairseq.base.paths import Named
from ctxmt_fairseq.corpora.cleaning import STEPS
from ctxmt_fairseq.corpora.corpus_command import cleaning
from ctxmt_fairseq.corpora.formats.opus import LinkedCorpus


class Opensubtitles(LinkedCorpus):
    min_overlap: float = option(
        "least share of its time that a pair of subtitles is shown together", 0.9, number(0, 1)
    )
    max_gap: float = option(
        "a longer pause ends a document (default: 7)", 7.0, finite_float, metavar="SECONDS"
    )
    metadata: Literal["own", "none"] = option("what the subtitles say of themselves, or nothing", "own")
    clean: Sequence[str] = cleaning(tuple(STEPS))
    held_out: List[Named] = option(
        "films for another corpus: a list of IMDb ids, or a share of all",
        [],
        action="append",
        metavar="PREFIX=FILE|SHARE",
    )

    def run(self) -> None:
        from ctxmt_fairseq.corpora.films import HeldOut

        how = {"films": True, "described": self.metadata == "own"}
        parts = self.linked(self.clean, min_overlap=self.min_overlap, max_gap=self.max_gap, **how)
        self.write(parts, HeldOut(self.held_out))
