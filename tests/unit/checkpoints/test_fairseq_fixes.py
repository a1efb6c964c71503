"""What the plugin mends in fairseq: safe loading, the task of a checkpoint, --bf16."""

import argparse
import gc
import os
import pickle
import sys
import types
import zipfile

import numpy as np
import pytest
import torch
from fairseq import checkpoint_utils, options
from fairseq.data import data_utils
from fairseq.data.indexed_dataset import MMapIndexedDataset
from fairseq.data.iterators import BufferedIterator

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints import fairseq_fixes
from ctxmt_fairseq.checkpoints.fairseq_fixes import task_of_ours
from ctxmt_fairseq.checkpoints.reading import peek
from tests.helpers.small_checkpoints import checkpoint

fairseq_fixes.mend()


# ---- safe loading

NUMPY = {
    "scalars": [np.float64(0.5), np.float32(1.5), np.int64(7), np.bool_(True)],
    "arrays": [np.arange(3), np.array([0.5, 1.5]), np.array([True, False]), np.arange(2, dtype=np.uint8)],
}


def test_namespaces_and_numpy_values_load_safely(tmp_path):
    path = checkpoint(tmp_path / "checkpoint.pt", numpy=NUMPY)
    for state in (torch.load(path, weights_only=True), torch.load(path), peek(path)):
        assert state["args"] == argparse.Namespace(lr=[0.1])
        assert state["numpy"]["scalars"] == NUMPY["scalars"]
        for found, expected in zip(state["numpy"]["arrays"], NUMPY["arrays"], strict=True):
            assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


def test_both_generations_of_numpy_are_understood(tmp_path):
    """NumPy 1 and 2 pickle under different module names; the other one's are written here by renaming."""
    ours = np.arange(1).__reduce__()[0].__module__.encode()
    theirs = {b"numpy.core.multiarray": b"numpy._core.multiarray"}.get(ours, b"numpy.core.multiarray")
    path, other = checkpoint(tmp_path / "ours.pt", numpy=NUMPY), tmp_path / "theirs.pt"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            assert (ours in content) == name.endswith("data.pkl")
            target.writestr(name, content.replace(ours, theirs))
    state = torch.load(other, weights_only=True)
    assert state["numpy"]["scalars"] == NUMPY["scalars"]
    assert state["numpy"]["arrays"][0].tolist() == [0, 1, 2]


class Malicious:
    def __init__(self, victim):
        self.victim = victim

    def __reduce__(self):
        return os.mkdir, (str(self.victim),)


def test_a_malicious_checkpoint_does_not_run(tmp_path):
    path = checkpoint(tmp_path / "checkpoint.pt", extra_state=Malicious(tmp_path / "victim"))
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path)
    for load in (peek, checkpoint_utils.load_checkpoint_to_cpu):
        with pytest.raises(BadInput, match="is no checkpoint"):
            load(path)
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("content", [b"", b"no checkpoint"])
def test_what_is_no_checkpoint_is_named(tmp_path, content):
    (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(BadInput, match="checkpoint.pt: is no checkpoint"):
        peek(tmp_path / "checkpoint.pt")
    with pytest.raises(BadInput, match="gone.pt: no such checkpoint"):
        peek(tmp_path / "gone.pt")


@pytest.mark.parametrize("part", ["data.pkl", "data/0"])
def test_a_file_that_unpacks_to_more_than_it_is_is_refused(tmp_path, part):
    plain, packed = checkpoint(tmp_path / "plain.pt"), tmp_path / "packed.pt"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + bytes(2**20 * name.endswith(part)))
    for mmap in (False, True):
        with pytest.raises(BadInput, match=r"packed\.pt: is no checkpoint, .*: its parts are larger than"):
            peek(packed, mmap)


# ---- the task of a checkpoint


def test_evaluation_takes_the_task_of_the_checkpoint(tmp_path):
    path = checkpoint(tmp_path / "checkpoint.pt")
    for words in (
        ["data", "--path", str(path), "--beam", "4"],
        ["data", f"--path={path}{os.pathsep}other.pt"],
        ["data", "--path", str(path), "--task", "document_window"],
    ):
        assert task_of_ours(words, evaluates=True) == "document_window"


def test_an_ensemble_whose_first_model_reads_no_context_is_refused(tmp_path):
    stock, ours = (checkpoint(tmp_path / f"{task}.pt", task=task) for task in ("translation", "multi_source"))
    words = ["data", "--path", f"{stock}{os.pathsep}{ours}"]
    with pytest.raises(
        BadInput, match="expected a model of --task multi_source first, found one of translation"
    ):
        task_of_ours(words, evaluates=True)
    assert task_of_ours([*words, "--task", "multi_source"], evaluates=True) == "multi_source"
    gone = ["data", "--path", f"gone.pt{os.pathsep}{ours}"]
    assert task_of_ours(gone, evaluates=True) is None  # fairseq says that there is no such file


def test_the_task_is_found_in_a_namespace_too(tmp_path):
    named = argparse.Namespace(task="document_window")
    path = checkpoint(tmp_path / "checkpoint.pt", cfg={"task": named})
    assert task_of_ours(["--path", str(path)], evaluates=True) == "document_window"


