"""Checkpoints as fairseq-train writes them, of models that were not trained, and what a hostile one says."""

import argparse
import copy

import torch
from fairseq import options, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.trainer import Trainer

TINY = (
    *("--encoder-embed-dim", "8", "--encoder-ffn-embed-dim", "8", "--encoder-layers", "1"),
    *("--decoder-layers", "1", "--encoder-attention-heads", "2", "--decoder-attention-heads", "2"),
)
# Of fairseq's own architectures that our tasks can train.
SIZES = {
    "transformer": TINY,
    "transformer_align": TINY,
    "bart_base": (*TINY, "--decoder-embed-dim", "8", "--decoder-ffn-embed-dim", "8"),
    "lstm": "--encoder-embed-dim 8 --decoder-embed-dim 8 --decoder-out-embed-dim 8 --encoder-hidden-size 8 "
    "--decoder-hidden-size 8".split(),
    "lightconv": (
        *TINY,
        *"--encoder-kernel-size-list [3] --decoder-kernel-size-list [3] --encoder-conv-dim 8".split(),
        *"--decoder-conv-dim 8 --decoder-embed-dim 8 --decoder-ffn-embed-dim 8".split(),
    ),
}
FCONV = ("--encoder-embed-dim", "8", "--decoder-embed-dim", "8", "--encoder-layers", "[(8, 3)]")


def data_folder(folder):
    """A folder with the dictionaries of ten words in two languages."""
    dictionary = Dictionary()
    for word in "abcdefghij":
        dictionary.add_symbol(word)
    folder.mkdir(exist_ok=True)
    for language in ("en", "fr"):
        dictionary.save(str(folder / f"dict.{language}.txt"))
    return folder


def trained(folder, *arguments, **how):
    """What fairseq-train would save: (state, parsed command line); arguments as of ``begun``."""
    trainer, args = begun(folder, *arguments, **how)
    trainer._gathered_optim_state = None  # what trainer.consolidate_optimizer sets
    state = copy.deepcopy(trainer.state_dict())
    state["extra_state"]["train_iterator"] = {"epoch": 1, "iterations_in_epoch": 0}
    return state, args


def begun(folder, *arguments, arch="concat_transformer", task="document_window", size=None, data=None):
    """A training before its first update: (trainer, command line). ``data``: default: ``data_folder``."""
    command = [str(data or data_folder(folder / "data")), "--source-lang", "en", "--target-lang", "fr"]
    command += ["--arch", arch, "--task", task, "--cpu", "--optimizer", "adam"]
    command += [*(size or SIZES.get(arch, FCONV if arch.startswith("fconv") else TINY)), *arguments]
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=command)
    cfg = convert_namespace_to_omegaconf(args)
    torch.manual_seed(1)
    task = tasks.setup_task(cfg.task)
    return Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion)), args


def drawn(state):
    """The checkpoint with other parameters, so large that every token matters."""
    torch.manual_seed(2)
    for name, each in state["model"].items():
        if each.is_floating_point() and "version" not in name and "_float_tensor" not in name:
            each.copy_(torch.randn_like(each) * 0.4 + ("norm.weight" in name))
    return state


def as_old(state, args):
    """The same as old versions of fairseq saved it."""
    return {**{name: value for name, value in state.items() if name != "cfg"}, "args": args}


def save(path, state):
    torch.save(state, path)
    return path


def section(state, name):
    """The dictionary of a section's options, to be changed; of an old checkpoint all sections are one."""
    values = state["cfg"][name] if state.get("args") is None else state["args"]
    return vars(values) if isinstance(values, argparse.Namespace) else values


def named(state, name, value):
    """The checkpoint with another class in a section."""
    options_of = section(state, name)
    option = {"model": "arch"}.get(name, name)
    if state.get("args") is not None or option in options_of:
        options_of[option] = value
    if state.get("args") is None:
        options_of["_name"] = value
    return state
