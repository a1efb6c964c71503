"""The text of each split, and text to learn an alignment of words from."""

from typing import Any, Dict, Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.paths import Input, Prefix

_BOTH_SIDES: Any = {"action": "append", "nargs": 2, "metavar": ("SRC", "TGT")}
FURTHER: Any = option("further text to learn the alignment from; may be repeated", [], Input, **_BOTH_SIDES)


class Splits(OptionGroup):
    train: Optional[Prefix] = option("training text")
    valid: Optional[Prefix] = option("validation text", metavar="PREFIX[,PREFIX..]")
    test: Optional[Prefix] = option("test text", metavar="PREFIX[,PREFIX..]")

    def prefixes(self) -> Dict[str, str]:
        """fairseq's names of the splits (train, valid, valid1, ..) to prefixes."""
        found: Dict[str, str] = {"train": self.train} if self.train else {}
        for name, prefixes in (("valid", self.valid), ("test", self.test)):
            for number, prefix in enumerate(filter(None, (prefixes or "").split(","))):
                found[f"{name}{number or ''}"] = prefix
        return found
