"""The recipes under examples/ in this process, and their scripts in a shell."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
import recipe_few_shot
import recipe_small
import recipe_steps
import recipes

from tests.helpers import forked
from tests.integration.commands import ENVIRONMENT, USER_DIR, command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAPERS = FOCUSED, GATED, MTCUE, SHORTENING, THESIS = [
    EXAMPLES / name for name in ("focused_concat", "gated_context", "mtcue", "sequence_shortening", "thesis")
]
NOT_OURS = """
    WORLD_SIZE RANK SLURM_NODEID LR LRS GPUS NODES PROFILE DRY_RUN SMOKE SYSTEMS CONTEXTS STORE START_FROM
""".split()


def bash(*arguments, path=None, cwd=None, **variables):
    """A script of the recipes, run to its end; ``path``: a folder of programs that come first."""
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in NOT_OURS}
    if path:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    command = ["bash", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env={**environment, **variables}, capture_output=True, text=True)


def start(script, *arguments):
    """What a script that only starts a step of recipes.py does, in this process; returns the exit code."""
    step = script.stem.replace("_", "-")
    return recipes.main([step, script.parent.name, *map(str, arguments)])


@pytest.fixture
def forked_commands(monkeypatch):
    """What the recipes run is run in forked processes, which have the heavy imports already."""

    def run(words, dry, log=None):
        name, *arguments = map(str, words)
        done = forked.run(command(name, *arguments), None, None, ENVIRONMENT)
        if log is not None:
            with open(log, "a") as file:
                file.write(done.stdout + done.stderr)
        assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    for module in (recipe_few_shot, recipe_small, recipe_steps):
        monkeypatch.setattr(module, "run", run)


def program(folder, name, lines):
    """A shell script that stands for a program, to be found in ``folder``."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)


@pytest.fixture
def dry_run(monkeypatch, capsys, tmp_path):
    """``dry_run(script, ARGUMENTS..., NAME=VALUE)``: the commands that it prints, as lists of words."""
    monkeypatch.chdir(tmp_path)

    def commands(script, *arguments, **variables):
        with monkeypatch.context() as patch:
            for name in NOT_OURS:
                patch.delenv(name, raising=False)
            for name, value in {"DRY_RUN": "1", **variables}.items():
                patch.setenv(name, value)
            code = start(script, *arguments)
        printed, errors = capsys.readouterr()
        assert (code, errors) == (0, "")
        assert not any(tmp_path.iterdir())
        return [
            ["USER_DIR" if word == str(USER_DIR) else word for word in shlex.split(line)]
            for line in printed.splitlines()
        ]

    return commands


def options_of(words):
    """Option -> value of a command (the last one's), or True; a list of all words under ``words``."""
    options = {"words": words}
    for at, word in enumerate(words):
        if word.startswith("--"):
            following = words[at + 1] if at + 1 < len(words) else "--"
            options[word] = True if following.startswith("--") else following
    return options


@pytest.fixture
def planned(dry_run):
    """The training command of a dry run as option -> value; a list of words under ``words``."""

    def plan(script, *arguments, **variables):
        (words,) = dry_run(script, *arguments, **variables)
        assert words[0] == "fairseq-train"
        return options_of(words)

    return plan


@pytest.fixture
def refused(monkeypatch, capsys):
    """The one line with which a script refuses what it is given."""

    def refuse(script, *arguments, **variables):
        with monkeypatch.context() as patch:
            for name, value in {"DRY_RUN": "1", **variables}.items():
                patch.setenv(name, value)
            assert start(script, *arguments) == 2
        printed, errors = capsys.readouterr()
        (line,) = errors.splitlines()
        assert printed == "" and line.startswith("error: ")
        return line

    return refuse


def chosen(options, expected):
    """The expected options' values."""
    return {name: options.get(f"--{name}") for name in expected}
