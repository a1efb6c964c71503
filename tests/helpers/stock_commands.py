"""fairseq's commands, called as a shell calls them, and what is looked at of what they leave."""

import contextlib
import hashlib
import importlib
import io
import re
import sys

import fairseq  # noqa: F401  (before the plugin, so that its import registers itself)
import torch


def command(name, line, *words, input=""):
    """The stdout of ``fairseq-NAME`` on a command line, which is split at spaces."""
    module = importlib.import_module(f"fairseq_cli.{name}")
    argv, stdin = sys.argv, sys.stdin
    sys.argv, sys.stdin = [f"/bin/fairseq-{name}", *line.split(), *map(str, words)], io.StringIO(input)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
            module.cli_main()
    except SystemExit as ended:
        said = printed.getvalue().splitlines()[-1:]
        raise RuntimeError(f"exit code {ended.code}: {said}") from None
    finally:
        sys.argv, sys.stdin = argv, stdin
    return printed.getvalue()


def results(printed):
    """The lines with sentences and scores of what a command prints."""
    return [line for line in printed.splitlines() if re.match(r"[STHDPA]-|Generate|BLEU", line)]


def learned(checkpoint):
    """A checkpoint's parameters, in short, and what it says besides."""
    state = torch.load(checkpoint, weights_only=False)
    digest = hashlib.sha256()
    for name, value in sorted(state["model"].items()):
        digest.update(name.encode() + value.numpy().tobytes())
    history = state["optimizer_history"][-1]["num_updates"]
    return [digest.hexdigest(), history, sorted(state), sorted(state["extra_state"])]


def train(folder, name, line, data="data"):
    """What ``fairseq-train`` learns, in a folder of this name."""
    place = folder / name
    command("train", line, folder / data, "--save-dir", place)
    return learned(place / "checkpoint_last.pt")


def modules(*classes):
    """Where fairseq has what it built from."""
    return [f"{type(each).__module__}.{type(each).__qualname__}" for each in classes]


def functions():
    """Every function of fairseq, and every method of its classes, by the name of its place."""
    found = {}
    for name, module in sorted(MODULES.items()):
        for key, value in sorted(vars(module).items()):
            members = vars(value).items() if isinstance(value, type) else [("", value)]
            for member, inner in members:
                if callable(inner) or isinstance(inner, property):
                    inner = getattr(inner, "fget", inner)
                    where = [getattr(inner, each, "") for each in ("__module__", "__qualname__")]
                    found[f"{name}.{key}.{member}"] = ".".join(map(str, where))
    return found


MODULES = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "fairseq"}
