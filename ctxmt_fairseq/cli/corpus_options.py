"""What the kinds of corpora share: options, the way to the files, and what is printed at the end."""

import argparse
from typing import Any, Dict, Iterable, Mapping, Optional


def add_corpus_options(parser: Any) -> None:
    """Languages and output."""
    from ctxmt_fairseq.cli.option_types import language, prefix

    parser.add_argument("--source-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--target-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--out", type=prefix, required=True, metavar="PREFIX", help="of the corpus' files")


def add_report_options(parser: Any) -> None:
    """Which corpus a report is about."""
    from ctxmt_fairseq.cli.option_types import language, name

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    parser.add_argument("--source-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--target-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--json", metavar="FILE", help="write the report there too")


def add_admitted_options(parser: Any) -> None:
    """Which languages either side may be in."""
    from ctxmt_fairseq.cli.option_types import language_code

    for side in ("source", "target"):
        parser.add_argument(f"--{side}-admits", type=language_code, nargs="+", metavar="CODE",
                            help=f"languages that the {side} side may be in")  # fmt: skip


def add_opus_options(parser: Any) -> None:
    """Where OPUS' files are, who reads them, and what happens to broken ones."""
    parser.add_argument("--alignment", required=True, metavar="FILE", help="OPUS' alignment, .gz or not")
    parser.add_argument("--xml", required=True, action="append", nargs="+", metavar="FOLDER|ZIP",
                        help="the documents of both languages")  # fmt: skip
    add_worker_options(parser)


def add_sample_options(parser: Any) -> None:
    """A sample with its context, in place of all."""
    from ctxmt_fairseq.cli.option_types import non_negative_int, seed

    parser.add_argument("--sample", action="append", default=[], metavar="[PREFIX=]N",
                        help="keep N drawn sentences and their context; PREFIX: of that corpus")  # fmt: skip
    parser.add_argument("--sample-context", type=non_negative_int, default=5, metavar="K",
                        help="sentences before each that stay as context (default: 5)")  # fmt: skip
    parser.add_argument("--sample-context-after", type=non_negative_int, default=0, metavar="K",
                        help="sentences after each (default: 0)")  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="of the sample (default: 1)")


def add_worker_options(parser: Any) -> None:
    """Who reads the files, and what happens to broken ones."""
    from ctxmt_fairseq.cli.option_types import workers

    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="of a dask.distributed scheduler, for many machines"
    )
    parser.add_argument(
        "--skip-broken", action="store_true", help="leave out broken files, count and list them"
    )


def add_side_options(parser: Any) -> None:
    """Files of either side."""
    parser.add_argument("--source", required=True, nargs="+", metavar="FILE", help="files of the source side")
    parser.add_argument("--target", required=True, nargs="+", metavar="FILE",
                        help="files of the target side, in the same order")  # fmt: skip


def settings(args: Any) -> Dict[str, Any]:
    """The options that a corpus was made with, for its counts; how fast does not matter."""
    return {
        name: value
        for name, value in vars(args).items()
        if name not in ("run", "command", "kind", "workers", "dask")
    }


def write_opus(args: Any, kind: str, how: Mapping[str, Any], held_out: Any = None) -> None:
    """Make a corpus of aligned XML.

    Args:
        how: arguments of ``corpora.opus.Opus``.
        held_out: ``corpora.films.HeldOut``, if documents go to several corpora.
    """
    from ctxmt_fairseq.corpora.opus import Opus, links_of
    from ctxmt_fairseq.corpora.raw.archives import Archives
    from ctxmt_fairseq.corpora.raw.opus_links import read_links

    archives = tuple(path for paths in args.xml for path in paths)
    Archives(archives)  # a wrong name is said at once
    opus = Opus(archives, args.source_lang, args.target_lang, **how)
    items = read_links(args.alignment, args.source_lang, args.target_lang)
    write_sampled(args, kind, "links", file_wise(args, opus.part, links_of, items), held_out)


