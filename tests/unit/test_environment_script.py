"""scripts/environment.sh after a kill."""

import shutil
import subprocess
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def program(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def test_an_environment_that_was_killed_before_it_had_pip_is_made_to_its_end(tmp_path):
    """venv makes bin/python first and bin/pip last, some seconds later."""
    (tmp_path / "scripts").mkdir()
    for name in ("environment.sh", "environment_is_complete.py"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    here, new = tmp_path / ".venv" / "bin" / "python", tmp_path / "new"
    program(here, 'echo "No module named pip"; exit 1')
    program(new, "")
    program(tmp_path / "python3", f'[ "$2" != venv ] || cp {new} {here}')
    command = ["bash", "-c", "source scripts/environment.sh"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(tmp_path / "python3")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
