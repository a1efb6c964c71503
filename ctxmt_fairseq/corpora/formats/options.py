"""What the kinds of corpora share: options, the way to the files, and what is printed at the end."""

from typing import Any, Callable, Dict, Iterable, Iterator, Optional

from tqdm.auto import tqdm

from ctxmt_fairseq.corpora.cleaning import chosen_steps
from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.pairs import Part
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import in_order, skipping
from ctxmt_fairseq.corpora.writer import write_corpus
from ctxmt_fairseq.option_types import language, language_code, name, prefix, workers


def add_corpus_options(parser: Any) -> None:
    """Languages and output."""
    add_languages(parser)
    parser.add_argument("--out", type=prefix, required=True, metavar="PREFIX", help="of the corpus' files")


def add_languages(parser: Any) -> None:
    parser.add_argument("--source-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--target-lang", type=language, required=True, metavar="LANG")


def add_prefix(parser: Any) -> None:
    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")


def add_report_options(parser: Any) -> None:
    """Which corpus a report is about."""
    add_prefix(parser)
    add_languages(parser)
    parser.add_argument("--json", metavar="FILE", help="write the report there too")


def add_admitted_options(parser: Any) -> None:
    """Which languages either side may be in."""
    for side in ("source", "target"):
        parser.add_argument(f"--{side}-admits", type=language_code, nargs="+", metavar="CODE",
                            help=f"languages that the {side} side may be in")  # fmt: skip


def text_files(args: Any, ids_optional: bool = False) -> TextFiles:
    """The corpus that ``add_prefix`` names."""
    return TextFiles(args.prefix, args.source_lang, args.target_lang, ids_optional=ids_optional)


def add_side_options(parser: Any, **options: Any) -> None:
    """A file, or what ``options`` says, of either side."""
    for side in ("source", "target"):
        given = {"metavar": "FILE", "help": f"of the {side} side", **options}
        parser.add_argument(f"--{side}", required=True, **given)


def add_clean_option(parser: Any, default: str = "none") -> None:
    parser.add_argument("--clean", type=chosen_steps, default=default, metavar="NAMES",
                        help=f"steps of cleaning, see opensubtitles (default: {default})")  # fmt: skip


def add_worker_options(parser: Any) -> None:
    """How many processes read the files, and what happens to broken ones."""
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--skip-broken", action="store_true", help="leave out broken files, and list them")


def file_wise(args: Any, work: Callable, units: Callable, items: Iterable[Any]) -> Iterator[Any]:
    """Parts from files, by the workers that were asked for.

    Args:
        work: from an item to its part.
        units: how many units of the input an item has, if it turns out to be broken.
    """
    return in_order(skipping(work, units) if args.skip_broken else work, items, args.workers)


def writes(kind: str, unit: str, parts: Callable[[Any], Iterable[Part]]) -> Callable[[Any], None]:
    """The ``run`` of a command that makes a corpus of ``parts(args)``; see ``write_parts``."""
    return lambda args: write_parts(args, kind, unit, parts(args))


def write_parts(
    args: Any, kind: str, unit: str, parts: Iterable[Part], held_out: Optional[HeldOut] = None
) -> None:
    """Write the corpus that a command makes, and print the account.

    Args:
        unit: of the input, in words.
        held_out: documents that go to other corpora.

    Raises:
        BadInput: see ``write_corpus``.
    """
    held_out = held_out or HeldOut([])
    ignored = ("run", "command", "kind", "workers")  # how fast does not matter
    settings = {name: value for name, value in vars(args).items() if name not in ignored}
    record = write_corpus(
        tqdm(parts, unit=" documents", disable=None),
        [args.out, *held_out.prefixes],
        [args.source_lang, args.target_lang],
        {"kind": kind, "unit": unit, "settings": settings},
        held_out,
    )
    print_counts(record)


def print_counts(record: Dict[str, Any]) -> None:
    """The account of a corpus, as text."""
    for corpus, counts in record["corpora"].items():
        print(f"{corpus}: {counts['sentences']} sentences in {counts['documents']} documents")
    print(f"{record['read']} {record['unit']} read, {record['kept']} kept")
    for reason, number in record["left_out"].items():
        print(f"  left out, {reason}: {number}")
    for remark, number in record["remarks"].items():
        if number:
            print(f"  {remark}: {number}")
    for broken in record["broken"]:
        print(f"  broken: {broken}")
