"""The options of every command that runs a model."""

from typing import Any


def add_model_options(parser: Any, selection: bool = True) -> None:
    """``--data``, ``--user-dir``, ``--cpu``, ``--context-store`` and the context options that override the
    checkpoint's.

    Args:
        selection: offer ``--context-selection``.
    """
    from ctxmt_fairseq.cli.option_types import name, names, non_negative_int

    group = parser.add_argument_group("model")
    group.add_argument(
        "--data", type=names, metavar="DIR", help="data folder (default: the one of the training)"
    )
    add_user_dir(group)
    group.add_argument("--cpu", action="store_true", help="do not use a GPU")
    group.add_argument(
        "--source-context", type=non_negative_int, metavar="N", help="previous source sentences"
    )
    group.add_argument(
        "--source-context-after", type=non_negative_int, metavar="N", help="following source sentences"
    )
    group.add_argument(
        "--target-context", type=non_negative_int, metavar="N", help="previous target sentences"
    )
    group.add_argument(
        "--target-context-on-source", type=non_negative_int, metavar="N", help="the same, on the source side"
    )
    if selection:
        group.add_argument("--context-selection", metavar="NAME", help="document, random, empty, absent, ...")
    group.add_argument(
        "--context-store", type=name, metavar="DIR", help="where it is needed (default: DATA/contexts)"
    )
    group.add_argument("--metadata-fields", metavar="NAMES", help="all, none, or names joined by commas")
    group.add_argument("--current-vector", choices=("yes", "no"), help="the current sentence's own vector")


def add_user_dir(parser: Any) -> None:
    """``--user-dir``."""
    from ctxmt_fairseq.cli.option_types import name

    parser.add_argument(
        "--user-dir",
        type=name,
        metavar="DIR",
        help="a folder with Python code of your own: an architecture, a block, a format",
    )


def load_from_options(args: Any, documents_at_once: int = 16) -> Any:
    """A ``Translator`` of the models that the options name, with the command's settings of the search.

    Raises:
        BadInput: see ``Translator.load``.
    """
    from ctxmt_fairseq.cli.search_options import search_options
    from ctxmt_fairseq.tasks.context_options import DEFAULTS, METADATA_DEFAULTS
    from ctxmt_fairseq.translator import Translator

    known = (*DEFAULTS, *METADATA_DEFAULTS, "context_store", "decoding")
    options = {name: value for name in known if (value := getattr(args, name, None)) is not None}
    return Translator.load(
        args.path,
        args.data,
        device="cpu" if args.cpu else None,
        documents_at_once=documents_at_once,
        **search_options(args),
        **options,
    )
