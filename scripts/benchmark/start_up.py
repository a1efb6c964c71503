"""What it costs to start a command that needs no model, or to ask any for its help."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence

from scripts.benchmark.paired import Comparison, alternate

# What the console script does.
_COMMAND = "import sys; from ctxmt_fairseq.cli.main import main; sys.exit(main(sys.argv[1:]))"
_ONE_DOCUMENT = ("--documents", 1, "--evaluation-documents", 1, "--examples", 2)


def cpu_seconds(code: str, *arguments: Any) -> float:
    """CPU time of a program from the start of its interpreter to its end; its folder is a new one."""
    path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode} from {code} {arguments}")
    return usage.ru_utime + usage.ru_stime


def start_up(repeats: int) -> List[Comparison]:
    """CPU time of commands as a share of what ``import torch`` takes."""
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as folder:
        text = Path(folder, "text")
        text.write_text("A sentence of some words .\n", encoding="utf-8")
        commands: Dict[str, Sequence[Any]] = {
            "--help": ["--help"],
            "embed --help": ["embed", "--help"],
            "user-dir": ["user-dir"],
            "score, one sentence": ["score", text, text],
            "demo-corpus, one document": ["demo-corpus", "demo", *_ONE_DOCUMENT],
        }
        return [_compare(title, arguments, repeats) for title, arguments in commands.items()]


def _compare(title: str, arguments: Sequence[Any], repeats: int) -> Comparison:
    pairs = alternate(
        lambda _: cpu_seconds(_COMMAND, *arguments), lambda _: cpu_seconds("import torch"), repeats
    )
    return Comparison(f"start, ctxmt {title}", ("command", "import torch"), "CPU s", pairs, "at most 0.2")
