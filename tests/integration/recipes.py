"""Dry runs of the recipes under examples/."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAPERS = FOCUSED, GATED, MTCUE, SHORTENING, THESIS = [
    EXAMPLES / name for name in ("focused_concat", "gated_context", "mtcue", "sequence_shortening", "thesis")
]
NOT_OURS = (
    "WORLD_SIZE",
    "RANK",
    "SLURM_NODEID",
    "LR",
    "GPUS",
    "NODES",
    "DRY_RUN",
    "SMOKE",
    "SYSTEMS",
    "CONTEXTS",
    "STORE",
    "START_FROM",
)


def bash(*arguments, path, cwd=None, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    environment.update(variables, PATH=f"{path}{os.pathsep}{os.environ['PATH']}")
    command = ["bash", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """Commands that a dry run needs, without the seconds that their imports take."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("ctxmt", "fairseq-train"):
        (folder / name).write_text("#!/bin/sh\necho USER_DIR\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def planned(stubs, tmp_path):
    """The training command of a dry run as option -> value; a list of words under ``words``."""

    def plan(script, *arguments, **variables):
        done = bash(script, *arguments, path=stubs, cwd=tmp_path, DRY_RUN="1", **variables)
        assert done.returncode == 0, done.stderr
        assert not any(tmp_path.iterdir())
        words = shlex.split(done.stdout)
        assert words[0] == "fairseq-train"
        options = {"words": words}
        for at, word in enumerate(words):
            if word.startswith("--"):
                following = words[at + 1] if at + 1 < len(words) else "--"
                options[word] = True if following.startswith("--") else following
        return options

    return plan


@pytest.fixture
def refused(stubs):
    def refuse(script, *arguments, **variables):
        done = bash(script, *arguments, path=stubs, DRY_RUN="1", **variables)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: ")
        return line

    return refuse


def chosen(options, expected):
    """The expected options' values."""
    return {name: options.get(f"--{name}") for name in expected}
