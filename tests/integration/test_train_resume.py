"""Killed and resumed training continues exactly as if nothing had happened."""

import itertools
import json
import os
import random
import re
import shutil
import signal

import pytest
import torch

from ctxmt_fairseq.checkpoints.reading import FAST_PATH
from tests.helpers import forked
from tests.integration.commands import ENVIRONMENT, TINY, TRAINING, USER_DIR, command, losses, run

UPDATES = 45  # about nine in an epoch

WINDOWS, VECTORS = ("--task", "document_window"), ("--task", "metadata_context")
ROWS = ("--task", "multi_source", "--target-context-on-source", 1)
CACHING = (*ROWS, "--arch", "caching_transformer", *TINY)
MODELS = {
    "windows": (*WINDOWS, "--arch", "concat_transformer", "--segment-positions", "learned", *TINY),
    "highlights": (*WINDOWS, "--arch", "concat_transformer", "--attention-weight", 5, *TINY),
    "amp": (*WINDOWS, "--arch", "concat_transformer", *TINY, "--amp"),
    "gru": (*WINDOWS, "--arch", "context_gru_tiny", "--share-all-embeddings"),
    "vectors": (*VECTORS, "--arch", "mtcue_transformer", "--context-dropout", 0.3, *TINY),
    "gated": (*ROWS, "--arch", "gated_context_transformer", *TINY),
    "dual": (*ROWS, "--arch", "dual_encoder_transformer", "--context-fusion", "hierarchical", *TINY),
    "context encoder": (*ROWS, "--arch", "context_encoder_transformer", *TINY),
    "caching, in runs": (*CACHING, "--shortening", "group", "--batch-runs", 4),
    "margin": (*CACHING, "--criterion", "context_margin"),
    "needs": (
        *(*WINDOWS, "--arch", "transformer", *TINY, "--token-weights", "tags", "--upsample", "pronoun=1.5"),
        *("--criterion", "context_discounted_label_smoothed_cross_entropy"),
    ),
}


def training(corpus, folder, kind, workers):
    data, contexts = corpus
    files = ("--context-store", contexts) if kind == "vectors" else ()
    if kind == "needs":
        data = tagged(data, folder)
    if kind == "highlights":
        files = ("--attention-highlights", marks(data.parent, folder))
    return (
        *("fairseq-train", data, "--user-dir", USER_DIR, *TRAINING, *MODELS[kind], *files),
        *("--source-context", 2, "--target-context", 1, "--num-workers", workers),
        *("--sample-context-size", "--coword-dropout", 0.3, "--dropout", 0.1),
        *("--train-subset", "valid", "--disable-validation", "--max-tokens", 300, "--max-update", UPDATES),
        *("--save-interval-updates", 4, "--save-dir", folder),
    )


def tagged(data, folder):
    """A copy of the data folder with tags of every third line's words."""
    if not (folder / "data").exists():
        shutil.copytree(data, folder / "data")
        words = (data.parent / "demo/valid.fr").read_text().splitlines()
        lines = ([["pronoun"] * (not number % 3)] * len(line.split()) for number, line in enumerate(words))
        (folder / "data/valid.en-fr.tags.jsonl").write_text(
            "".join(json.dumps({"tags": line}) + "\n" for line in lines)
        )
    return folder / "data"


def marks(corpus, folder):
    """Highlights of the first words of all sentences that follow another one."""
    ids = (corpus / "demo/valid.docids").read_text().splitlines()
    words = {"words": [0], "support": {"-1": [0]}}
    lines = [
        {"line": number, "source": words, "target": words}
        for number, (before, own) in enumerate(itertools.pairwise(ids), 2)
        if before == own
    ]
    path = folder / "marks.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def uninterrupted(once, data, contexts):
    """``uninterrupted(kind)``: the folder of a run to the end."""

    def folder_of(kind):
        def build(folder):
            (folder / "log").write_text(run(*training((data, contexts), folder, kind, 0)).stdout)

        return once(f"uninterrupted-{kind}", build)

    return folder_of


def killed(arguments, update):
    """Run until the log shows an update, then kill -9 everything; returns the log."""
    done = forked.run(command(*arguments), None, None, ENVIRONMENT, until=f'"num_updates": "{update}"')
    assert done.returncode == -signal.SIGKILL
    return done.stdout


slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "workers", "truncated"),
    [
        ("windows", 2, True),  # of each task, one that draws the most
        pytest.param("vectors", 2, False, marks=slow),
        ("caching, in runs", 2, False),
        pytest.param("windows", 0, False, marks=slow),
        pytest.param("amp", 0, False, marks=slow),
        pytest.param("gru", 0, False, marks=slow),
        pytest.param("gated", 0, False, marks=slow),
        pytest.param("dual", 0, False, marks=slow),
        pytest.param("context encoder", 0, False, marks=slow),
        pytest.param("margin", 0, False, marks=slow),
        pytest.param("highlights", 0, False, marks=slow),
        pytest.param("needs", 0, False, marks=slow),
    ],
)
def test_resumed_run_equals_uninterrupted_run(
    uninterrupted, data, contexts, tmp_path, kind, workers, truncated
):
    whole = (uninterrupted(kind) / "log").read_text()
    expected = losses(whole)
    assert len(expected) == UPDATES
    third_epoch = int(re.search(r'"epoch": 3, .*?"num_updates": "(\d+)"', whole).group(1))

    arguments = training((data, contexts), tmp_path, kind, workers)
    update = random.Random(workers).randrange(third_epoch + 1, UPDATES - 10)
    before = losses(killed(arguments, update))
    assert update in before and max(before) < UPDATES
    if truncated:
        last = tmp_path / "checkpoint_last.pt"
        os.truncate(last, last.stat().st_size // 2)
    log = run(*arguments).stdout
    after = losses(log)
    assert min(after) > third_epoch - 6 and max(after) == UPDATES
    assert truncated == ("because checkpoint_last.pt does not load" in log)
    for update, values in {**before, **after}.items():
        assert values == expected[update], update

    # The log rounds; equal parameters after the last update are exact. 0.12.2 saves memory as it is, too.
    ours, theirs = (
        torch.load(folder / "checkpoint_last.pt", weights_only=True)["model"]
        for folder in (tmp_path, uninterrupted(kind))
    )
    for name in theirs:
        if FAST_PATH.fullmatch(name) or name.endswith("._float_tensor"):
            continue
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-6)


def test_patience_counts_on(data, tmp_path):
    """Nothing improves: a training that is restarted after each epoch stops where one run does."""
    arguments = (
        *("fairseq-train", data, "--user-dir", USER_DIR, *WINDOWS, "--arch", "transformer", *TINY),
        *("--optimizer", "sgd", "--lr", 1e-12, *TRAINING[8:], "--max-tokens", 2000, "--no-epoch-checkpoints"),
        *("--train-subset", "valid", "--valid-subset", "test2", "--ignore-unused-valid-subsets"),
    )

    def validations(folder, epochs, patience=2):
        limits = ("--max-epoch", epochs, "--patience", patience, "--save-dir", tmp_path / folder)
        log = run(*arguments, *limits).stdout
        stopped = f"hasn't improved for last {patience} runs" in log or "the training had ended" in log
        return log.count("| test2 | {"), stopped

    assert validations("whole", 8) == (3, True)
    parts = [validations("parts", epochs) for epochs in range(1, 6)]
    assert parts == [(1, False), (1, False), (1, True), (0, True), (0, True)]
    assert validations("parts", 4, patience=3) == (1, True)


@slow
def test_the_learning_rate_falls_at_a_plateau_as_in_one_run(data, tmp_path):
    """Nothing improves: fairseq tells the scheduler of a validation after it has saved the checkpoint."""
    arguments = (
        *("fairseq-train", data, "--user-dir", USER_DIR, *WINDOWS, "--arch", "transformer", *TINY, *TRAINING),
        *("--optimizer", "sgd", "--lr-scheduler", "reduce_lr_on_plateau", "--lr", 1e-6, "--lr-patience", 1),
        *("--warmup-updates", 0, "--max-tokens", 9000, "--no-epoch-checkpoints", "--train-subset", "valid"),
        *("--valid-subset", "test2", "--ignore-unused-valid-subsets"),
    )

    def rates(folder, epochs):
        log = run(*arguments, "--max-epoch", epochs, "--save-dir", tmp_path / folder).stdout
        records = (json.loads(text) for text in re.findall(r"\| train \| (\{.*\})", log))
        return [record["train_lr"] for record in records]

    parts = [rates("parts", epochs) for epochs in range(1, 6)]
    assert [rate for (rate,) in parts] == rates("whole", 5) == ["1e-06"] * 3 + ["1e-07"] * 2


def test_a_training_that_had_ended_stays_as_it_is(uninterrupted, data, contexts, tmp_path):
    for path in uninterrupted("windows").iterdir():
        shutil.copy(path, tmp_path)
    before = (tmp_path / "checkpoint_last.pt").stat().st_mtime_ns
    log = run(*training((data, contexts), tmp_path, "windows", 0)).stdout
    assert losses(log) == {} and (tmp_path / "checkpoint_last.pt").stat().st_mtime_ns == before
