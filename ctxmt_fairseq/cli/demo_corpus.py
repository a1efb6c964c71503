"""Write a small English-French corpus whose ambiguities need context, with contrastive sets.

The documents come from a grammar (no downloads); the same options give the same files.
DIR/contrastive/sets.json lists the sets: which phenomenon, which context answers it, which format.

Example: ctxmt demo-corpus demo --documents 8000
"""

import json
from pathlib import Path


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import positive_int, seed

    parser.add_argument("directory", metavar="DIR", type=Path, help="a new or empty folder")
    parser.add_argument("--seed", type=seed, default=1, help="default: %(default)s")
    parser.add_argument(
        "--documents",
        type=positive_int,
        default=8000,
        metavar="N",
        help="training documents (default: %(default)s)",
    )
    parser.add_argument(
        "--evaluation-documents",
        type=positive_int,
        default=200,
        metavar="N",
        help="documents in valid, and in test (default: %(default)s)",
    )
    parser.add_argument(
        "--document-length",
        type=positive_int,
        metavar="N",
        help="sentences of every document (default: 4 to 8)",
    )
    parser.add_argument(
        "--examples",
        type=positive_int,
        default=300,
        metavar="N",
        help="examples per contrastive set, an even number (default: %(default)s)",
    )
    parser.add_argument(
        "--phenomena",
        metavar="A,B",
        help="what the documents are about: pronoun, lexical-choice, lexical-cohesion, deixis, ellipsis, "
        "cataphora, speaker-gender, addressee-gender (default: everything; few are learned sooner)",
    )
    parser.add_argument(
        "--formality",
        choices=("stated", "implied"),
        default="stated",
        help="where tu and vous come from: a metadata field that states the formality, or genre, plot and "
        "sentences that imply it, while no text names it (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args) -> None:
    from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus

    written = write_demo_corpus(
        args.directory,
        args.seed,
        args.documents,
        args.evaluation_documents,
        args.document_length,
        args.examples,
        args.phenomena.split(",") if args.phenomena else None,
        args.formality,
    )
    if args.json:
        print(json.dumps({"directory": str(args.directory), **written}, indent=2))
        return
    print(f"{'split':<20} {'documents':>9} {'sentences':>9}")
    for split in written["splits"]:
        print(f"{split['name']:<20} {split['documents']:>9} {split['sentences']:>9}")
    print(f"\n{'contrastive set':<20} {'examples':>9} {'format':>9}  {'distances':<9}  answered by")
    for entry in written["sets"]:
        distances = ", ".join(map(str, entry["distances"]))
        size = f"{entry['examples']:>9} {entry['format']:>9}"
        print(f"{entry['name']:<20} {size}  {distances:<9}  {entry['context']}")
