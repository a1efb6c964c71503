"""Embed the sentences and metadata of a data folder once, into a context store for the task metadata_context.

A split is the text that ctxmt preprocess read: PREFIX.SRC and PREFIX.TGT, PREFIX.docids. Its metadata are
PREFIX.meta.jsonl (one JSON object of strings per line) and files PREFIX.meta.FIELD (one value per line, blank
where there is none). Every distinct text is embedded once. Values such as N/A are left out, and values that
say too little get a prefix ("PG rating: R"); --dry-run shows the texts and writes nothing.

The same command continues an interrupted run. Where a store exists, it is verified, and only what is new is
embedded.

Encoders: minilm (384 dimensions; from an installed package, nothing is downloaded), discrete (a random vector
for each text, the paper's ablation), or any sentence-transformers or transformers model by folder or name,
with --pooling cls for the state of its first token (as the MTCue authors use DistilBERT) or mean.

Example: ctxmt embed data-bin --train text/train --valid text/valid --test text/test --dry-run
"""

import json
from typing import Any

from ctxmt_fairseq.cli.split_options import add_split_options, splits_of
from ctxmt_fairseq.data.store_header import DTYPES
from ctxmt_fairseq.data.text_encoders import BATCH, DEFAULT_ENCODER, POOLINGS


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import name, non_negative_int, positive_int

    parser.add_argument("data", metavar="DATA", help="a data folder of ctxmt preprocess")
    add_split_options(parser)
    parser.add_argument("--out", type=name, metavar="DIR", help="the store's folder (default: DATA/contexts)")
    parser.add_argument(
        "--encoder",
        default=DEFAULT_ENCODER,
        metavar="NAME",
        help="minilm, discrete, or a sentence-transformers model (default: %(default)s)",
    )
    parser.add_argument(
        "--pooling",
        choices=POOLINGS,
        help="from the states of its words to a vector (default: as the model says, else mean); the same as "
        "--encoder cls:NAME or mean:NAME",
    )
    parser.add_argument(
        "--dtype", choices=list(DTYPES), default="float32", help="of the vectors (default: %(default)s)"
    )
    parser.add_argument(
        "--fields", metavar="A,B", help="metadata to embed: all, none, or names (default: all that are found)"
    )
    parser.add_argument("--no-sentences", action="store_true", help="embed metadata only")
    parser.add_argument(
        "--blank-lines",
        action="store_true",
        help="a blank line on both sides ends a document; there are no ids",
    )
    parser.add_argument(
        "--batch-size",
        type=positive_int,
        default=BATCH,
        metavar="N",
        help="texts encoded together (default: %(default)s)",
    )
    parser.add_argument("--cpu", action="store_true", help="stay on the CPU even where a GPU is")
    parser.add_argument(
        "--dry-run",
        type=non_negative_int,
        nargs="?",
        const=3,
        metavar="N",
        help="show the texts of the first N sentences (default 3) of each split, and counts; write nothing",
    )
    parser.add_argument("--json", metavar="FILE", help="write the counts there too")


def run(args) -> None:
    from pathlib import Path

    from ctxmt_fairseq.corpora.embed import Request, embed
    from ctxmt_fairseq.corpora.embed_preview import preview, preview_text
    from ctxmt_fairseq.files import check_outputs, write_files

    fields = {None: None, "all": None, "none": []}.get(args.fields, (args.fields or "").split(","))
    request = Request(args.data, splits_of(args), fields, not args.no_sentences, args.blank_lines)
    out = args.out or str(Path(args.data) / "contexts")
    check_outputs(args.json)
    if args.dry_run is not None:
        report = preview(request, out, args.dry_run)
        print(preview_text(report))
    else:
        encoder = f"{args.pooling}:{args.encoder}" if args.pooling else args.encoder
        report = embed(request, out, encoder, args.dtype, _device(args.cpu), args.batch_size)
        print(result_text(report))
    write_files([(args.json, json.dumps(report, indent=2, ensure_ascii=False) + "\n")])


def _device(cpu: bool) -> str:
    import torch

    return "cuda" if torch.cuda.is_available() and not cpu else "cpu"


def result_text(report: Any) -> str:
    """The table of splits, and what the store saves."""
    from ctxmt_fairseq.tables import aligned_table

    table = [["split", "sentences", "contexts", "new vectors"]]
    for split, part in report["splits"].items():
        table.append([split, *(str(part[key]) for key in ("sentences", "contexts", "new"))])
    return (
        f"{aligned_table(table)}\n\n"
        f"{report['store']}: {report['distinct']} distinct texts of {report['contexts']} contexts, "
        f"{_megabytes(report['bytes'])} where a vector for every context takes "
        f"{_megabytes(report['bytes_one_per_context'])} ({report['saving']:.1%} saved)"
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
