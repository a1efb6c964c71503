"""The options of every command that runs a model."""

from typing import Any


def add_model_options(parser: Any, selection: bool = True) -> None:
    """``--data``, ``--user-dir``, ``--cpu``, ``--context-store`` and the context options that override the
    checkpoint's.

    Args:
        selection: offer ``--context-selection``.
    """
    from ctxmt_fairseq.data.context_options import ALL, flag
    from ctxmt_fairseq.option_types import name, names, non_negative_int

    group = parser.add_argument_group("model")
    group.add_argument(
        "--data", type=names, metavar="DIR", help="data folder (default: the one of the training)"
    )
    add_user_dir(group)
    group.add_argument("--cpu", action="store_true", help="do not use a GPU")
    for option, each in ALL.items():
        offered = each.metadata["offered"] and not each.metadata["training"]
        if offered and (selection or option != "context_selection"):
            kind = non_negative_int if each.type is int else str
            group.add_argument(flag(option), type=kind, help=each.metadata["help"])
    group.add_argument(
        "--context-store", type=name, metavar="DIR", help="where it is needed (default: DATA/contexts)"
    )


def add_user_dir(parser: Any) -> None:
    """``--user-dir``."""
    from ctxmt_fairseq.option_types import name

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
    from ctxmt_fairseq.data.context_options import ALL
    from ctxmt_fairseq.translator import Translator

    known = (*ALL, "context_store", "decoding")
    options = {name: value for name in known if (value := getattr(args, name, None)) is not None}
    return Translator.load(
        args.path,
        args.data,
        device="cpu" if args.cpu else None,
        documents_at_once=documents_at_once,
        **search_options(args),
        **options,
    )
