"""How much of a window model's attention stays in the current sentence, and how spread out it is.

For concat_transformer, and for transformer on windows. Reads TEXT.SRC, TEXT.TGT (the references, which the
decoder reads) and TEXT.docids, the languages being the model's, and TEXT.current if it is there.

share: of the self-attention that the tokens of the current sentence pay, with its </s>, the part that goes to
the current sentence; mean over heads, layers, tokens, then over the windows that have context. entropy:
-sum a ln a of the weights of all tokens, in nats (focused concatenation, figure 2 and table 5).

Several models are compared with the first, window by window (approximate randomization, Holm's correction).

Example: ctxmt analyse attention-share text/test plain.pt discounted.pt --json shares.json
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import positive_int, seed, whole_number

    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    parser.add_argument("models", metavar="MODEL", nargs="+", help="checkpoints, or NAME=MODEL")
    parser.add_argument("--shuffles", type=whole_number(100, 10**7), default=1000, metavar="N",
                        help="of the tests (default: %(default)s)")  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="per batch (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="means, tests, and the values of every window")
    parser.add_argument("--output", metavar="FILE.png",
                        help="the entropy of every layer and head; FILE.tsv and FILE.json have the numbers"
                        )  # fmt: skip
    add_model_options(parser)


def run(args) -> None:
    from argparse import Namespace

    from ctxmt_fairseq.analysis.map_files import NUMBERS, check_optional_picture, write_map
    from ctxmt_fairseq.analysis.system_names import named_paths
    from ctxmt_fairseq.analysis.window_attention import window_attention
    from ctxmt_fairseq.analysis.window_attention_report import AttentionReport
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
    from ctxmt_fairseq.files import write_files
    from ctxmt_fairseq.provenance import made_by

    named = named_paths(args.models)
    if any(len(set(column)) < len(named) for column in zip(*named, strict=True)):
        raise BadInput("expected different models, with different names")
    check_optional_picture(args.output, NUMBERS, [args.json])
    found = []
    for _, path in named:
        loaded = load_from_options(Namespace(**{**vars(args), "path": path})).loaded
        found.append(window_attention(loaded, read_probed_text(args.text, loaded), args.max_tokens))
    report = AttentionReport([name for name, _ in named], found, args.shuffles, args.seed)
    print(report.table())
    record = {**report.as_dict(), "made_by": made_by(args)}
    write_files([(args.json, json.dumps(record, indent=2) + "\n")])
    if args.output:
        print("", *write_map(args.output, report.map()), sep="\n")
