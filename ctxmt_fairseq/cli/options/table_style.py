"""How tables are printed."""

from contextlib import ExitStack
from typing import Literal

from ctxmt_fairseq.base.command import OptionGroup, option


class TableStyle(OptionGroup):
    table: Literal["text", "markdown", "latex", "csv"] = option(
        "how tables are printed; latex needs the package booktabs", "text"
    )

    def begin(self, end: ExitStack) -> None:
        from ctxmt_fairseq.base.tables import STYLE

        STYLE.set(self.table)
