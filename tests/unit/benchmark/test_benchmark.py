"""The benchmark: its arithmetic, and that every measurement measures what it says. Never how fast it is."""

import json
import math

import numpy as np
import pytest
import torch
from sacrebleu import corpus_bleu

from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from scripts.benchmark import (
    contrastive,
    corpora,
    decoding,
    indexing,
    loading,
    metadata,
    multi_source,
    resampling,
    start_up,
    subtitles,
    training,
)
from scripts.benchmark.__main__ import main
from scripts.benchmark.paired import HEAD, Comparison, alternate, seconds
from tests.helpers import process, synthetic
from tests.helpers.allocated import peak_allocated

CPU = torch.device("cpu")


def assert_finite(comparison, pairs):
    assert len(comparison.ratios) == pairs
    assert all(math.isfinite(ratio) and ratio > 0 for ratio in comparison.ratios)


# ---- pairs -------------------------------------------------------------------------------------------------


def test_statistics_are_of_the_pairs_ratios():
    comparison = Comparison("work", ("a", "b"), "s", [(2.0, 1.0), (9.0, 3.0), (1.0, 4.0), (5.0, 5.0)], "goal")
    assert comparison.ratios == [2.0, 3.0, 0.25, 1.0]
    assert comparison.medians == (3.5, 3.5)
    # The median of 0.25, 1, 2, 3 is 1.5, which is not the ratio of the medians.
    assert comparison.row() == ["work: a / b", "1.500", "0.250", "3.000", "4", "3.5 / 3.5 s", "goal"]
    assert len(comparison.row()) == len(HEAD)
    assert comparison.as_dict()["ratio"] == {"median": 1.5, "min": 0.25, "max": 3.0}


