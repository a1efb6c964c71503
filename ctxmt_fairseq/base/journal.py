"""A locked file in which a run notes line by line what it has done, so that the next run can go on there."""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Callable, Dict

from ctxmt_fairseq.base.drafts import Lock, PathLike, sync_folder
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import regular_file, writing


def fingerprint(description: Any) -> str:
    """A short text for what a run depends on; equal descriptions give equal texts."""
    return hashlib.sha256(json.dumps(description, sort_keys=True, default=str).encode()).hexdigest()[:16]


def json_line(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def partial_file(output: Path) -> Path:
    """``OUTPUT.partial``: the journal of a run that writes its output at the end."""
    return output.with_name(output.name + ".partial")


class Journal:
    """A file that a run adds lines to, and the next run reads; a context manager.

    Two runs never write to one journal. A file that begins otherwise than with the header is another run's or
    somebody else's, and stays as it is. Half a line at the end is of a run that was killed, and is cut off.

    Args:
        path: of the file, which need not be there.
        header: the first line, as JSON: what the other lines depend on.
        keep: called with each line that is there and its number; raises ``BadInput`` for a line that is not
            the journal's.
        replace: whether to overwrite a file that begins otherwise.

    Attributes:
        count: the number of lines after the header.
        finished: whether to delete the file at the end of the ``with``. Without lines it is always deleted.
    """

    def __init__(
        self,
        path: PathLike,
        header: Dict[str, Any],
        keep: Callable[[bytes, int], None] = lambda line, number: None,
        replace: bool = False,
    ):
        self.path, self.count, self.finished = regular_file(path), 0, False
        with writing(self.path):
            self._lock = lock_file(self.path)
            try:
                self._stream = open(self.path, "r+b")
                self._read(json_line(header), keep, replace)
            except BaseException:
                self._lock.close()
                raise

    def _read(self, header: bytes, keep: Callable[[bytes, int], None], replace: bool) -> None:
        end, first = len(header), self._stream.readline(len(header))
        if first != header:
            not_begun = header.startswith(first) and not self._stream.read(1)
            if not not_begun and not replace:
                other = "is of another run (other text, model or options) or somebody else's file"
                raise BadInput(f"{other}; delete it to start anew, or choose another output", self.path)
            self._stream.seek(0)
            self._stream.truncate()
            self._stream.write(header)
        for number, line in enumerate(self._stream, 2):
            if line.endswith(b"\n"):
                keep(line, number)
                self.count, end = self.count + 1, end + len(line)
        self._stream.seek(end)
        self._stream.truncate()

    def add(self, *lines: bytes) -> None:
        """Append lines, each of which ends with its line break."""
        with writing(self.path):
            self._stream.writelines(lines)
            self._stream.flush()
        self.count += len(lines)

    def place(self, output: Path) -> None:
        """Move the file, which must be complete, to the output's place."""
        with writing(output):
            os.fsync(self._stream.fileno())
            os.replace(self.path, output)
            sync_folder(output.parent)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):  # a full disk was reported where it happened
            self._stream.close()
        if (self.finished or not self.count) and self._lock.covers(self.path):
            self.path.unlink()
        self._lock.close()


def lock_file(path: Path) -> Lock:
    """Lock a file, and make it first if it is not there."""
    while True:
        path.touch()
        try:
            lock = Lock(path)
        except BlockingIOError:
            raise BadInput("another ctxmt is writing to it", path) from None
        except FileNotFoundError:
            continue
        if lock.covers(path):
            return lock
        lock.close()  # the other run has ended meanwhile, and has deleted or moved its file
