"""The package and the start of a command import nothing heavy; what a worker registers; what is put off."""

import subprocess
import sys

import pytest

from tests.integration.commands import ENVIRONMENT

HEAVY = (
    "heavy = {'torch', 'fairseq', 'omegaconf', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'transformers'}"
)

LIGHT = f"""
import contextlib, io, itertools, sys
import ctxmt_fairseq
from ctxmt_fairseq.cli import main

{HEAVY}

def helped(table, words):
    # every list of commands before the commands in it
    yield words
    for prefix, commands in table.items():
        for name in commands:
            module = sys.modules.get(f"ctxmt_fairseq.{{prefix}}{{name.replace('-', '_')}}")
            yield from helped(getattr(module, "COMMANDS", {{}}), [*words, name])

demo = ["demo-corpus", "demo", "--documents", "2", "--evaluation-documents", "2", "--examples", "2"]
languages = ["--source-lang", "en", "--target-lang", "fr"]
work = [
    ["user-dir"],
    demo,
    ["score", "demo/test.fr", "demo/test.fr", "--docids", "demo/test.docids"],
    ["compare", "translations", "demo/test.fr", "demo/test.fr", "demo/test.en", "--samples", "100"],
    ["corpus", "check", "demo/test", *languages],
    ["corpus", "stats", "demo/test", *languages],
]
lists = [["--help"], *([name, "--help"] for name in ("analyse", "compare", "control", "corpus"))]
light = [["contrast", "--help"], ["corpus", "tmx", "--help"]]
slow = {{"dataclasses", "logging", "json"}}  # each takes a --help longer than all modules of the package
every = ([*names, "--help"] for names in helped(main.COMMANDS, []))
for number, arguments in enumerate(itertools.chain(lists, light, every, work)):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            code = main.main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert code == 0 and said.getvalue(), arguments
    assert not heavy & set(sys.modules), (arguments, heavy & set(sys.modules))
    assert number >= len(lists + light) or not slow & set(sys.modules), (arguments, slow & set(sys.modules))
    # a list imports no command
    assert number >= len(lists) or "ctxmt_fairseq.base.command" not in sys.modules, arguments
assert isinstance(ctxmt_fairseq.BadInput("x"), ValueError) and ctxmt_fairseq.__version__
assert set(ctxmt_fairseq.__all__) <= set(dir(ctxmt_fairseq))
"""

WORKER = f"""
import importlib, multiprocessing, sys

def assert_registered(*_):
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    from ctxmt_fairseq.tasks.multi_source import MultiSourceTask

    assert TASK_REGISTRY["multi_source"] is MultiSourceTask
    assert "concat_transformer" in ARCH_MODEL_REGISTRY

if __name__ == "__main__":  # a spawned worker imports what its arguments need, and nothing before
    {HEAVY}
    import ctxmt_fairseq
    importlib.reload(ctxmt_fairseq)
    assert not heavy & set(sys.modules)
    ctxmt_fairseq.register()
    assert_registered()
    from fairseq.criterions import sentence_prediction
    assert not {{"sklearn", "scipy.stats"}} & set(sys.modules)
    assert sentence_prediction.pearsonr([1, 2, 3], [2, 4, 7])[0] > 0.99
    from scipy.stats import pearsonr, t  # itself, with what is no function
    assert t.ppf(0.5, 3) == 0 and sentence_prediction.pearsonr is not pearsonr
    importlib.reload(ctxmt_fairseq)
    assert all(getattr(ctxmt_fairseq, name) for name in ctxmt_fairseq.__all__)
    from ctxmt_fairseq.tasks.document_window import DocumentWindowTask
    worker = multiprocessing.get_context("spawn").Process(target=assert_registered, args=[DocumentWindowTask])
    worker.start()
    worker.join()
    assert worker.exitcode == 0
"""


PUT_OFF = """
import sys
from ctxmt_fairseq.base.put_off import put_back, put_off

put_off()
from sklearn import metrics
import scipy.stats
from sklearn.metrics import f1_score
assert isinstance(scipy.stats, type(metrics)) and "sklearn.base" not in sys.modules
from sklearn.neighbors import NearestNeighbors  # more than was put off: all of it
import sklearn.metrics
assert metrics is not sklearn.metrics and sklearn.neighbors.NearestNeighbors is NearestNeighbors
assert f1_score is not sklearn.metrics.f1_score
assert f1_score([1, 0], [1, 0]) == metrics.f1_score([1, 0], [1, 0]) == 1
put_off()  # too late
assert sys.modules["sklearn.metrics"] is sklearn.metrics
"""


WITHOUT = """
import sys
from pathlib import Path
from ctxmt_fairseq.cli import main

for side in ("en", "fr", "docids"):
    Path(f"text.{side}").write_text("a\\n")
try:
    main.main(sys.argv[1:])
except SystemExit as end:  # what the text is, is no checkpoint
    assert end.code == 2
assert "fairseq.tasks" in sys.modules
assert not {"sklearn", "scipy.stats"} & set(sys.modules)
"""
LANGUAGES = ("--source-lang", "en", "--target-lang", "fr")


def run(program, folder, *arguments):
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_commands_without_a_model_and_every_help_start_without_torch(tmp_path):
    run(LIGHT, tmp_path)


def test_a_spawned_worker_that_is_given_a_task(tmp_path):
    run(WORKER, tmp_path)


def test_what_fairseq_imports_for_other_tasks_is_there_for_all_who_want_it(tmp_path):
    run(PUT_OFF, tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ("preprocess", *LANGUAGES, "--train", "text", "--no-subwords", "--out", "data"),
        *(
            pytest.param(command, marks=pytest.mark.slow)
            for command in (
                ("embed", ".", "--train", "text", "--dry-run"),
                ("average", "."),
                ("card", "text.en"),
                ("export", "text.en", "out", "--to", "safetensors"),
                ("import", "text.en", "out"),
            )
        ),
    ],
    ids=lambda command: command[0],
)
def test_commands_that_import_fairseq_do_without_what_is_put_off(tmp_path, command):
    run(WITHOUT, tmp_path, *command)
