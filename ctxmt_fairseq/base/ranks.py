"""Several processes that share the work of one command: each does its share, and all know what all have done.

They are started by ``--processes`` on one machine, or by torchrun on several. Alone, a process is the first.
"""

import heapq
import os
import socket
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from typing import IO, Dict, List, Sequence, TypeVar

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.processes import ending_with_this

Key = TypeVar("Key")
Value = TypeVar("Value")
_GRACE = 5.0  # seconds in which the first process may end by itself after another has failed
_sharing = False


def started() -> bool:
    """Whether this process is one of several of the same command."""
    known = {"RANK", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()
    return known and os.environ.get("WORLD_SIZE", "1") != "1"


def begin_sharing() -> None:
    """From now on this process does its share alone."""
    global _sharing
    _sharing = started()


def number() -> int:
    """Which process this is, from 0."""
    return int(os.environ["RANK"]) if _sharing else 0


def count() -> int:
    """How many share the work."""
    return int(os.environ["WORLD_SIZE"]) if _sharing else 1


def own_share(weights: Sequence[float]) -> np.ndarray:
    """Which pieces of work are this process' own: (N,) bool. The heaviest goes first to who has least."""
    loads = [(0.0, rank) for rank in range(count())]
    owner = np.zeros(len(weights), np.int64)
    for piece in np.argsort(-np.asarray(weights, float), kind="stable").tolist():
        load, owner[piece] = loads[0]
        heapq.heapreplace(loads, (load + weights[piece], int(owner[piece])))
    return owner == number()


def united(own: Dict[Key, Value]) -> Dict[Key, Value]:
    """What all processes have, each its own entries; all of them must ask. Waits for the others."""
    if count() == 1:
        return own
    from torch import distributed

    found: List[Dict[Key, Value]] = [{} for _ in range(count())]
    try:
        if not distributed.is_initialized():
            distributed.init_process_group("gloo", timeout=timedelta(days=30))
        distributed.all_gather_object(found, own)
    except RuntimeError:
        raise BadInput("another process of this command has ended") from None
    return {key: value for each in found for key, value in each.items()}


def first_says(value: Value) -> Value:
    """What the first process has; all of them must ask. Waits for the others."""
    return united({number(): value})[0]


def own_file(path: str) -> str:
    """What a process writes in place of a file, which is the first one's."""
    return f"{path}.process{number()}" if number() else path


def run_processes(words: Sequence[str], processes: int) -> int:
    """Run a command in so many processes, of which the first speaks; if one fails, all end.

    Returns:
        the exit code; what a process printed last before it failed is printed, unless the first has spoken.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threads = str(max(1, (os.cpu_count() or 1) // processes))
    common = {"OMP_NUM_THREADS": threads, **os.environ, "WORLD_SIZE": str(processes)}
    common.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
    children: List[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryFile() as said, ending_with_this(children) as ended:
        try:
            for rank in range(processes):
                env = {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}
                null = subprocess.DEVNULL if rank else None
                stderr = said if rank else None
                children.append(subprocess.Popen(words, env=env, stdin=null, stdout=null, stderr=stderr))
            code = _wait(children, said)
        finally:
            for child in children:
                child.kill()
                child.wait()
    return 128 + ended[0] if ended else code


def _wait(children: List["subprocess.Popen[bytes]"], said: IO[bytes]) -> int:
    until = None
    while None in (codes := [child.poll() for child in children]):
        if any(codes):
            until = until or time.monotonic() + _GRACE
            if codes[0] is not None or time.monotonic() > until:
                break
        time.sleep(0.05)
    if not any(codes):
        return 0
    failed = next(code for code in codes if code)
    if not codes[0] or codes[0] < 0:
        said.seek(0)
        last = said.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        print(*last or [f"ctxmt: error: a process ended with {failed}"], file=sys.stderr, flush=True)
    return codes[0] if codes[0] and codes[0] > 0 else failed if failed > 0 else 128 - failed
