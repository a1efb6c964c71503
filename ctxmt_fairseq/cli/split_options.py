"""The options that name the text of each split."""

from typing import Any, Dict


def add_split_options(parser: Any) -> None:
    """``--train``, ``--valid`` and ``--test``."""
    parser.add_argument("--train", metavar="PREFIX", help="training text")
    parser.add_argument("--valid", metavar="PREFIX[,PREFIX..]", default="", help="validation text")
    parser.add_argument("--test", metavar="PREFIX[,PREFIX..]", default="", help="test text")


def splits_of(args: Any) -> Dict[str, str]:
    """fairseq's split names (train, valid, valid1, ..) to prefixes."""
    splits = {"train": args.train} if args.train else {}
    for name, prefixes in (("valid", args.valid), ("test", args.test)):
        for number, prefix in enumerate(filter(None, prefixes.split(","))):
            splits[f"{name}{number or ''}"] = prefix
    return splits
