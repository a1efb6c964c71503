"""ctxmt average: which checkpoints it takes, and their mean against NumPy."""

import argparse

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints import averaging as checkpoints
from ctxmt_fairseq.checkpoints.averaging import Checkpoint, nearest_checkpoints, write_average
from ctxmt_fairseq.cli.main import main, parser
from tests.unit.base.test_output_files import largest_file


def save(path, updates, loss=None, digests=None, epoch=1, starts=2, how=(), saved=(), **extra_parameters):
    """A checkpoint with the fields that fairseq-train writes; returns its parameters."""
    torch.manual_seed(updates)
    embedding = torch.randn(5, 3)
    model = {
        "encoder.embed.weight": embedding,
        "decoder.embed.weight": embedding,
        "half": torch.randn(4).half(),
        "brain": torch.randn(4).bfloat16(),
        "double": torch.randn(2, dtype=torch.float64),
        "version": torch.tensor([updates]),
        "scalar": torch.tensor(float(updates)),
        **extra_parameters,
    }
    state = {
        "args": None,
        "cfg": {
            "model": argparse.Namespace(**{"arch": "transformer", **dict(how)}),
            "task": {"_name": "document_window"},
        },
        "model": model,
        "optimizer_history": [{"num_updates": 0}] * (starts - 1) + [{"num_updates": updates}],
        "task_state": {"dictionaries": digests, **dict(saved)},
        "extra_state": {
            "val_loss": loss,
            "metrics": [np.float64(1.5)],
            "train_iterator": {"epoch": epoch, "iterations_in_epoch": 0},
        },
        "last_optimizer_state": {"exp_avg": torch.zeros(1000)},
    }
    torch.save(state, path)
    return model


@pytest.fixture
def save_dir(tmp_path):
    """Seven epochs of 10 updates and one checkpoint in mid-epoch; the best is epoch 3."""
    for epoch in range(1, 8):
        save(tmp_path / f"checkpoint{epoch}.pt", 10 * epoch, loss=abs(epoch - 3) + 1.0)
    save(tmp_path / "checkpoint_4_35.pt", 35, loss=1.5)
    save(tmp_path / "checkpoint_best.pt", 30, loss=1.0)
    save(tmp_path / "checkpoint_last.pt", 70, loss=5.0)
    (tmp_path / "checkpoint.best_loss_1.0.pt").write_bytes(b"other names are not read")
    return tmp_path


@pytest.mark.parametrize(
    "count, around, expected",
    [
        (1, "best", ["3"]),
        (2, "best", ["2", "3"]),  # 2 and mid-epoch 4 are equally near: the earlier
        (5, "best", ["1", "2", "3", "_4_35", "4"]),
        (7, "best", ["1", "2", "3", "_4_35", "4", "5", "6"]),  # nothing before 1: further after
        (3, "last", ["5", "6", "7"]),
    ],
)
def test_the_nearest_are_taken(save_dir, count, around, expected):
    found = nearest_checkpoints(save_dir, count, around)
    assert [checkpoint.path.name for checkpoint in found] == [f"checkpoint{name}.pt" for name in expected]


def test_best_counts_itself_where_its_epoch_file_is_gone(save_dir):
    (save_dir / "checkpoint3.pt").unlink()
    names = [checkpoint.path.name for checkpoint in nearest_checkpoints(save_dir, 3)]
    assert names == ["checkpoint2.pt", "checkpoint_best.pt", "checkpoint_4_35.pt"]


def test_too_few_are_averaged_with_a_warning(save_dir, caplog):
    assert len(nearest_checkpoints(save_dir, 20)) == 8
    assert "only 8 checkpoints to average, 20 were asked for" in caplog.text


def test_the_mean_is_numpys(save_dir):
    updates = [20, 30, 35]
    models = [save(save_dir / "scratch.pt", number) for number in updates]
    chosen = nearest_checkpoints(save_dir, 3)
    assert [checkpoint.updates for checkpoint in chosen] == updates
    write_average(chosen, save_dir / "averaged.pt")
    state = torch.load(save_dir / "averaged.pt", weights_only=True)
    for name, parameter in state["model"].items():
        assert parameter.dtype == models[0][name].dtype and parameter.shape == models[0][name].shape
        if name == "version":
            assert parameter.item() == 20
            continue
        mean = np.mean([model[name].double().numpy() for model in models], axis=0)
        expected = torch.from_numpy(np.asarray(mean)).to(parameter.dtype)
        tolerance = {torch.float16: 1e-3, torch.bfloat16: 1e-2, torch.float64: 1e-12}.get(
            parameter.dtype, 1e-6
        )
        torch.testing.assert_close(parameter, expected, rtol=tolerance, atol=tolerance)
    tied = [state["model"][f"{side}.embed.weight"].data_ptr() for side in ("encoder", "decoder")]
    assert tied[0] == tied[1]
    assert "last_optimizer_state" not in state and state["cfg"]["task"] == {"_name": "document_window"}
    assert not [path for path in save_dir.iterdir() if path.name.startswith(".")]