def test_training_has_the_task_that_it_names(tmp_path):
    path = str(checkpoint(tmp_path / "checkpoint.pt"))
    assert task_of_ours(["--path", path], evaluates=False) is None
    assert task_of_ours(["--path", path, "--task", "translation"], evaluates=False) is None
    assert task_of_ours(["data", "--task=multi_source"], evaluates=False) == "multi_source"


def test_what_is_not_ours_is_left_alone(tmp_path):
    path = checkpoint(tmp_path / "checkpoint.pt", task="translation")
    old, damaged = checkpoint(tmp_path / "old.pt", cfg=None), tmp_path / "damaged.pt"
    damaged.write_bytes(b"no checkpoint")
    for words in (["--path", path], ["data"], ["--path", old], ["--path", damaged], ["--path", "gone.pt"]):
        assert task_of_ours(list(map(str, words)), evaluates=True) is None
    with pytest.raises(BadInput, match="--task: name the task"):
        options.parse_args_and_arch(options.get_validation_parser(), ["data", "--path", "nowhere.pt"])
    assert task_of_ours(["--path"], evaluates=True) is None


def test_a_contradiction_ends_the_command(tmp_path):
    path = str(checkpoint(tmp_path / "checkpoint.pt"))
    with pytest.raises(BadInput, match="--task translation: expected document_window"):
        task_of_ours(["--path", path, "--task", "translation"], evaluates=True)


# ---- --bf16


def test_bf16_is_fairseqs_where_the_task_is():
    arguments = ["data", "--arch", "transformer", "--task", "translation", "--bf16"]
    assert options.parse_args_and_arch(options.get_training_parser(), input_args=arguments).tpu


@pytest.mark.parametrize("flag", ["--bf16", "--fp16", "--tpu"])
def test_bf16_does_not_mean_a_tpu(flag, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # --fp16 needs it
    arguments = ["data", "--arch", "transformer", "--task", "document_window", flag]
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=arguments)
    assert getattr(args, flag[2:]) is True
    assert args.tpu is (flag == "--tpu")
    parsed = options.parse_args_and_arch(
        options.get_training_parser(), input_args=[*arguments, "--new"], parse_known=True
    )
    assert parsed[0].tpu is (flag == "--tpu") and parsed[1] == ["--new"]


# ---- --help


@pytest.mark.parametrize("parser", [options.get_training_parser, options.get_generation_parser])
def test_help_has_the_options_of_what_the_command_names(parser, capsys):
    named = ["--task", "multi_source", "--arch", "dual_encoder_transformer"]
    named += ["--criterion", "context_discounted_label_smoothed_cross_entropy", "--optimizer", "adam"]
    shown = ["--source-context", "--context-fusion", "--context-discount", "--adam-betas"]
    if parser is options.get_generation_parser:
        named, shown = named[:2], ["--source-context", "--beam"]
    for flag in ("-h", "--help"):
        with pytest.raises(SystemExit) as ended:
            options.parse_args_and_arch(parser(), input_args=[flag, *named])
        words = capsys.readouterr().out.split()
        assert not ended.value.code and set(shown) <= set(words)


def test_help_needs_no_architecture(capsys):
    with pytest.raises(SystemExit) as ended:
        options.parse_args_and_arch(options.get_training_parser(), input_args=["--help"])
    assert not ended.value.code and "--max-tokens" in capsys.readouterr().out


# ---- several validation sets


def test_validation_sets_are_known_by_their_names(tmp_path, monkeypatch):
    for name in ("_find_extra_valid_paths", "raise_if_valid_subsets_unintentionally_ignored"):
        monkeypatch.setattr(data_utils, name, getattr(data_utils, name))  # puts it back
    fairseq_fixes.several_validation_sets()
    for name in ("valid", "valid1", "valid2"):
        (tmp_path / f"{name}.en-fr.en.idx").touch()

    def cfg(subset):
        dataset = {"valid_subset": subset, "ignore_unused_valid_subsets": False}
        dataset.update(combine_valid_subsets=False, disable_validation=False)
        return types.SimpleNamespace(
            dataset=types.SimpleNamespace(**dataset), task=types.SimpleNamespace(data=str(tmp_path))
        )

    data_utils.raise_if_valid_subsets_unintentionally_ignored(cfg("valid,valid2,valid1"))
    with pytest.raises(BadInput, match="sets are valid,valid1,valid2; name those"):
        data_utils.raise_if_valid_subsets_unintentionally_ignored(cfg("valid,valid1"))


# ---- threads


def test_a_run_that_stops_within_an_epoch_leaves_no_thread():
    iterator = BufferedIterator(2, list(range(100)))
    assert next(iterator) == 0
    assert iterator._consumer.is_alive()
    fairseq_fixes.stop_background_consumers()
    assert not iterator._consumer.is_alive()


# ---- datasets


def test_a_dataset_that_cannot_be_read_ends_in_silence(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    (tmp_path / "test.idx").write_bytes(b"damaged")
    (tmp_path / "test.bin").touch()
    with pytest.raises(AssertionError, match="doesn't match expected format"):
        MMapIndexedDataset(str(tmp_path / "test"))
    gc.collect()
    assert said == []
