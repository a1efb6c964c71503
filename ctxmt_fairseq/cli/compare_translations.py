"""Compare translations of one text: paired bootstrap (interval of the difference, share of samples that the
later system wins, p) and approximate randomization (p, which the correction and the stars are of).

With --docids whole documents are resampled, for the sentences of a document are not independent; --unit
sentence resamples sentences as most papers do, and both can be given. Scores are sacrebleu's corpus scores in
either case.

Example: ctxmt compare translations test.fr baseline.hyp context.hyp --docids test.docids --json compared.json
"""

import json
from typing import List


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.comet_options import add_comet_options
    from ctxmt_fairseq.cli.compare import add_common_options
    from ctxmt_fairseq.option_types import seed, whole_number

    parser.add_argument("reference", metavar="REF", help="one sentence per line")
    parser.add_argument(
        "systems", metavar="HYP", nargs="+", help="two or more translations, line by line as REF"
    )
    parser.add_argument("--docids", metavar="FILE", help="document ids, one per line")
    parser.add_argument("--current", metavar="FILE", help="0 or 1 per line: lines marked 0 are left out")
    parser.add_argument("--metric", nargs="+", metavar="NAME",
                        help="bleu, chrf1, chrf2, chrf3, comet (default: bleu chrf2, with --comet comet "
                        "too)")  # fmt: skip
    parser.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    parser.add_argument(
        "--data", metavar="DIR", help="the systems' data folder: --lowercase if its text is lower-cased"
    )
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--unit", nargs="+", metavar="NAME",
                        help="resampled: document, sentence (default: document with --docids)")  # fmt: skip
    parser.add_argument(
        "--samples", type=whole_number(100, 10**7), default=10_000, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    add_common_options(parser)
    add_comet_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.comet_options import comet_scores
    from ctxmt_fairseq.corpora.text_steps import steps_of_language
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.metrics import read_translation
    from ctxmt_fairseq.evaluation.significance import translations as compared
    from ctxmt_fairseq.evaluation.significance.measures import CometMeasure, Measure, measure
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json)
    units = args.unit or ["document" if args.docids else "sentence"]
    models = args.comet + args.quality_estimation
    metrics = list(dict.fromkeys(args.metric or ["bleu", "chrf2", *(["comet"] if models else [])]))
    if ("comet" in metrics) != bool(models) or len(models) > 1:
        raise BadInput("--metric comet: expected one model as --comet or --quality-estimation")
    steps = steps_of_language(args.data, "target")
    lowercase = args.lowercase or steps.lowercase
    measures: List[Measure] = [measure(name, args.tokenize, lowercase) for name in metrics if name != "comet"]
    texts = [
        read_translation(path, [args.reference], args.docids, args.current, steps.surface)
        for path in args.systems
    ]
    if models:
        measures.append(
            CometMeasure([score for (score,) in comet_scores(args, args.systems, args.reference)])
        )
    comparisons = compared.compare_translations(
        args.systems, texts, measures, list(dict.fromkeys(units)), args.samples, args.seed, args.all_pairs
    )
    print(compared.comparison_table(comparisons))
    ratios = {name: compared.length_ratio(text) for name, text in zip(args.systems, texts, strict=True)}
    shown = [f"{name} {'-' if ratio is None else format(ratio, '.3f')}" for name, ratio in ratios.items()]
    print(f"\nlength ratio: {', '.join(shown)}")
    print(f"{args.samples} samples, seed {args.seed}")
    for each in measures:
        print(f"{each.name}: {each.signature}")
    records = {
        "comparisons": [comparison.as_dict() for comparison in comparisons],
        "length_ratio": ratios,
        "samples": args.samples,
        "seed": args.seed,
        "signatures": {each.name: each.signature for each in measures},
        "made_by": made_by(args),
    }
    write_files([(args.json, json.dumps(records, indent=2) + "\n")])
