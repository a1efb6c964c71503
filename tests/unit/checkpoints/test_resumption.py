"""A training goes on from the last checkpoint that loads, and says which one it could not save."""

import errno
import itertools
import os
import types

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.data.iterators import CountingIterator, EpochBatchIterator, GroupedIterator
from torch.utils.data import TensorDataset

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints import fairseq_fixes, resumption
from ctxmt_fairseq.checkpoints.resumption import latest_loadable
from tests.helpers.small_checkpoints import checkpoint

fairseq_fixes.mend()


def truncate(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def test_the_last_checkpoint_is_found_whatever_the_files_times(tmp_path, caplog):
    assert latest_loadable(tmp_path) is None
    last = checkpoint(tmp_path / "checkpoint_last.pt", updates=30, time=10)
    checkpoint(tmp_path / "checkpoint_2_20.pt", updates=20, time=20)
    checkpoint(tmp_path / "checkpoint1.pt", updates=10, time=30)
    checkpoint(tmp_path / "checkpoint_before_change.pt", updates=99, time=40)
    assert latest_loadable(tmp_path) == last and not caplog.text
    truncate(last)
    assert latest_loadable(tmp_path).name == "checkpoint_2_20.pt"
    assert f"{last}: is no checkpoint" in caplog.text
    last.unlink()
    assert latest_loadable(tmp_path).name == "checkpoint_2_20.pt"


def test_what_holds_no_optimizer_or_no_updates_is_no_place_to_resume(tmp_path, caplog):
    checkpoint(tmp_path / "checkpoint1.pt", updates=10)
    checkpoint(tmp_path / "checkpoint2.pt", optimizer=False, updates=20)
    checkpoint(tmp_path / "checkpoint3.pt", optimizer_history=[])
    torch.save([1], tmp_path / "checkpoint4.pt")
    assert latest_loadable(tmp_path).name == "checkpoint1.pt"
    assert "checkpoint2.pt holds no optimizer state" in caplog.text
    assert "checkpoint4.pt: expected a checkpoint of fairseq-train" in caplog.text


def test_a_training_does_not_begin_its_warm_up_anew_unasked(tmp_path):
    last = checkpoint(tmp_path / "checkpoint_last.pt", optimizer=False)
    with pytest.raises(BadInput, match="last.pt: holds no optimizer state .*; --reset-optimizer begins"):
        resume(tmp_path)
    assert resume(tmp_path, reset_optimizer=True) == "checkpoint_last.pt"
    truncate(last)
    with pytest.raises(BadInput, match="last.pt: is no checkpoint, or a damaged one"):
        resume(tmp_path)


def resume(
    folder,
    restore_file="checkpoint_last.pt",
    suffix="",
    finetune=None,
    saved=None,
    batches=None,
    reset_optimizer=False,
):
    """The file that fairseq asks the trainer to load, which has this extra state."""
    asked = []

    def load_checkpoint(path, *_, **__):
        asked.append(path)
        return saved

    trainer = types.SimpleNamespace(
        checkpoint_suffix=suffix,
        load_checkpoint=load_checkpoint,
        get_train_iterator=lambda **_: batches or types.SimpleNamespace(),
        lr_step=lambda _: None,
    )
    cfg = types.SimpleNamespace(
        save_dir=str(folder), restore_file=restore_file, finetune_from_model=finetune,
        reset_optimizer=reset_optimizer,
        reset_lr_scheduler=False, optimizer_overrides="{}", reset_meters=False, reset_dataloader=False,
    )  # fmt: skip
    try:
        checkpoint_utils.load_checkpoint(cfg, trainer)
    except AttributeError:  # the stand-in iterator; the file has been asked for by then
        pass
    assert cfg.restore_file == restore_file and cfg.finetune_from_model == finetune
    return os.path.relpath(asked[0], folder)


def test_training_resumes_from_the_last_checkpoint_that_loads(tmp_path, caplog):
    assert resume(tmp_path) == "checkpoint_last.pt", "nothing there: fairseq starts anew"
    checkpoint(tmp_path / "checkpoint1.pt")
    last = checkpoint(tmp_path / "checkpoint_last.pt")
    pretrained = checkpoint(tmp_path / "pretrained.pt")
    assert resume(tmp_path) == resume(tmp_path, finetune=str(pretrained)) == "checkpoint_last.pt"
    truncate(last)
    assert resume(tmp_path) == resume(tmp_path, finetune=str(pretrained)) == "checkpoint1.pt"
    assert resume(tmp_path, restore_file=str(pretrained)) == "pretrained.pt", "what is named is not replaced"
    assert f"begins with --restore-file {pretrained} again, and writes over {last}; --fine" in caplog.text
    caplog.clear()
    assert resume(tmp_path, restore_file=str(last)) == "checkpoint_last.pt" and not caplog.text
    with pytest.raises(BadInput, match="^pretrainde.pt: no such checkpoint"):
        resume(tmp_path, restore_file="pretrainde.pt")


def test_an_epoch_of_fewer_batches_is_one_line(tmp_path):
    batches = EpochBatchIterator(TensorDataset(torch.zeros(2)), collate_fn=list, batch_sampler=[[0], [1]])
    place = {"version": 2, "epoch": 1, "iterations_in_epoch": 5, "shuffle": True}
    with pytest.raises(BadInput, match="stopped in an epoch of more batches than it has now.*--max-tokens"):
        resume(tmp_path, saved={"train_iterator": place}, batches=batches)


def saving(save, metric="loss", sets="valid,valid1"):
    cfg = types.SimpleNamespace(
        optimization=types.SimpleNamespace(max_update=0),
        checkpoint=types.SimpleNamespace(
            best_checkpoint_metric=metric, maximize_best_checkpoint_metric=False
        ),
        dataset=types.SimpleNamespace(valid_subset=sets),
    )
    return types.SimpleNamespace(save_checkpoint=save, get_num_updates=lambda: 0, cfg=cfg)


@pytest.mark.parametrize(
    ("changed", "kept"), [({}, True), ({"metric": "ppl"}, False), ({"sets": "valid1,valid"}, False)]
)
def test_the_best_value_of_another_metric_or_set_is_forgotten(changed, kept, monkeypatch, caplog):
    """A ppl of 8 would be no better than a loss of 3, and --patience would end the training."""
    count, saved = types.SimpleNamespace(best=3.0, num_runs=1), {}
    monkeypatch.setattr(resumption, "_patience_count", lambda: count)
    monkeypatch.setattr(checkpoint_utils, "save_checkpoint", types.SimpleNamespace(best=3.0))
    before = saving(lambda filename, extra_state: saved.update(extra_state))
    resumption._keep_patience(2, before, {})
    before.save_checkpoint("last.pt", {})
    vars(count).clear()
    resumption._keep_patience(2, saving(None, **changed), saved)
    assert vars(count) == ({"best": 3.0, "num_runs": 1} if kept else {})
    assert hasattr(checkpoint_utils.save_checkpoint, "best") == kept
    assert ("by the lowest loss of valid so far, whose best value is forgotten" in caplog.text) != kept


def test_a_checkpoint_that_cannot_be_saved_is_named(monkeypatch):
    def save(filename, extra_state):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(resumption, "_patience_count", types.SimpleNamespace)
    trainer = saving(save)
    resumption._keep_patience(0, trainer, {})
    with pytest.raises(BadInput, match="last.pt: cannot be written: No space left on device"):
        trainer.save_checkpoint("last.pt", {})


def test_an_epoch_ends_with_another_update_freq():
    for batches, done, each in itertools.product(range(1, 12), range(11), range(1, 6)):
        left = list(range(done, batches))
        if left:
            groups = GroupedIterator(CountingIterator(left, start=done, total=batches), each)
            assert [*itertools.chain(*groups)] == left, (batches, done, each)
            assert not groups.has_next() and len(groups) == -(-batches // each)


def test_what_fairseq_says_of_finetuning_is_one_line(tmp_path):
    with pytest.raises(BadInput, match=r"--finetune-from-model .*missing\.pt does not exist"):
        resume(tmp_path, finetune=str(tmp_path / "missing.pt"))