def test_pairs_alternate_and_the_warm_up_is_not_counted():
    calls = []

    def way(name, value):
        return lambda number: calls.append((name, number)) or value + number

    pairs = alternate(way("a", 10.0), way("b", 20.0), repeats=2, warm_up=1)
    assert calls == [("a", -1), ("b", -1), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert pairs == [(10.0, 20.0), (11.0, 21.0)]


def test_seconds_calls_once():
    calls = []
    assert seconds(lambda: calls.append(1), CPU) >= 0
    assert calls == [1]


# ---- training ----------------------------------------------------------------------------------------------


def test_training_batches_are_windows_of_four():
    task = synthetic.make_task("tiny")
    separator = task.source_dictionary.index("<sep>")
    batches = training.make_batches("tiny", CPU, max_tokens=600)
    assert len(batches) == training.BATCHES
    most = max(int(batch["target"].eq(separator).sum(1).max()) for batch in batches)
    assert most == 3
    assert all(
        max(batch["target"].numel(), batch["net_input"]["src_tokens"].numel()) <= 600 for batch in batches
    )


def test_a_step_updates_the_model(monkeypatch):
    made = []
    make = synthetic.make_model
    monkeypatch.setattr(synthetic, "make_model", lambda *a, **k: made.append(make(*a, **k)) or made[-1])
    batch = training.make_batches("tiny", CPU, max_tokens=600)[0]
    for ours in (True, False):
        step = training.make_step("tiny", CPU, ours)
        before = made[-1].encoder.embed_tokens.weight.clone()
        step(batch)
        assert not torch.equal(before, made[-1].encoder.embed_tokens.weight)
        assert type(made[-1]).__name__ == ("ConcatTransformer" if ours else "TransformerModel")


@pytest.mark.slow
def test_training_measures_at_a_miniature_size():
    assert_finite(training.step_time("tiny", 1, CPU, max_tokens=600), training.BATCHES)


@pytest.mark.slow
def test_memory_of_training_is_measured_in_new_processes():
    assert_finite(training.peak_memory("tiny", 1, CPU, max_tokens=600), 1)


@pytest.mark.slow
def test_a_step_at_base_takes_no_more_memory_than_stocks():
    """Windows of four sentences; forward, backward and update, after a first step has made Adam's state."""
    small, *_ = sorted(training.make_batches("base", CPU, 600), key=lambda made: made["ntokens"])
    peaks = []
    for ours in (True, False):
        step = training.make_step("base", CPU, ours)
        step(small)
        peaks.append(peak_allocated(lambda step=step: step(small), CPU))
        del step
    assert peaks[0] <= peaks[1], peaks


# ---- decoding ----------------------------------------------------------------------------------------------


def test_both_decodings_make_the_same_number_of_tokens_per_sentence(monkeypatch):
    """The forced side 5 and ``</s>``, the window side 4 times 5 and ``</s>``, all rows in batches of 3."""
    made = []

    def spy(generate):
        def generate_and_note(self, models, sample, **options):
            result = generate(self, models, sample, **options)
            made.append([len(row[0]["tokens"]) for row in result])
            return result

        return generate_and_note

    from fairseq.sequence_generator import SequenceGenerator

    monkeypatch.setattr(SequenceGenerator, "generate", spy(SequenceGenerator.generate))
    comparison = decoding.forced_prefix("tiny", 1, CPU, documents=3, sentences=2, length=5, beam=2)
    assert_finite(comparison, 1)
    window, prefix = [[21] * 3] * 2, [[6] * 3] * 2
    assert made == (window + prefix) * 2  # a warm-up pair, and the pair that counts


def test_decoding_forces_three_sentences(monkeypatch):
    seen = []
    original = DocumentTranslator.running

    def running(self, *args):
        result = original(self, *args)
        batch = result.batch

        def note(lines, forced):
            made = batch(lines, forced)
            seen.append((forced, [len(prefix) for prefix in made[1]]))
            return made

        result.batch = note
        return result

    monkeypatch.setattr(DocumentTranslator, "running", running)
    decoding.forced_prefix("tiny", 1, CPU, documents=2, sentences=1, length=5, beam=1)
    assert (True, [18, 18]) in seen  # three sentences of five tokens and a separator


# ---- contrastive scoring -----------------------------------------------------------------------------------


def test_one_at_a_time_gives_the_scores_of_score_candidates():
    loaded = synthetic.load("tiny", CPU)
    examples = contrastive.make_examples(loaded, 3, candidates=3)
    stock = contrastive.one_at_a_time(loaded, examples)
    ours = score_candidates(loaded, examples)
    for row, scores in zip(stock, ours, strict=True):
        assert row == pytest.approx([score.window_sum for score in scores], abs=1e-3)
        assert len(set(row)) == 3


@pytest.mark.slow
def test_contrastive_measures_at_a_miniature_size():
    assert_finite(contrastive.contrastive("tiny", 1, CPU, examples=2, candidates=2), 1)


# ---- loading -----------------------------------------------------------------------------------------------


def test_loading_is_of_batches_that_a_worker_makes():
    single, windows = loading.loading(1, sentences=150, max_tokens=300)
    assert_finite(single, 1)
    assert_finite(windows, 1)
    assert "windows, K = 4: ours / stock sentences" in windows.row()[0]


# ---- indexing ----------------------------------------------------------------------------------------------


def test_corpus_on_disk_is_documents_and_sizes(tmp_path):
    indexing.write_corpus(tmp_path, 5000)
    ids = (tmp_path / "docids").read_text().splitlines()
    assert len(ids) == 5000
    assert len(set(ids)) > 1
    assert len(np.load(tmp_path / "source.npy")) == len(np.load(tmp_path / "target.npy")) == 5000
    for way in (indexing.index_windows, indexing.index_sentences):
        elapsed, peak, *later = way(tmp_path)
        assert all(seconds > 0 for seconds in (elapsed, *later))
        assert peak > 10


def test_peak_memory_outlives_what_took_it():
    before = process.resident(peak=True)
    more = int(before - process.resident(peak=False)) + 200
    block = bytearray(more * 2**20)
    block[::4096] = b"x" * len(block[::4096])  # touched, or it takes no memory
    del block
    assert before + 150 < process.resident(peak=True) < before + 250
    assert process.resident(peak=False) < before + 150


def test_commands_start_to_their_end(monkeypatch):
    assert start_up.cpu_seconds("sum(range(10**7))") > start_up.cpu_seconds("pass") > 0
    with pytest.raises(RuntimeError, match="exit code 2"):
        start_up.cpu_seconds(start_up._COMMAND, "score", "no", "file")
    run, libraries = start_up.cpu_seconds, []

    def cpu_seconds(code, *arguments):
        return run(code, *arguments) if arguments else float(libraries.append(code) or 100)

    monkeypatch.setattr(start_up, "cpu_seconds", cpu_seconds)
    for comparison in start_up.start_up(1):
        assert_finite(comparison, 1)
        assert comparison.ratios[0] < 0.2
    assert set(libraries) == {"import torch"}


def test_the_bootstrap_is_compared_with_sacrebleu_s():
    comparison = resampling.significance(1, sentences=30, samples=100)
    assert_finite(comparison, 1)
    reference, first, second = resampling.random_texts(200)
    assert corpus_bleu(first, [reference]).score > corpus_bleu(second, [reference]).score > 10


def test_the_command_writes_table_and_json(tmp_path, capsys):
    report = tmp_path / "report.json"
    assert not main(["index", "--sentences", "3000", "--repeats", "1", "--cpu", "--json", str(report)])
    table = capsys.readouterr().out
    assert "windows, K = 4 / stock sentences" in table
    written = json.loads(report.read_text())
    assert [entry["unit"] for entry in written["comparisons"]] == ["s", "MiB", "s"]
    assert all(len(entry["pairs"]) == 1 for entry in written["comparisons"])


@pytest.mark.parametrize(
    "wrong, expected",
    [
        (["speed"], "speed: expected one of train, decode"),
        (["train", "--repeats", "0"], "whole number of at least 1"),
        (["index", "--sentences", "-1"], "whole number of at least 1"),
        (["train", "--plot", "a.png"], "--plot: expected the measurement memory"),
        (["memory", "--json", "good", "--plot", "missing/out.png"], "missing/out.png: cannot be written"),
        (["memory", "--plot", "a.png", "--json", "a.png"], "a.png: cannot be written: two outputs"),
    ],
)
def test_bad_options_stop_with_one_line(tmp_path, monkeypatch, capsys, wrong, expected):
    monkeypatch.chdir(tmp_path)
    assert main(wrong) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line and not list(tmp_path.iterdir())


# ---- multi-source models -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_training_with_and_without_runs_is_compared():
    comparisons = multi_source.batch_runs("tiny", 1, CPU, max_tokens=200)
    for comparison, pairs in zip(comparisons, (multi_source.BATCHES, 1) * 2, strict=True):
        assert_finite(comparison, pairs)


@pytest.mark.slow
def test_translation_with_and_without_kept_states_is_compared():
    for comparison in multi_source.sentence_cache("tiny", 1, CPU, documents=2, sentences=3):
        assert_finite(comparison, 1)


# ---- metadata models ---------------------------------------------------------------------------------------


def test_metadata_models_run_on_the_same_sentences():
    runs = {name: metadata.make_run(name, "tiny", CPU, 600)[1] for name in metadata.MODELS}
    for mtcue, cue, base in zip(*runs.values(), strict=True):
        inputs = mtcue["net_input"]
        for other in (cue, base):
            assert torch.equal(other["target"], mtcue["target"])
            assert torch.equal(other["net_input"]["src_tokens"], inputs["src_tokens"])
        assert inputs["context"]["vectors"].shape[1:] == (12, 384)
        assert cue["net_input"]["context"]["vectors"].shape[1:] == (12, 768)
        assert inputs["context"]["distances"].max() == metadata.PREVIOUS
        assert inputs["context"]["distances"].eq(-1).sum() == metadata.FIELDS * len(inputs["src_tokens"])
        assert "context" not in base["net_input"]


@pytest.mark.slow
def test_training_of_metadata_models_is_compared(monkeypatch):
    monkeypatch.setattr(metadata, "BATCHES", 2)
    for comparison in metadata.metadata("tiny", 1, CPU, max_tokens=200):
        assert_finite(comparison, 2)


# ---- corpora -----------------------------------------------------------------------------------------------


def test_generated_subtitles_make_a_corpus(tmp_path):
    subtitles.write_subtitles(tmp_path, 2 * subtitles.FILM)
    assert all(value > 0 for value in subtitles.make_corpus(tmp_path, 1))
    counts = json.loads((tmp_path / "corpus.counts.json").read_text())
    assert (counts["read"], counts["left_out"]) == (2000, {"overlap": 100})
    assert all(2 <= len(line.split()) <= 10 for line in (tmp_path / "corpus.fr").read_text().splitlines())


@pytest.mark.slow
def test_corpora_are_measured_in_new_processes():
    for comparison in corpora.corpora(subtitles.FILM, 1):
        assert_finite(comparison, 1)
