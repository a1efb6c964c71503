"""The options of every kind of corpus, and what is printed at the end."""

from typing import Any, Dict


def add_corpus_options(parser: Any) -> None:
    """Languages, output, workers, and what happens to broken files."""
    from ctxmt_fairseq.cli.option_types import language, name, workers

    parser.add_argument("--source-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--target-lang", type=language, required=True, metavar="LANG")
    parser.add_argument(
        "--out", type=name, required=True, metavar="PREFIX", help="what the corpus' files begin with"
    )
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="of a dask.distributed scheduler, for many machines"
    )
    parser.add_argument(
        "--skip-broken", action="store_true", help="leave out broken files, count and list them"
    )


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
