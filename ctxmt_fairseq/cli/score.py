"""BLEU and chrF1/2/3 of a translation against one or more references, with sacrebleu's signatures; and COMET.

Scores by sentences always; with --docids also BLEU by documents (their sentences joined by spaces). --data
names the system's data folder: where that is lower-cased (ctxmt preprocess --lowercase), case is ignored.

COMET (--comet, --quality-estimation) reads text as it is, the first REF, and --source. Its scores are kept in
HYP.comet.jsonl by content: what has its score is not scored again. With --comet-context the sentences before
each one stand before it in the source, and those of the reference before translation and reference (Vernikos
et al. 2022); without references, those of the translation.

Example: ctxmt score hyp.fr test.fr --docids test.docids --data data-bin --json scores.json
"""

import dataclasses
import json
import sys

TOKENIZED = 100  # lines, as many as sacrebleu waits for


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.comet_options import add_comet_options
    from ctxmt_fairseq.option_types import non_negative_int

    parser.add_argument("hypothesis", metavar="HYP", help="the translation, one sentence per line")
    parser.add_argument("references", metavar="REF", nargs="*", help="references, line by line as HYP")
    parser.add_argument("--docids", metavar="FILE", help="document ids, one per line: adds BLEU by documents")
    parser.add_argument("--current", metavar="FILE", help="0 or 1 per line: lines marked 0 are left out")
    parser.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    parser.add_argument(
        "--data", metavar="DIR", help="the system's data folder: --lowercase if its text is lower-cased"
    )
    parser.add_argument("--lowercase", action="store_true", help="ignore case, in BLEU and in chrF")
    parser.add_argument(
        "--bootstrap",
        metavar="N",
        type=non_negative_int,
        default=0,
        help="95 %% intervals from N samples; the seed, 12345 or SACREBLEU_SEED, is in the signature",
    )
    parser.add_argument("--json", metavar="FILE", help="write the scores there too")
    add_comet_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.comet_options import comet_scores
    from ctxmt_fairseq.corpora.text_steps import steps_of_language
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation import metrics
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    if args.bootstrap == 1:
        raise BadInput(f"expected at least 2 samples for --bootstrap, or 0 for none, found {args.bootstrap}")
    if not args.references and not args.quality_estimation:
        raise BadInput("expected one or more references, or --quality-estimation")
    check_outputs(args.json)
    (comet,) = comet_scores(args, [args.hypothesis], next(iter(args.references), None))
    steps = steps_of_language(args.data, "target")
    translation = metrics.read_translation(
        args.hypothesis, args.references, args.docids, args.current, steps.surface
    )
    lowercase = args.lowercase or steps.lowercase
    scores = []
    if args.references:
        scores = metrics.score_translation(translation, args.tokenize, lowercase, args.bootstrap)
    scores += [one.metric_score() for one in comet]
    print(metrics.score_table(scores))
    empty = metrics.empty_hypotheses(translation)
    print(f"\n{len(translation.hypotheses)} sentences, {empty} of them translated as empty")
    tokenized = metrics.tokenized_lines(translation)
    if args.references and tokenized >= TOKENIZED and args.tokenize != "none":
        print(
            f"ctxmt: {tokenized} translations end with ' .', as tokenized text does; BLEU is for text as "
            "people write it, and --tokenize none for tokens",
            file=sys.stderr,
        )
    found = {**metrics.score_dict(translation, scores), "made_by": made_by(args)}
    if comet:
        found["comet"] = [dataclasses.asdict(one) for one in comet]
    write_files([(args.json, json.dumps(found, indent=2) + "\n")])
