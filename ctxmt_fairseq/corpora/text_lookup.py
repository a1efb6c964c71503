"""Finds a text's row in a store, with a table on disk, so that millions of texts take no memory."""

import hashlib
import sqlite3
from pathlib import Path
from typing import Iterable, Optional, Tuple

_CACHE_KIB = 2**14


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class TextLookup:
    """Finds the numbers of texts that were added, in a new file, which ``close`` deletes. The table is made
    anew whenever it is needed, so nothing of it has to survive."""

    def __init__(self, path: Path):
        self.path = path
        path.unlink(missing_ok=True)
        self._table = sqlite3.connect(path, isolation_level=None)
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
            self._table.execute(f"PRAGMA {setting}")
        self._table.execute("CREATE TABLE texts (key BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
        self._table.execute("BEGIN")

    def get(self, text: str) -> Optional[int]:
        """The number of a text; None: it was not added."""
        found = self._table.execute("SELECT number FROM texts WHERE key = ?", (_key(text),)).fetchone()
        return None if found is None else found[0]

    def add(self, texts: Iterable[Tuple[str, int]]) -> None:
        self._table.executemany(
            "INSERT INTO texts VALUES (?, ?)", ((_key(text), number) for text, number in texts)
        )

    def close(self) -> None:
        self._table.close()
        self.path.unlink(missing_ok=True)
