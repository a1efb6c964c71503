"""Translations made so far, on disk: an interrupted run continues where it was."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, Optional

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.errors import BadInput


def fingerprint(description: Any) -> str:
    """What a run depends on, as a short text: the same description gives the same text."""
    return hashlib.sha256(json.dumps(description, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Journal:
    """A file of JSON lines beside the output: a header, then one line per translation.

    Args:
        output: the output file; the journal is ``OUTPUT.partial``.
        run: ``fingerprint`` of everything that the translations depend on.

    Raises:
        BadInput: a journal of another run is there.
    """

    def __init__(self, output: PathLike, run: str):
        self.output = Path(output)
        self.path = self.output.with_name(self.output.name + ".partial")
        self.done: Dict[int, Dict[str, Any]] = {}
        intact = self._read(run) if self.path.exists() else 0
        self._stream = open(self.path, "r+b" if intact else "wb")
        self._stream.truncate(intact)
        self._stream.seek(intact)
        if not intact:
            self._append({"run": run})

    def _read(self, run: str) -> int:
        """Fill ``done``; returns the length of the intact part: a killed run may leave half a line."""
        intact = 0
        with open(self.path, "rb") as stream:
            for number, line in enumerate(stream):
                whole = line.endswith(b"\n")
                try:
                    record = json.loads(line) if whole else None
                except ValueError:
                    record = None
                if number == 0 and whole and record != {"run": run}:
                    raise BadInput(
                        "holds translations of another run (other text, model or options); "
                        "delete it to start anew",
                        self.path,
                    )
                if record is None:
                    break
                if number:
                    self.done[record.pop("line")] = record
                intact += len(line)
        return intact

    def add(self, line: int, **record: Any) -> None:
        """Keep one translation."""
        self.done[line] = record
        self._append({"line": line, **record})

    def _append(self, record: Dict[str, Any]) -> None:
        self._stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        self._stream.flush()

    def finish(self, text: Optional[str]) -> None:
        """Write the output whole, then forget the journal."""
        self._stream.close()
        temporary = self.output.with_name(self.output.name + ".tmp")
        temporary.write_text(text or "", encoding="utf-8")
        os.replace(temporary, self.output)
        self.path.unlink()
