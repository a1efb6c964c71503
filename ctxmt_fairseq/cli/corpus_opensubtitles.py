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


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options
    from ctxmt_fairseq.cli.option_types import finite_float, number

    parser.add_argument("--alignment", required=True, metavar="FILE", help="OPUS' alignment, .gz or not")
    parser.add_argument(
        "--xml", required=True, action="append", nargs="+", metavar="FOLDER|ZIP", help="subtitles"
    )
    parser.add_argument("--min-overlap", type=number(0, 1), default=0.9, metavar="X", help="(default: 0.9)")
    parser.add_argument("--max-gap", type=finite_float, default=7.0, metavar="SECONDS", help="(default: 7)")
    parser.add_argument("--clean", default="all", metavar="NAMES", help="steps of cleaning (default: all)")
    parser.add_argument("--held-out", action="append", default=[], metavar="PREFIX=FILE|SHARE",
                        help="films for another corpus: a list of IMDb ids, or a share of all")  # fmt: skip
    add_corpus_options(parser)


def run(args) -> None:
    from tqdm import tqdm

    from ctxmt_fairseq.cli.corpus_options import print_counts
    from ctxmt_fairseq.corpora.assembly.breakage import skipping
    from ctxmt_fairseq.corpora.assembly.workers import in_order
    from ctxmt_fairseq.corpora.assembly.writer import write_corpus
    from ctxmt_fairseq.corpora.cleaning import chosen_steps
    from ctxmt_fairseq.corpora.films import HeldOut
    from ctxmt_fairseq.corpora.opensubtitles import Subtitles, links_of
    from ctxmt_fairseq.corpora.raw.archives import Archives
    from ctxmt_fairseq.corpora.raw.opus_links import read_links

    archives = tuple(path for paths in args.xml for path in paths)
    Archives(archives)  # a wrong name is said at once
    held_out = HeldOut(args.held_out)
    subtitles = Subtitles(
        archives, args.source_lang, args.target_lang, args.min_overlap, args.max_gap, chosen_steps(args.clean)
    )
    work = skipping(subtitles.part, links_of) if args.skip_broken else subtitles.part
    items = read_links(args.alignment, args.source_lang, args.target_lang)
    parts = in_order(work, items, args.workers, args.dask)
    settings = {
        name: getattr(args, name) for name in ("alignment", "min_overlap", "max_gap", "clean", "held_out")
    }
    record = write_corpus(
        tqdm(parts, unit=" documents", disable=None),
        [args.out, *held_out.prefixes],
        [args.source_lang, args.target_lang],
        {"kind": "opensubtitles", "unit": "links", "settings": settings},
        held_out,
    )
    print_counts(record)
