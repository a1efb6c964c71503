"""The thesis' sanity checks: a model that can use its context copies the reference from there."""

import json
import re

import pytest

from tests.integration.commands import USER_DIR, run
from tests.learning.test_systems import TRAINING, corpus  # noqa: F401

MODELS = {
    "gated_context_transformer": (),
    "dual_encoder_transformer": (),
    "context_encoder_transformer": (),
    "caching_transformer": ("--context-gradient-encoder", "yes"),
}
GREEDY = ("--eval-bleu", "--eval-bleu-args", '{"beam": 1}', "--eval-bleu-remove-bpe", "sentencepiece")


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("arch", MODELS)
def test_the_reference_is_copied_from_the_context(arch, corpus, tmp_path, record_property):  # noqa: F811
    training = [option for option in TRAINING if option != "--disable-validation"]
    log = run(
        *("fairseq-train", corpus / "data", "--user-dir", USER_DIR, "--task", "multi_source"),
        *("--arch", f"{arch}_tiny", *MODELS[arch], "--source-context", 1, "--context-selection", "reference"),
        *(*training, "--log-format", "json", "--max-update", 1200, "--validate-interval", 100, *GREEDY),
        *("--save-dir", tmp_path, "--no-save"),
    )
    (*_, record) = re.findall(r"\| valid \| (\{.*\})", log.stdout + log.stderr)
    bleu = float(json.loads(record)["valid_bleu"])
    record_property("accuracies", f"{arch}, reference as context: BLEU {bleu:.1f}")
    assert bleu >= 98
