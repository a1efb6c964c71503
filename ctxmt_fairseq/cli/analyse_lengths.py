"""Scores by the length of the source sentence: are long sentences translated worse, and by which system?

The corpus score of each bucket of lengths (white-space words), with the 95 % band of a bootstrap over its
sentences, for every translation (Voita et al. 2018, figure 4).

Example: ctxmt analyse lengths test.en test.fr baseline.hyp context.hyp --edges 5 10 20 --output lengths.png
"""

from typing import Any


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import positive_int, seed, whole_number

    parser.add_argument("source", metavar="SRC", help="the sentences that were translated, one per line")
    parser.add_argument("reference", metavar="REF", help="line by line as SRC")
    parser.add_argument("systems", metavar="HYP", nargs="+", help="translations, line by line as SRC")
    parser.add_argument("--edges", nargs="+", type=positive_int, default=[10, 20, 30, 40, 50], metavar="N",
                        help="the last length of each bucket (default: 10 20 30 40 50)")  # fmt: skip
    parser.add_argument("--current", metavar="FILE", help="0 or 1 per line: lines marked 0 are left out")
    parser.add_argument("--metric", default="bleu", metavar="NAME",
                        help="bleu, chrf1, chrf2, chrf3 (default: %(default)s)")  # fmt: skip
    parser.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--samples", type=whole_number(100, 10**6), default=1000, metavar="N",
                        help="of the bootstrap (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the scores there too")
    parser.add_argument("--output", metavar="FILE.png", help="the picture; FILE.csv has its numbers")


def run(args) -> None:
    import json

    from ctxmt_fairseq.analysis import length_curve as curve
    from ctxmt_fairseq.analysis.map_files import check_optional_picture
    from ctxmt_fairseq.evaluation.metrics import read_translation
    from ctxmt_fairseq.evaluation.significance.measures import measure
    from ctxmt_fairseq.files import write_files
    from ctxmt_fairseq.plots.charts import chart
    from ctxmt_fairseq.provenance import made_by
    from ctxmt_fairseq.tables import csv_text

    picture = check_optional_picture(args.output, (".csv",), [args.json])
    metric = measure(args.metric, args.tokenize, args.lowercase)
    texts = [
        read_translation(path, [args.reference, args.source], current=args.current) for path in args.systems
    ]
    sources = texts[0].references[1]
    found = curve.length_curve(sources, args.systems, texts, metric, args.edges, args.samples, args.seed)
    print(curve.length_table(found))
    print(f"\n{args.metric}: {metric.signature}; {args.samples} samples, seed {args.seed}")
    records = [one._asdict() for one in found if one.sentences]
    report = {"metric": args.metric, "signature": metric.signature, "samples": args.samples,
              "seed": args.seed, "buckets": records, "made_by": made_by(args)}  # fmt: skip
    outputs: Any = [(args.json, json.dumps(report, indent=2) + "\n")]
    if picture:
        points = curve.length_points(found, args.metric)
        outputs += [
            (picture, chart(points, "words of the source; sentences")),
            (picture.with_suffix(".csv"), csv_text(records)),
        ]
    write_files(outputs)
