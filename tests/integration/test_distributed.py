"""Two worker processes train as one with twice the batch, and measure contrastive sets as one."""

import json
import re
import shlex
import socket

from ctxmt_fairseq import Translator
from tests.integration.commands import TASK, TINY, TRAINING, command, losses, run

UPDATES = 50


def test_two_workers_equal_one_with_update_freq_2(corpus, data, tmp_path):
    sets = [corpus / "demo/contrastive" / name for name in ("pronoun-distance-1", "lexical-choice.json")]
    validation = (
        *("--valid-subset", "test1", "--ignore-unused-valid-subsets", "--validate-interval", 1000),
        *("--valid-contrast", ":".join(map(str, sets)), "--save-dir", tmp_path, "--no-epoch-checkpoints"),
        *("--best-checkpoint-metric", "contrast_accuracy", "--maximize-best-checkpoint-metric"),
    )
    training = (
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, "--arch", "concat_transformer"),
        *("--source-context", 1, "--target-context", 1, "--segment-positions", "shift", "--dropout", 0),
        *("--train-subset", "valid", "--max-tokens", 200, "--max-update", UPDATES),
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    distributed = (
        *("--distributed-world-size", 2, "--distributed-no-spawn", "--distributed-init-method", "env://"),
        *("--distributed-backend", "gloo", "--ddp-backend", "legacy_ddp"),
    )

    def two_workers(*more):
        words = command(*training, *validation, *distributed, *more)
        worker = shlex.join(words) + " --distributed-rank $RANK"
        return run(
            "torchrun", "--nproc_per_node", 2, "--master_port", port, "--no-python", "bash", "-c", worker
        )

    two = two_workers()
    one = run(*training, "--update-freq", 2, "--disable-validation", "--no-save")
    expected, found = losses(one.stdout), losses(two.stdout + two.stderr)
    assert list(expected) == list(found) == list(range(1, UPDATES + 1))
    for update in expected:
        assert abs(float(found[update][0]) - float(expected[update][0])) < 1e-3 + 1e-9, update
    assert float(expected[UPDATES][0]) < float(expected[1][0]) - 1

    # The second process has no batch of this validation, but half of the examples.
    (logged,) = re.findall(r"\| test1 \| (\{.*\})", two.stdout + two.stderr)
    logged = {name: float(value) for name, value in json.loads(logged).items()}
    model = Translator.load(tmp_path / "checkpoint_best.pt", device="cpu")
    reports = [model.contrast(path).chosen for path in sets]
    for path, report in zip(sets, reports, strict=True):
        assert logged[f"test1_contrast_accuracy_{path.stem}"] == round(report["accuracy"], 2)
    right, examples = (sum(report[name] for report in reports) for name in ("correct", "examples"))
    assert logged["test1_contrast_accuracy"] == round(100 * right / examples, 2)

    # Both go on from the checkpoint, which the first one reads.
    on = two_workers("--max-update", UPDATES + 2, "--disable-validation")
    assert [*losses(on.stdout + on.stderr)] == [UPDATES + 1, UPDATES + 2]
