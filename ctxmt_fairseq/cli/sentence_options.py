"""The options of analyses that look at one sentence and draw a map."""

from typing import Any


def add_sentence_options(parser: Any) -> None:
    """``--sentence`` and ``--context``, or ``--document`` and ``--line``; and the model's options."""
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument("path", metavar="MODEL", help="a checkpoint")
    text = parser.add_argument_group("text: --sentence or --document")
    text.add_argument("--sentence", metavar="TEXT", help="a source sentence")
    text.add_argument(
        "--context",
        metavar="TEXT",
        action="append",
        help="a source sentence before it; repeated for more, farthest first",
    )
    text.add_argument(
        "--metadata",
        metavar="TEXT",
        action="append",
        help="what else is known (models of the task metadata_context); repeated for more",
    )
    text.add_argument("--document", metavar="FILE", help="source text, blank lines between documents")
    text.add_argument(
        "--line", type=positive_int, metavar="N", help="of FILE, from 1 (default: its last sentence)"
    )
    parser.add_argument(
        "--output",
        metavar="FILE.png",
        default=f"{parser.prog.split()[-1]}.png",
        help="the picture; FILE.tsv and FILE.json beside it have the numbers (default: %(default)s)",
    )
    add_model_options(parser)


def read_sentence(args: Any) -> Any:
    """The passage that the options describe.

    Raises:
        BadInput: not exactly one of ``--sentence`` and ``--document``, options of the other, or no sentence.
    """
    from dataclasses import replace

    from ctxmt_fairseq.analysis.passage import given_passage, read_passage
    from ctxmt_fairseq.errors import BadInput

    known = {f"prompt {n}": text for n, text in enumerate(args.metadata or (), 1)}
    if (args.sentence is None) == (args.document is None):
        raise BadInput("expected either --sentence or --document")
    if args.document is None:
        if args.line is not None:
            raise BadInput("--line: expected --document")
        return replace(given_passage(args.sentence, args.context or ()), metadata=known)
    if args.context:
        raise BadInput("--context: expected --sentence; of a document, the lines before are the context")
    return replace(read_passage(args.document, args.line), metadata=known)


def load_one_model(args: Any) -> Any:
    """The model that the options name.

    Raises:
        BadInput: several of them; metadata for a model that reads none; or see ``Translator.load``.
    """
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.errors import BadInput

    loaded = load_from_options(args).loaded
    if len(loaded.models) > 1:
        raise BadInput(f"expected one checkpoint, found {len(loaded.models)}")
    if getattr(args, "metadata", None) and not loaded.reads_metadata:
        raise BadInput("--metadata: expected a model of the task metadata_context")
    return loaded
