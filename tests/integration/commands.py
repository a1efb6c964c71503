"""Real commands, as a user runs them in a shell, and the tiny sizes that all integration tests share."""

import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

import ctxmt_fairseq
from tests.helpers import forked

BIN = Path(sys.executable).parent
USER_DIR = Path(ctxmt_fairseq.__file__).resolve().parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(USER_DIR.parent),  # the package that the tests import, wherever another is installed
    "OMP_NUM_THREADS": "1",
    "PATH": f"{BIN}:{os.environ['PATH']}",
}

TASK = ("--user-dir", USER_DIR, "--task", "document_window")
TINY = (
    *("--encoder-embed-dim", 32, "--encoder-ffn-embed-dim", 64, "--encoder-layers", 1),
    *("--decoder-layers", 1, "--encoder-attention-heads", 2, "--decoder-attention-heads", 2),
    "--share-all-embeddings",
)
TRAINING = (
    *("--optimizer", "adam", "--lr", 5e-3, "--lr-scheduler", "inverse_sqrt", "--warmup-updates", 20),
    *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--cpu", "--num-workers", 0),
    *("--log-format", "json", "--log-interval", 1, "--seed", 3),
)


def command(name, *arguments):
    """The command line of one of the environment's programs."""
    return [str(BIN / name), *map(str, arguments)]


def run(name, *arguments, cwd=None, input=None, code=0):
    """Run a program to its end; returns the finished process, with text in ``stdout`` and ``stderr``."""
    done = forked.run(command(name, *arguments), cwd, input, ENVIRONMENT)
    talk = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.returncode == code, f"exit code {done.returncode} from {name} {arguments}\n{talk}"
    return done


def refused(name, *arguments, **options):
    """The one line with which a command refuses bad input, with exit code 2."""
    done = run(name, *arguments, code=2, **options)
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ctxmt: error:")]
    assert done.stderr.splitlines()[-1] == line
    return line


def losses(log):
    """Update number -> (loss, gradient norm), as text, from a json log."""
    records = [json.loads(text) for text in re.findall(r"\| train_inner \| (\{.*\})", log)]
    return {int(record["num_updates"]): (record["loss"], record["gnorm"]) for record in records}


def printed(stdout, kind):
    """Line number -> the last column of each S-, T- or H- line, in the order of printing."""
    lines = defaultdict(list)
    for number, text in re.findall(rf"^{kind}-(\d+)\t(.*)$", stdout, re.MULTILINE):
        lines[int(number)].append(text.split("\t")[-1])
    return dict(lines)


def read(path):
    """The lines of a text file."""
    return Path(path).read_text(encoding="utf-8").splitlines()
