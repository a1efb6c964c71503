"""Importing the package or starting a command imports nothing heavy; fairseq still finds what we register.

That the plugin registers where fairseq is imported first, every test of fairseq's own commands shows.
"""

import subprocess
import sys

from tests.integration.commands import ENVIRONMENT

HEAVY = (
    "heavy = {'torch', 'fairseq', 'omegaconf', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'transformers'}"
)

LIGHT = f"""
import contextlib, io, sys
import ctxmt_fairseq
from ctxmt_fairseq.cli import analyse, compare, control, corpus, main

{HEAVY}
within = {{
    "analyse": analyse.ANALYSES,
    "compare": compare.COMPARISONS,
    "control": control.SUBCOMMANDS,
    "corpus": corpus.KINDS,
}}
helped = [[]] + [[name] for name in main.COMMANDS]
helped += [[name, inner] for name, table in within.items() for inner in table]
demo = ["demo-corpus", "demo", "--documents", "2", "--evaluation-documents", "2", "--examples", "2"]
languages = ["--source-lang", "en", "--target-lang", "fr"]
work = [
    ["user-dir"],
    demo,
    ["score", "demo/test.fr", "demo/test.fr", "--docids", "demo/test.docids"],
    ["compare", "translations", *["demo/test.fr"] * 3, "--samples", "100"],
    ["corpus", "check", "demo/test", *languages],
    ["corpus", "stats", "demo/test", *languages],
]
for arguments in [*([*names, "--help"] for names in helped), *work]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            code = main.main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert code == 0 and said.getvalue(), arguments
    assert not heavy & set(sys.modules), (arguments, heavy & set(sys.modules))
assert isinstance(ctxmt_fairseq.BadInput("x"), ValueError) and ctxmt_fairseq.__version__
assert set(ctxmt_fairseq.__all__) <= set(dir(ctxmt_fairseq))
"""

REGISTERED = f"""
import importlib, multiprocessing, sys

def assert_registered(*_):
    from fairseq import checkpoint_utils
    from fairseq.criterions import CRITERION_REGISTRY
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    from ctxmt_fairseq.safe_checkpoints import load_checkpoint_to_cpu
    from ctxmt_fairseq.tasks.multi_source import MultiSourceTask

    assert {{"document_window", "metadata_context"}} <= set(TASK_REGISTRY)
    assert TASK_REGISTRY["multi_source"] is MultiSourceTask
    assert {{"concat_transformer", "context_gru", "mtcue_transformer"}} <= set(ARCH_MODEL_REGISTRY)
    assert {{"context_margin", "context_discounted_label_smoothed_cross_entropy"}} <= set(CRITERION_REGISTRY)
    assert checkpoint_utils.load_checkpoint_to_cpu is load_checkpoint_to_cpu
    assert not any(finder.__class__.__name__ == "AfterImport" for finder in sys.meta_path)

if __name__ == "__main__":  # a spawned worker imports what its arguments need, and nothing before
    {HEAVY}
    import ctxmt_fairseq
    importlib.reload(ctxmt_fairseq)
    assert not heavy & set(sys.modules)
    import fairseq
    assert_registered()
    importlib.reload(ctxmt_fairseq)
    assert all(getattr(ctxmt_fairseq, name) for name in ctxmt_fairseq.__all__)
    from ctxmt_fairseq.data.context_dataset import ContextDataset
    worker = multiprocessing.get_context("spawn").Process(target=assert_registered, args=[ContextDataset])
    worker.start()
    worker.join()
    assert worker.exitcode == 0
"""


def run(program, folder):
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_commands_without_a_model_and_every_help_start_without_torch(tmp_path):
    run(LIGHT, tmp_path)


def test_the_package_before_fairseq_and_in_a_spawned_worker(tmp_path):
    run(REGISTERED, tmp_path)
