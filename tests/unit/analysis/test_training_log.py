"""Logs that fairseq's own progress bars wrote, read again."""

from pathlib import Path

import pytest

from ctxmt_fairseq.analysis import training_log
from ctxmt_fairseq.analysis.training_log import read_training_log
from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.training_logs import LogWriter, write_log


@pytest.mark.parametrize("form", ["simple", "json", "tqdm"])
@pytest.mark.parametrize("head", [True, False])
def test_what_fairseq_logs_is_read(tmp_path, form, head):
    log = read_training_log(write_log(tmp_path / "train.log", form, head))
    assert log == read_training_log(tmp_path)  # the folder
    records = [
        (record.epoch, record.updates, record.values["current_loss"]) for record in log.validated("valid")
    ]
    assert records == [
        (1, 50, 8.5),
        (1, 100, 7.5),
        (2, 150, 7.25),
        (2, 200, 6.25),
        (3, 250, 7.5),
        (3, 300, 6.5),
    ]
    assert [(record.epoch, record.values["loss"]) for record in log.epochs] == [(1, 9.5), (2, 8.25), (3, 8.5)]
    assert log.parameters == 1_234_567 and log.number("context_discount") == 0.01
    assert log.number("distributed_world_size") == 1 and log.option("update_freq") == "1"
    assert log.device_hours == pytest.approx(0.01)
    metric, best = log.best("valid")
    assert (metric, best.epoch, best.updates) == ("loss", 2, 200)
    assert log.best("valid", "current_context_ratio")[1].values["current_context_ratio"] == 1.1


def test_the_best_is_what_the_training_means_by_it(tmp_path):
    path = write_log(tmp_path / "log", metric="current_context_ratio", highest=True, devices=4)
    log = read_training_log(path)
    assert log.best("valid")[1].updates == 50  # the first of the highest
    assert log.best("valid", "loss")[1].updates == 200
    assert log.device_hours == pytest.approx(0.04)


@pytest.mark.parametrize("given", ["{'source_context': 2}", "Namespace(arch='y', source_context=2)"])
def test_names_of_folders_are_no_options(given):
    options = f"{{'a': 'runs/source_context=7/b', 'c': 'd,source_context=8', 'task': {given}}}"
    assert training_log.TrainingLog(Path("log"), _options=options).option("source_context") == "2"


@pytest.mark.parametrize("metric", ["bleu", "accuracy", "contrast_accuracy", "contrast_accuracy_deixis"])
def test_of_what_is_right_the_best_is_the_highest(tmp_path, metric):
    writer = LogWriter(tmp_path / "log")
    writer.start()
    for epoch, value in enumerate((2, 30, 20), 1):
        writer.validation(epoch, epoch, loss=value, **{metric: value})
    writer.handler.close()
    log = read_training_log(tmp_path / "log")
    assert log.best("valid", metric)[1].updates == 2 and log.best("valid")[1].updates == 1


@pytest.mark.parametrize("form", ["simple", "json"])
def test_a_resumed_training_counts_once(tmp_path, form):
    writer = LogWriter(tmp_path / "log", form)
    writer.start(discount=0.1)
    writer.validation(1, 100, loss=5.0)
    writer.epoch(1, 100, 10)
    writer.validation(2, 150, loss=4.0)
    writer.validation(2, 200, loss=1.0)
    writer.epoch(2, 200, 99)
    writer.start(discount=0.3)  # resumed after the first epoch
    writer.message("grouped total_num_itrs = 80", "fairseq.data.iterators")
    writer.validation(2, 150, loss=4.5)
    writer.epoch(2, 160, 20)
    log = read_training_log(tmp_path / "log")
    assert [(one.updates, one.values["loss"]) for one in log.validated("valid")] == [(100, 5.0), (150, 4.5)]
    assert [one.updates for one in log.epochs] == [100, 160]
    assert log.number("context_discount") == 0.3
    assert log.device_hours == pytest.approx(30 / 160 * 80 / 3600)


def test_an_epoch_that_was_cut_counts_by_its_updates(tmp_path):
    writer = LogWriter(tmp_path / "log")
    for epoch, updates, wall in ((1, 100, 1000), (2, 200, 1000), (3, 210, 100)):
        writer.epoch(epoch, updates, wall)
    assert read_training_log(tmp_path / "log").device_hours == pytest.approx(1000 / 3600)


def test_other_lines_and_values_are_passed_over(tmp_path):
    path = tmp_path / "log"
    lines = [
        "{'not': json", '{"epoch": 1}', '{"epoch": "x", "valid_num_updates": "3"}', "[" * 9000, "\x00\ufffd",
        "num. shared model params: ,", f"grouped total_num_itrs = {'9' * 5000}",
        f"epoch {'9' * 5000} | loss 3 | num_updates 9",
        f'{{"epoch": "{"9" * 5000}", "train_num_updates": 9}}',
        "epoch 001 | loss 3", "epoch 001 | valid on 'valid' subset | loss nan | num_updates 5 | gnorm inf",
        '{"epoch": 1, "valid_loss": "nan", "valid_ppl": "2.5", "valid_num_updates": "6"}',
    ]  # fmt: skip
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    log = read_training_log(path)
    assert [one.values for one in log.validated("valid")] == [
        {"num_updates": 5},
        {"num_updates": 6, "ppl": 2.5},
    ]
    assert log.device_hours is None and log.parameters is None and log.option("seed") is None
    for ask, words in (
        (lambda: log.best("valid"), "have no loss; choose from ppl, num_updates"),
        (lambda: log.validated("test"), "'test', found those with: valid"),
        (lambda: log.number("context_discount"), "expected the option context_discount"),
    ):
        with pytest.raises(BadInput, match=words):
            ask()


def test_lines_without_end_are_read_in_parts(tmp_path, monkeypatch):
    """A log of a megabyte, compressed, may have a line of gigabytes."""
    monkeypatch.setattr(training_log, "LONGEST_LINE", 100)
    seen, read = [], training_log._read_line
    monkeypatch.setattr(
        training_log, "_read_line", lambda log, line: [seen.append(len(line)), read(log, line)]
    )
    path = tmp_path / "log"
    path.write_text("x" * 1000 + "\nepoch 001 | valid on 'valid' subset | loss 3 | num_updates 5\n")
    assert read_training_log(path).validated("valid")[0].updates == 5 and max(seen) == 100


@pytest.mark.parametrize("content", [b"", b"nothing\n"])
def test_something_else_is_refused(tmp_path, content):
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(BadInput, match="expected a log of fairseq-train"):
        read_training_log(tmp_path / "log")
    with pytest.raises(BadInput, match="no such file"):
        read_training_log(tmp_path / "other")
