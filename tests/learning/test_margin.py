"""A model trained with the margin loss depends more on its context than one without (thesis, table 2.4)."""

import json
import re

import pytest

from tests.integration.commands import USER_DIR, run
from tests.learning.test_systems import TRAINING, corpus  # noqa: F401

WITHOUT = ("--margin-data-weight", 0, "--margin-token-weight", 0)


def gap(folder, data, seed, *options):
    """The validation gap, real minus random context, in bits per token, after a short training."""
    training = [
        option for option in TRAINING if option not in ("--disable-validation", "--log-format", "simple")
    ]
    training[training.index("label_smoothed_cross_entropy")] = "context_margin"
    log = run(
        *("fairseq-train", data, "--user-dir", USER_DIR, "--task", "multi_source", "--source-context", 1),
        *(
            "--arch",
            "dual_encoder_transformer_tiny",
            *training,
            *options,
            "--seed",
            seed,
            "--log-format",
            "json",
        ),
        *("--max-update", 250, "--save-dir", folder),
    )
    (*_, record) = re.findall(r"\| valid \| (\{.*\})", log.stdout + log.stderr)
    return float(json.loads(record)["valid_context_gap"])


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_gap_between_real_and_random_context_grows(seed, corpus, tmp_path, record_property):  # noqa: F811
    without = gap(tmp_path / "without", corpus / "data", seed, *WITHOUT)
    with_margin = gap(tmp_path / "with", corpus / "data", seed)
    record_property(
        "accuracies", f"margin loss, seed {seed}: gap {with_margin:.3f} bits, without {without:.3f}"
    )
    assert with_margin > without
