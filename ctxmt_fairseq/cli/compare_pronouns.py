"""Scores of the sentences whose pronouns refer to something in the sentences before (Voita et al. 2018,
tables 3 to 5): by pronoun; by pronoun whose antecedent is more than a pronoun; and of these, with --alignment
and --annotation, by the gender and number of the pronoun's translation. Systems are compared with the first:
approximate randomization over sentences, Holm's correction.

--coreference has a JSON line for each pronoun; lines count from 1, places are characters of SRC's lines:
  {"line": 7, "pronoun": [0, 2], "source": "corenlp",
   "antecedent": {"line": 6, "span": [12, 20], "nominal": true}}       (or null)
--alignment has pairs i-j for each line, white-space words of SRC and REF counted from 0; --annotation a line
{"words": [{"text", "start", "end", "pos", "gender", "number"}]} for each line of REF. ctxmt corpus align and
ctxmt corpus annotate make them; files of other tools do as well.

Example: ctxmt compare pronouns test.en test.fr baseline.hyp context.hyp --coreference test.coref.jsonl
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import positive_int, seed, whole_number

    parser.add_argument("source", metavar="SRC", help="one sentence per line")
    parser.add_argument("reference", metavar="REF", help="line by line as SRC")
    parser.add_argument("systems", metavar="HYP", nargs="+", help="translations, line by line as SRC")
    parser.add_argument("--coreference", required=True, metavar="FILE", help="pronouns and antecedents")
    parser.add_argument("--coreference-source", metavar="NAME",
                        help="which source's (default: the only one)")  # fmt: skip
    parser.add_argument("--alignment", metavar="FILE", help="words of SRC and REF that translate each other")
    parser.add_argument("--annotation", metavar="FILE", help="gender and number of REF's words")
    parser.add_argument("--least", type=positive_int, default=1, metavar="N",
                        help="sentences of a subset that is shown (default: %(default)s)")  # fmt: skip
    parser.add_argument("--metric", default="bleu", metavar="NAME",
                        help="bleu, chrf1, chrf2, chrf3 (default: %(default)s)")  # fmt: skip
    parser.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument(
        "--samples", type=whole_number(100, 10**7), default=10_000, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the scores there too")


def run(args) -> None:
    from ctxmt_fairseq.data.alignment import read_alignment
    from ctxmt_fairseq.data.annotation import read_annotation
    from ctxmt_fairseq.data.coreference import read_coreference
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.metrics import read_translation
    from ctxmt_fairseq.evaluation.significance import subsets as compared
    from ctxmt_fairseq.evaluation.significance.measures import measure
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json)
    if (args.alignment is None) != (args.annotation is None):
        raise BadInput("expected --alignment and --annotation, which belong together")
    metric = measure(args.metric, args.tokenize, args.lowercase)
    texts = [read_translation(path, [args.reference, args.source]) for path in args.systems]
    targets, sources = texts[0].references
    references = read_coreference(args.coreference, sources)
    names = list(dict.fromkeys(reference.source for reference in references))
    chosen = args.coreference_source or names[0]
    if chosen not in names or (args.coreference_source is None and len(names) > 1):
        raise BadInput(
            f"--coreference-source: expected one of the sources {', '.join(names)}", args.coreference
        )
    references = [reference for reference in references if reference.source == chosen]
    kinds = []
    if args.alignment:
        pairs = read_alignment(args.alignment, sources, targets)
        words = read_annotation(args.annotation, targets)
        kinds = [
            compared.translated_as(
                one, sources[one.line], targets[one.line], pairs[one.line], words[one.line]
            )
            for one in references
        ]
    subsets = [
        subset for subset in compared.pronoun_subsets(references, kinds) if len(subset.lines) >= args.least
    ]
    if not subsets:
        raise BadInput(
            "expected pronouns with an antecedent in an earlier line, found none", args.coreference
        )
    found = compared.compare_subsets(args.systems, texts, subsets, metric, args.samples, args.seed)
    print(compared.subsets_table(args.systems, found))
    print(f"\n{args.metric}: {metric.signature}; {args.samples} samples, seed {args.seed}")
    record = {
        "metric": args.metric,
        "signature": metric.signature,
        "samples": args.samples,
        "seed": args.seed,
        "subsets": compared.subset_records(args.systems, found),
        "made_by": made_by(args),
    }
    write_files([(args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n")])
