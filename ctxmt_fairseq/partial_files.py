"""What a run has done so far, in a file beside its output, so that the next run goes on there."""

import os
from pathlib import Path

from ctxmt_fairseq.drafts import Draft, Lock, draft_file
from ctxmt_fairseq.errors import BadInput


def partial_file(output: Path) -> Path:
    """``OUTPUT.partial``."""
    return output.with_name(output.name + ".partial")


def lock_partial(path: Path, header: bytes, command: str) -> Lock:
    """Lock the file that is there, whatever it holds, or a new one, which appears with its header whole.

    Args:
        command: of which two must not write to one output, for the message.

    Raises:
        BadInput: another run holds it, or it is a folder, a pipe or a device.
    """
    while True:
        if path.exists() and not path.is_file():
            raise BadInput("expected no folder, pipe or device of this name", path)
        try:
            lock = Lock(path)
        except BlockingIOError:
            raise BadInput(f"another {command} is writing to this output", path) from None
        except FileNotFoundError:
            with draft_file(path) as draft:
                draft.path.write_bytes(header)
                _appear(draft)
            continue
        if lock.covers(path):
            return lock
        lock.close()  # the other run has ended meanwhile, and its file is deleted or in its place


def _appear(draft: Draft) -> None:
    """Put a draft in its place if nothing is there."""
    try:
        os.link(draft.path, draft.target)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        draft.place()
