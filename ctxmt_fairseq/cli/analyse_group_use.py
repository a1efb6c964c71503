"""How the latent groups of a model are used over a text: how many of them, and by which tokens.

For a caching_transformer with --shortening group or select (sequence shortening, section 5.4). The table has
for words, punctuation and </s> the mean weight of a token in each group (group), or the part of each group's
weight (select); and the sentences that use the group. With --annotation words are told apart by their part of
speech: a JSON line for each sentence, whose places are characters:
  {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN"}, ...]}
ctxmt corpus annotate makes it.

Example: ctxmt analyse group-use checkpoint_best.pt test.en --annotation test.en.jsonl --output use.png
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import number, positive_int

    parser.add_argument("path", metavar="MODEL", help="a checkpoint")
    parser.add_argument("text", metavar="FILE", help="source sentences, one per line")
    parser.add_argument("--annotation", metavar="FILE", help="parts of speech, a JSON line per sentence")
    parser.add_argument("--least", type=number(0, 1), default=0.0, metavar="X",
                        help="a token with a weight above X uses a group (default: 0)")  # fmt: skip
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="per batch (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument(
        "--output", metavar="FILE.png", help="the picture; FILE.tsv and FILE.json have the numbers"
    )
    add_model_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.analysis.group_use import group_use
    from ctxmt_fairseq.analysis.map_files import NUMBERS, check_optional_picture, write_map
    from ctxmt_fairseq.cli.sentence_options import load_one_model
    from ctxmt_fairseq.data.annotation import read_annotation
    from ctxmt_fairseq.data.text_lines import read_sentences
    from ctxmt_fairseq.files import write_files
    from ctxmt_fairseq.provenance import made_by

    check_optional_picture(args.output, NUMBERS, [args.json])
    sentences = read_sentences(args.text)
    annotation = read_annotation(args.annotation, sentences) if args.annotation else None
    found = group_use(load_one_model(args), sentences, annotation, args.least, args.max_tokens)
    print(found.table(), "", found.summary, sep="\n")
    numbers = {**found.map().as_dict(), **found.as_dict(), "made_by": made_by(args)}
    write_files([(args.json, json.dumps(numbers, indent=2, ensure_ascii=False) + "\n")])
    if args.output:
        print("", *write_map(args.output, found.map(), found.as_dict(), annotate=True), sep="\n")