def test_trainings_that_counted_updates_anew_are_not_mixed(tmp_path):
    """--reset-optimizer goes on in the next epoch, from no updates."""
    for epoch in (1, 2):
        save(tmp_path / f"checkpoint{epoch}.pt", 10 * epoch, epoch=epoch + 1, starts=1)
    save(tmp_path / "checkpoint_1_10.pt", 10, epoch=1, starts=1)  # float16 overflowed in the epoch's rest
    save(tmp_path / "checkpoint_best.pt", 20, epoch=3, starts=1)
    assert [checkpoint.updates for checkpoint in nearest_checkpoints(tmp_path, 2)] == [10, 20]
    save(tmp_path / "checkpoint_best.pt", 20, epoch=5)
    found = r"checkpoint_best\.pt: has 20 updates, and so has checkpoint2\.pt of another epoch"
    with pytest.raises(BadInput, match=found):
        nearest_checkpoints(tmp_path, 2)


@pytest.mark.parametrize(
    "other, name",
    [
        ({"how": {"arch": "concat_transformer"}}, "--arch"),
        ({"how": {"encoder_attention_heads": 2}}, "--encoder-attention-heads"),
        ({"saved": {"context": {"source_context": 2}}}, "--source-context"),
        ({"saved": {"store": {"encoder": "minilm"}}}, "--context-store"),
        ({"saved": {"store": {"fields": ["speaker"]}}}, None),
        ({"how": {"dropout": 0.3, "max_source_positions": 9, "seed": 2}}, None),
        ({"how": {}, "saved": {}}, None),  # of a version that had fewer options
    ],
)
def test_trainings_of_equal_shapes_are_not_mixed(tmp_path, other, name):
    """Their parameters mean other things; what a training may go on with otherwise does not matter."""
    one = {"how": {"encoder_attention_heads": 4}, "saved": {"context": {"source_context": 1}}}
    save(tmp_path / "checkpoint1.pt", 10, **one)
    save(tmp_path / "checkpoint_best.pt", 20, **{**one, **other})
    chosen = nearest_checkpoints(tmp_path, 2)
    if name is None:
        return write_average(chosen, tmp_path / "averaged.pt")
    with pytest.raises(BadInput, match=rf"checkpoint_best\.pt: has another {name} than checkpoint1\.pt"):
        write_average(chosen, tmp_path / "averaged.pt")


def test_half_precision_is_summed_in_single(tmp_path):
    """Sums of float16 above 65504 would be infinite."""
    for number in (1, 2, 3):
        save(tmp_path / f"checkpoint{number}.pt", number, half=torch.full((4,), 60000.0).half())
    save(tmp_path / "checkpoint_best.pt", 2)
    write_average(nearest_checkpoints(tmp_path, 3), tmp_path / "averaged.pt")
    averaged = torch.load(tmp_path / "averaged.pt", weights_only=True)["model"]["half"]
    assert averaged.tolist() == [60000.0] * 4


def test_command_says_what_it_averaged(save_dir, capsys):
    parser().command(["average", str(save_dir), "--count", "2"]).start()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{save_dir}/averaged.pt: the average of 2"
    assert lines[1].split() == "checkpoint2.pt 20 updates validation score 2.0000".split()
    assert lines[2].split() == "checkpoint3.pt 30 updates validation score 1.0000".split()


def test_command_takes_the_folder_of_a_run(tmp_path, capsys):
    checkpoints_folder = tmp_path / "checkpoints"
    checkpoints_folder.mkdir()
    save(checkpoints_folder / "checkpoint_best.pt", 30, loss=1.0)
    parser().command(["average", str(tmp_path), "--count", "1"]).start()
    assert capsys.readouterr().out.startswith(f"{checkpoints_folder}/averaged.pt: the average of 1")


