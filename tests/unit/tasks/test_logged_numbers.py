"""What a validation logs of a corpus does not depend on how it is cut into batches."""

import math

import numpy as np
import pytest
import torch
from fairseq import metrics, options, tasks, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from sacrebleu.metrics import BLEU

from ctxmt_fairseq.tasks.decoding_task import log_bleu
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.saved_models import TINY, data_folder
from tests.helpers.window_datasets import Sentences

LENGTHS = (5, 1, 7, 4)  # of the documents
BLANK = (0, 3, 9)  # lines, which are sorted to the front
WINDOWS = ("--arch", "concat_transformer", "--source-context", "1", "--target-context", "1")
CASES = {
    "cross-entropy": ("document_window", *WINDOWS, "--criterion", "label_smoothed_cross_entropy"),
    "discounted": ("document_window", *WINDOWS,
                   "--criterion", "context_discounted_label_smoothed_cross_entropy"),
    "margin": ("document_window", *WINDOWS, "--criterion", "context_margin", "--margin-contexts", "2",
               "--margin-sentence-weight", "1", "--source-context-after", "1"),
    "margin of rows": ("multi_source", "--arch", "gated_context_transformer", "--source-context", "2",
                       "--criterion", "context_margin", "--sentence-avg"),
}  # fmt: skip
# Of a batch by what they mean, or of time.
OF_BATCHES = {"wpb", "bsz", "wps", "total", "n_correct"}
LOGGED = {"loss", "nll_loss", "ppl", "accuracy", "bleu", "separator_mismatches"}
DISCOUNTED = {"current_loss", "current_sentence_loss"}
OF_WINDOWS = {"context_sentence_loss", "current_context_ratio"}
MARGIN = {"context_gap", "margin_data", "margin_sentence", "margin_token"}
NAMES = {
    "cross-entropy": LOGGED,
    "discounted": LOGGED | DISCOUNTED | OF_WINDOWS,
    "margin": LOGGED | DISCOUNTED | OF_WINDOWS | MARGIN,
    "margin of rows": LOGGED | DISCOUNTED | MARGIN,
}


def built(folder, task, *arguments):
    """A task with a split of random text, some lines of which are blank; a random model; its criterion."""
    command = [
        str(data_folder(folder / "data")),
        "--source-lang",
        "en",
        "--target-lang",
        "fr",
        "--task",
        task,
    ]
    command += [*arguments, *TINY, "--cpu", "--report-accuracy", "--eval-bleu"]
    command += ["--eval-bleu-args", '{"beam": 2, "max_len_b": 6}']
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=command)
    cfg = convert_namespace_to_omegaconf(args)
    torch.manual_seed(1)
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    rng, end = np.random.default_rng(4), task.target_dictionary.eos()
    sides = []
    for _ in range(2):
        sizes = np.where(np.isin(np.arange(sum(LENGTHS)), BLANK), 0, rng.integers(1, 6, sum(LENGTHS)))
        sides.append(Sentences(torch.tensor([*rng.integers(4, 14, size), end]) for size in sizes))
    documents = Documents.from_lengths(LENGTHS)
    task.datasets["valid"] = task.build_dataset("valid", *sides, documents, None, False)
    return task, model, task.build_criterion(cfg.criterion)


def logged(task, model, criterion, size):
    """What is logged of the split in batches of this size."""
    limits = utils.resolve_max_positions(task.max_positions(), model.max_positions())
    batches = task.get_batch_iterator(
        task.datasets["valid"], max_sentences=size, max_positions=limits, disable_iterator_cache=True
    )
    task.begin_valid_epoch(1, model)
    with metrics.aggregate(new_root=True) as meters, torch.no_grad():
        for batch in batches.next_epoch_itr(shuffle=False):
            assert len(batch["id"]) <= size
            task.reduce_metrics([task.valid_step(batch, model, criterion)[2]], criterion)
    values = meters.get_smoothed_values()
    return {name: float(value) for name, value in values.items() if not name.startswith("_")}


@pytest.mark.parametrize("case", CASES)
def test_numbers_do_not_depend_on_batches(case, tmp_path):
    parts = built(tmp_path, *CASES[case])
    expected = logged(*parts, size=sum(LENGTHS))
    assert expected.keys() - OF_BATCHES == NAMES[case]
    assert not any(math.isnan(value) for value in expected.values())
    assert expected["bleu"] > 0 or case == "margin"
    for size in (1, 2, 5):
        found = logged(*parts, size=size)
        assert found.keys() == expected.keys()
        for name in NAMES[case]:
            assert found[name] == pytest.approx(expected[name], abs=2e-3), (name, size)


def test_bleu_is_of_all_translations():
    """Also of empty ones, whose references make the others too short."""
    pairs = [("", "a b c"), ("a b c d e", "a b c d e"), ("", "d"), ("b c d e a", "b c d e f g")]
    with metrics.aggregate(new_root=True) as meters:
        for hypothesis, reference in pairs:
            one = BLEU().corpus_score([hypothesis], [[reference]])
            counts = {f"_bleu_counts_{n}": count for n, count in enumerate(one.counts)}
            totals = {f"_bleu_totals_{n}": count for n, count in enumerate(one.totals)}
            log_bleu([{"_bleu_sys_len": one.sys_len, "_bleu_ref_len": one.ref_len, **counts, **totals}])
    hypotheses, references = zip(*pairs, strict=True)
    whole = BLEU().corpus_score(hypotheses, [references])
    assert meters.get_smoothed_values()["bleu"] == pytest.approx(whole.score, abs=0.01)
