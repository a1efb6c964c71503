"""The options of commands that look at a model's attention to the context of a whole text."""

from typing import Any


def add_text_attention_options(parser: Any, side: bool = True) -> None:
    """The model, the text, whose attention is looked at, and the model's options.

    Args:
        side: offer ``--side``.
    """
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument("path", metavar="MODEL", help="a checkpoint")
    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    if side:
        parser.add_argument("--side", choices=("encoder", "decoder"),
                            help="whose attention (default: the encoder's, if it looks at context)"
                            )  # fmt: skip
    parser.add_argument("--layer", type=positive_int, metavar="N",
                        help="from 1 (default: the last that attends to context)")  # fmt: skip
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="per batch (default: %(default)s)")  # fmt: skip
    add_model_options(parser)


def attention_of_text(args: Any) -> Any:
    """The loaded model, the text, and the attention of its sentences, one after the other.

    Raises:
        BadInput: see ``attended_sentences``.
    """
    from ctxmt_fairseq.analysis.text_attention import attended_sentences
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text

    loaded = load_from_options(args).loaded
    text = read_probed_text(args.text, loaded)
    return loaded, text, attended_sentences(loaded, text, args.side, args.layer, args.max_tokens)