def test_refusals_leave_nothing(save_dir):
    def refused(message, *args):
        before = sorted(save_dir.iterdir())
        with pytest.raises(BadInput, match=message):
            write_average(nearest_checkpoints(save_dir, *args), save_dir / "averaged.pt")
        assert sorted(save_dir.iterdir()) == before

    refused("--count 0: expected 1 or more checkpoints", 0)
    save(save_dir / "checkpoint4.pt", 40, half=torch.zeros(7).half())
    refused(r"checkpoint4\.pt: cannot be averaged with checkpoint1\.pt: half differs")
    save(save_dir / "checkpoint4.pt", 40, half=torch.zeros(4, dtype=torch.long))
    refused(r"checkpoint4\.pt: cannot be averaged with checkpoint1\.pt: half differs")
    save(save_dir / "checkpoint4.pt", 40, more=torch.zeros(1))
    refused(r"checkpoint4\.pt: cannot be averaged with checkpoint1\.pt: more differs")
    save(save_dir / "checkpoint4.pt", 40, digests={"source": "another"})
    refused(r"checkpoint4\.pt: expected the dictionaries of checkpoint1\.pt")
    for digests in ({"source": torch.zeros(2)}, [torch.zeros(2)]):
        save(save_dir / "checkpoint4.pt", 40, digests=digests, more=torch.zeros(1))
        refused(r"checkpoint4\.pt: cannot be averaged with checkpoint1\.pt: more differs")
    save(save_dir / "checkpoint4.pt", 40, loss=10**400)
    refused(r"checkpoint4\.pt: is no checkpoint of fairseq-train")
    state = torch.load(save_dir / "checkpoint1.pt", weights_only=False)
    torch.save({**state, "extra_state": None}, save_dir / "checkpoint4.pt")
    refused(r"checkpoint4\.pt: is no checkpoint of fairseq-train")
    torch.save({"model": {}}, save_dir / "checkpoint4.pt")
    refused(r"checkpoint4\.pt: is no checkpoint of fairseq-train")
    (save_dir / "checkpoint4.pt").write_bytes(b"cut")
    refused(r"checkpoint4\.pt: is no checkpoint")
    (save_dir / "checkpoint_best.pt").unlink()
    refused(r"checkpoint_best\.pt: no such checkpoint")


def test_what_is_no_digest_is_not_compared(save_dir):
    for epoch in (2, 3):
        save(save_dir / f"checkpoint{epoch}.pt", 10 * epoch, digests={"source": torch.zeros(2)})
    write_average(nearest_checkpoints(save_dir, 2), save_dir / "averaged.pt")


def test_a_checkpoint_of_the_training_is_no_output(save_dir, refusal):
    """It would lose the state that the training goes on with."""
    before = {path.name: path.read_bytes() for path in save_dir.iterdir()}
    for name in ("checkpoint_best.pt", "checkpoint_last.pt", "checkpoint1.pt"):
        assert f"{name}: cannot be written: this command reads it" in refusal(
            main, ["average", str(save_dir), "--count", "2", "--output", str(save_dir / name)]
        )
    assert {path.name: path.read_bytes() for path in save_dir.iterdir()} == before
    for _ in range(2):
        assert not main(["average", str(save_dir), "--output", str(save_dir / "checkpoint_avg.pt")])


def test_a_full_disk_is_one_line_and_leaves_nothing(save_dir):
    before = sorted(save_dir.iterdir())
    with largest_file(400), pytest.raises(BadInput, match=r"averaged\.pt: cannot be written: File too large"):
        write_average(nearest_checkpoints(save_dir, 2), save_dir / "averaged.pt")
    assert sorted(save_dir.iterdir()) == before


def test_an_output_that_cannot_be_written_is_refused_before_checkpoints_are_read(save_dir, monkeypatch):
    monkeypatch.setattr(checkpoints, "nearest_checkpoints", lambda *args: pytest.fail("read"))
    with pytest.raises(BadInput, match="cannot be written: this is the name of a folder"):
        parser().command(["average", str(save_dir), "--output", str(save_dir)]).start()


def test_code_in_a_checkpoint_is_not_run(save_dir):
    class Evil:
        def __reduce__(self):
            return print, ("run",)

    torch.save({"model": Evil()}, save_dir / "checkpoint_best.pt")
    with pytest.raises(BadInput, match=r"checkpoint_best\.pt: is no checkpoint"):
        Checkpoint.read(save_dir / "checkpoint_best.pt")
