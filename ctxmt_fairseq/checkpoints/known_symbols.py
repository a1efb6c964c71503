"""Tells which symbols a checkpoint's embeddings belong to, as far as that is known.

fairseq saves embeddings without their symbols, and a file that a checkpoint names is never opened. Therefore
a data folder says which dictionaries it was given, and checkpoints of this plugin's tasks say which they
have.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput

_REMEDY = (
    "make the data folder with the dictionary of the checkpoint (ctxmt preprocess --like its data folder, "
    "or --dict)"
)


class KnownSymbols(NamedTuple):
    """The symbols of one side's dictionary by their numbers, and its file.

    Attributes:
        given: how many of the first are from a dictionary that the data folder was given, or that
            fairseq-preprocess made; None: they are from the folder's own text.
    """

    symbols: Sequence[str]
    given: Optional[int]
    file: Path

    def beyond(self, rows: int, digest: Any, ours: bool) -> Sequence[str]:
        """The symbols that follow those of a checkpoint, which has embeddings for the first ``rows``, and
        perhaps their ``symbols_digest``. If it is ``ours``, trained with one of this plugin's tasks, it may
        be from this very data folder, whose symbols are from its own text. A dictionary that does not begin
        with its symbols is refused, and one of which nothing says that it does."""
        whole = len(self.symbols)
        if digest is not None:
            known = digest == symbols_digest(self.symbols[:rows])
        else:
            known = rows == self.given or (rows == whole and (ours or self.given is not None))
        if not known or rows > whole:
            found = "other symbols than" if digest is not None else f"{rows} symbols, maybe other ones than"
            raise BadInput(f"the checkpoint has {found} the {whole} in {self.file}: {_REMEDY}")
        return self.symbols[rows:]


def symbols_digest(symbols: Sequence[str]) -> str:
    """SHA-256 of symbols in their order; no symbol has a newline."""
    return hashlib.sha256("\n".join(symbols).encode()).hexdigest()
