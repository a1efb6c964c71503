"""Memory of trained models against the size of their context, on documents (sequence shortening, figure 4).

Reads TEXT.SRC, TEXT.TGT and TEXT.docids, the languages being the models', and translates sentences of it one
by one, each with 1, 2, .. previous sentences: also more than in training. What is shown is the peak of the
memory beyond the model itself, the mean over the same sentences for all. ctxmt benchmark memory measures
untrained models of the paper's sizes.

Example: ctxmt analyse memory text/test tokens=caching.pt group=group.pt --sizes 1 5 10 20 --output memory.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.chart_options import add_output_options
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.search_options import add_search_options
    from ctxmt_fairseq.option_types import non_negative_int, positive_int

    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    parser.add_argument("models", metavar="MODEL", nargs="+", help="checkpoints, or NAME=MODEL")
    parser.add_argument("--sizes", nargs="+", type=non_negative_int, default=[1, 2, 3, 5, 10], metavar="N",
                        help="sentences of context (default: 1 2 3 5 10)")  # fmt: skip
    parser.add_argument("--sentences", type=positive_int, default=20, metavar="N",
                        help="that are translated, evenly spread (default: %(default)s)")  # fmt: skip
    parser.add_argument("--attention", choices=("plain", "fused"), default="plain",
                        help="plain makes whole matrices of weights, as the paper's code did "
                        "(default: %(default)s)")  # fmt: skip
    add_search_options(parser, ("beam", "max_len_a", "max_len_b"))
    add_output_options(parser)
    add_model_options(parser)


def run(args) -> None:
    from argparse import Namespace

    from ctxmt_fairseq.analysis.system_names import named_paths
    from ctxmt_fairseq.benchmark import document_memory as memory
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.cli.search_options import search_options
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
    from ctxmt_fairseq.search.search_settings import SearchSettings

    check_chart_outputs(args)
    models = named_paths(args.models)
    if len({name for name, _ in models}) < len(models):
        raise BadInput("expected models of different names")
    sizes, search, found, count = sorted(set(args.sizes)), SearchSettings(**search_options(args)), {}, 0
    for name, path in models:
        loaded = load_from_options(Namespace(**{**vars(args), "path": path})).loaded
        text = read_probed_text(args.text, loaded)
        lines = memory.lines_with_context(text, sizes[-1], args.sentences)
        count = len(lines)
        found[name] = memory.document_memory(loaded, text, sizes, lines, search, args.attention)
    print(memory.memory_table(found))
    print(
        f"\npeak memory beyond the model, {args.attention} attention; mean ± deviation of {count} sentences"
    )
    record = {
        "sentences": count,
        "attention": args.attention,
        "models": [
            {"name": name, "parameters": each.parameters, "peaks": each.peaks} for name, each in found.items()
        ],
    }
    write_chart(args, memory.memory_points(found, count), "context sentences", record)
