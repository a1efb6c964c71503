"""What a corpus is like: documents, sentences a document, words, subwords, lengths.

--data names a data folder of "ctxmt preprocess", whose subwords are counted; the histograms, and the shares
of sentences that are longer than L, are then of subwords, else of words. A corpus without document ids counts
as documents of one sentence. Nothing but the files that are asked for is written.

Example: ctxmt corpus stats text/train --source-lang en --target-lang de --data data-bin --json train.json \\
             --longer-than 50 100 --lengths train-lengths.tsv --plot train-lengths.png
"""

import json
from typing import Any, Dict, List

from ctxmt_fairseq.analysis.map_files import check_optional_picture
from ctxmt_fairseq.corpora.data_folder import read_description
from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.statistics import Encode, measure, picture
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.files import write_files
from ctxmt_fairseq.option_types import non_negative_int
from ctxmt_fairseq.tables import records_table


def add_arguments(parser: Any) -> None:
    options.add_report_options(parser)
    parser.add_argument("--data", metavar="DIR", help="a data folder, for its subwords")
    parser.add_argument("--longer-than", type=non_negative_int, nargs="+", default=[100], metavar="L",
                        help="print the share of longer sentences (default: 100)")  # fmt: skip
    parser.add_argument("--lengths", metavar="FILE.tsv", help="histograms: length, sentences, documents")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the histograms")


def run(args: Any) -> None:
    languages = [args.source_lang, args.target_lang]
    check_optional_picture(args.plot, (), [args.json, args.lengths])
    encode: List[Encode] = []
    if args.data:
        known = {read_description(args.data)[f"{side}_lang"] for side in ("source", "target")}
        if set(languages) != known:
            expected, found = (" and ".join(sorted(names)) for names in (languages, known))
            raise BadInput(f"expected {expected}, found {found}", args.data)
        encode = [Subwords.load(args.data, language).encode_all for language in languages]
    statistics = measure(options.text_files(args, ids_optional=True), encode)
    record = statistics.as_dict(languages, args.longer_than)
    print(_report(record, "subwords" if encode else "words"))
    write_files(
        [
            (args.json, json.dumps(record, indent=2) + "\n"),
            (args.lengths, statistics.histogram(languages)),
            (args.plot, picture(statistics, languages) if args.plot else b""),
        ]
    )


def _report(record: Dict[str, Any], unit: str) -> str:
    """What is printed; ``unit`` of the lengths that sentences are longer than."""
    sentences = f"{record['sentences']} sentences ({record['context_only']} of them context only)"
    alone = record["documents of one sentence"]
    counts = [("sentences a document", record["sentences a document"])]
    for language, side in record["sides"].items():
        counts += [(f"{language}: {kind}", side[kind]) for kind in ("words", "subwords") if kind in side]
    columns = {"": "{name}", "total": "{total}", "mean": "{mean:.2f}", "median": "{median}", "max": "{max}"}
    table = records_table([{"name": name, **count} for name, count in counts], columns)
    lines = [f"{sentences} in {record['documents']} documents ({alone} of one sentence)", "", table, ""]
    for language, side in record["sides"].items():
        for length, share in side["longer"].items():
            lines.append(f"{language}: {share:.2%} of the sentences have more than {length} {unit}")
        lines.append(f"{language}: {side['empty']} empty sentences")
    return "\n".join(lines)
