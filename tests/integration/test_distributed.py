"""Two worker processes train as one with twice the batch."""

import shlex
import socket

from tests.integration.commands import TASK, TINY, TRAINING, command, losses, run

UPDATES = 50


def test_two_workers_equal_one_with_update_freq_2(data, tmp_path):
    training = (
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, "--arch", "concat_transformer"),
        *("--source-context", 1, "--target-context", 1, "--segment-positions", "shift", "--dropout", 0),
        *("--train-subset", "valid", "--disable-validation", "--max-tokens", 200, "--max-update", UPDATES),
        "--no-save",
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    distributed = (
        *("--distributed-world-size", 2, "--distributed-no-spawn", "--distributed-init-method", "env://"),
        *("--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp"),
    )
    worker = shlex.join(command(*training, *distributed)) + " --distributed-rank $RANK"
    two = run(
        *("torchrun", "--nproc_per_node", 2, "--master_port", port, "--no-python", "bash", "-c", worker)
    )
    one = run(*training, "--update-freq", 2)
    expected, found = losses(one.stdout), losses(two.stdout + two.stderr)
    assert list(expected) == list(found) == list(range(1, UPDATES + 1))
    for update in expected:
        assert abs(float(found[update][0]) - float(expected[update][0])) < 1e-3 + 1e-9, update
    assert float(expected[UPDATES][0]) < float(expected[1][0]) - 1