def file_wise(args: Any, work: Any, units: Any, items: Iterable[Any]) -> Iterable[Any]:
    """Parts from files, by the workers that were asked for.

    Args:
        work: from an item to its part.
        units: how many units of the input an item has, if it turns out to be broken.
    """
    from ctxmt_fairseq.corpora.assembly.breakage import skipping
    from ctxmt_fairseq.corpora.assembly.workers import in_order

    return in_order(skipping(work, units) if args.skip_broken else work, items, args.workers, args.dask)


def write_sides(args: Any, kind: str, target_kind: str = "ref", by: Optional[str] = None) -> None:
    """Make a corpus of files that hold the same documents on both sides.

    Args:
        target_kind, by: which translation, see ``corpora.aligned_documents.read_side``.

    Raises:
        BadInput: not as many files on both sides.
    """
    from ctxmt_fairseq.corpora.aligned_documents import pair_documents, read_side
    from ctxmt_fairseq.errors import BadInput

    if len(args.source) != len(args.target):
        raise BadInput(f"--target: expected {len(args.source)} files as --source, found {len(args.target)}")
    parts = (
        pair_documents(read_side(source, "src"), read_side(target, target_kind, by))
        for source, target in zip(args.source, args.target, strict=True)
    )
    write_parts(args, kind, "lines", parts)


def write_sampled(args: Any, kind: str, unit: str, parts: Iterable[Any], held_out: Any = None) -> None:
    """``write_parts`` of aligned files, or of the sample that is asked for.

    Raises:
        BadInput: --sample names no corpus that is written, or no number.
    """
    from pathlib import Path

    from ctxmt_fairseq.cli.option_types import positive_int
    from ctxmt_fairseq.corpora.assembly.distinct import distinct
    from ctxmt_fairseq.corpora.assembly.sample import Sample, sampled
    from ctxmt_fairseq.errors import BadInput

    prefixes = [args.out, *(held_out.prefixes if held_out else ())]
    sizes: Dict[int, int] = {}
    for text in args.sample:
        prefix, _, size = text.rpartition("=")
        if prefix and prefix not in prefixes:
            raise BadInput(f"--sample {text}: expected one of the corpora {', '.join(prefixes)}")
        try:
            sizes[prefixes.index(prefix) if prefix else 0] = positive_int(size)
        except argparse.ArgumentTypeError as error:
            raise BadInput(f"--sample {text}: {error}") from None
    parts = distinct(parts)
    if sizes:
        sample = Sample(sizes, args.sample_context, args.sample_context_after, args.seed)
        parts = sampled(parts, sample, held_out or (lambda document: 0), Path(args.out).parent)
    write_parts(args, kind, unit, parts, held_out)


def write_parts(args: Any, kind: str, unit: str, parts: Iterable[Any], held_out: Any = None) -> None:
    """Write a corpus and print its counts.

    Args:
        unit: of the input, in words.
        parts: see ``write_corpus``.
        held_out: ``corpora.films.HeldOut``, if documents go to several corpora.
    """
    from tqdm.auto import tqdm

    from ctxmt_fairseq.corpora.assembly.writer import write_corpus

    record = write_corpus(
        tqdm(parts, unit=" documents", disable=None),
        [args.out, *(held_out.prefixes if held_out else ())],
        [args.source_lang, args.target_lang],
        {"kind": kind, "unit": unit, "settings": settings(args)},
        held_out,
    )
    print_counts(record)


def print_counts(record: Dict[str, Any]) -> None:
    """The account of a corpus, as text."""
    for prefix, counts in record["corpora"].items():
        print(f"{prefix}: {counts['sentences']} sentences in {counts['documents']} documents")
    print(f"{record['read']} {record['unit']} read, {record['kept']} kept")
    for reason, number in record["left_out"].items():
        print(f"  left out, {reason}: {number}")
    for remark, number in record["remarks"].items():
        if number:
            print(f"  {remark}: {number}")
    for broken in record["broken"]:
        print(f"  broken: {broken}")
