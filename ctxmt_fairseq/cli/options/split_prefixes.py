"""The text of each split."""

from typing import Dict, Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.paths import Prefix


class Splits(OptionGroup):
    """Prefixes of training, validation and test text."""

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
