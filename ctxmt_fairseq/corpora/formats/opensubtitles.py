"""OpenSubtitles from OPUS: documents without holes or pauses, as Voita et al. (2019) and MTCue make them.

--alignment is OPUS' alignment file of the two languages, --xml the subtitles of both: folders, or the .zip
files as downloaded, which are never unpacked. Pairs whose subtitles overlap in time by less than
--min-overlap are left out; a document ends there, at sentences that have no counterpart, and at a pause of
more than --max-gap seconds on either side. Its id is YEAR/IMDB/FILE, from the second in a file on with a
number behind it.

--clean names steps, joined by commas (-NAME: all but this one; none): entities (escaped twice), markup (<i>),
music, brackets (what is heard but not said), dashes (before turns), speakers (NAME:), ocr (l for I),
punctuation (Moses). How many lines each changed is counted.

Example: ctxmt corpus opensubtitles --alignment de-en.xml.gz --xml de.zip --xml en.zip --source-lang en \\
             --target-lang de --held-out text/dev=dev-films.txt --held-out text/test=0.01 --out text/train
"""

from typing import Any, Iterator

from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.formats.opus import add_opus_options, linked_parts
from ctxmt_fairseq.corpora.pairs import Part
from ctxmt_fairseq.option_types import finite_float, number


def add_arguments(parser: Any) -> None:
    add_opus_options(parser)
    parser.add_argument("--min-overlap", type=number(0, 1), default=0.9, metavar="X", help="(default: 0.9)")
    parser.add_argument("--max-gap", type=finite_float, default=7.0, metavar="SECONDS", help="(default: 7)")
    options.add_clean_option(parser, "all")
    parser.add_argument("--held-out", action="append", default=[], metavar="PREFIX=FILE|SHARE",
                        help="films for another corpus: a list of IMDb ids, or a share of all")  # fmt: skip


def parts(args: Any) -> Iterator[Part]:
    return linked_parts(args, min_overlap=args.min_overlap, max_gap=args.max_gap)


def run(args: Any) -> None:
    options.write_parts(args, "opensubtitles", "links", parts(args), HeldOut(args.held_out))
