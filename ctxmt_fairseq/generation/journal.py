"""Translations made so far, on disk: an interrupted run continues where it was."""

import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO, Dict

from ctxmt_fairseq.drafts import lock_partial, partial_file
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.files import writing

_LONGEST_HEADER = 1000  # bytes: a file that begins with a longer line is no journal


def fingerprint(description: Any) -> str:
    """What a run depends on, as a short text: the same description gives the same text."""
    return hashlib.sha256(json.dumps(description, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Journal:
    """A file of JSON lines beside the output: a header, then one line per translation; a context manager.

    It is locked, so that two runs never write to one output, and appears with its header whole: a file of
    its name that begins otherwise is somebody else's and stays untouched. At the end of the ``with`` it is
    closed, and deleted if it holds no translation or if they are all in the output (``finished``).

    Args:
        output: the output file, no symbolic link; the journal is ``OUTPUT.partial``.
        run: ``fingerprint`` of everything that the translations depend on.
        replace: another run's journal gives way to a new one.
        lines, symbols: the numbers of lines of the input and of symbols of the target dictionary, which a
            translation must not exceed.

    Attributes:
        done: line, from 0 -> ``tokens`` and ``score``.

    Raises:
        BadInput: another run is translating to the output; the file is no journal, or another run's.
    """

    def __init__(self, output: Path, run: str, lines: int, symbols: int, replace: bool = False):
        self.path = partial_file(output)
        self.finished = False
        self.done: Dict[int, Dict[str, Any]] = {}
        self._limits = lines, symbols
        with writing(self.path):
            self._lock = lock_partial(self.path, _line({"run": run}), "ctxmt translate")
            try:
                intact = self._read(run, replace)
                self._stream: BinaryIO = open(self.path, "r+b")
                self._stream.truncate(intact)
                self._stream.seek(intact)
            except BaseException:
                self._lock.close()
                raise

    def _read(self, run: str, replace: bool) -> int:
        """Fill ``done``; returns the length of the intact part: a killed run may leave half a line."""
        header = _line({"run": run})
        with open(self.path, "rb") as stream:
            first = stream.readline(_LONGEST_HEADER)
            if first != header:
                if not _is_header(first):
                    raise BadInput(
                        "holds no translations of ctxmt translate; choose another output", self.path
                    )
                if replace:
                    self.path.write_bytes(header)
                    return len(header)
                raise BadInput(
                    "holds translations of another run (other text, model or options); "
                    "delete it to start anew",
                    self.path,
                )
            intact = len(header)
            for number, line in enumerate(stream, 2):
                if not line.endswith(b"\n"):
                    break
                self._keep(line, number)
                intact += len(line)
        return intact

    def _keep(self, line: bytes, number: int) -> None:
        lines, symbols = self._limits
        try:
            record = json.loads(line)
            at, tokens, score = record.pop("line"), record["tokens"], record["score"]
            right = type(at) is int and 0 <= at < lines and type(score) is float and type(tokens) is list
            right = right and all(type(token) is int and 0 <= token < symbols for token in tokens)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            right = False
        if not right:
            message = "expected a translation of this run; delete the file to start anew"
            raise BadInput(message, self.path, number)
        self.done[at] = record

    def add(self, line: int, **record: Any) -> None:
        """Keep one translation."""
        self.done[line] = record
        with writing(self.path):
            self._stream.write(_line({"line": line, **record}))
            self._stream.flush()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stream.close()
        except OSError:  # the disk is full: said where it happened
            pass
        if self.finished or not self.done:
            self.path.unlink(missing_ok=True)
        self._lock.close()


def _line(record: Dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _is_header(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return line.endswith(b"\n") and isinstance(record, dict) and list(record) == ["run"]
