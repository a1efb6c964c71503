"""What fairseq knows of the plugin, in whatever order a program imports the two of them."""

import json
import subprocess
import sys

import pytest

from tests.integration.commands import ENVIRONMENT

ALL = {"criterions", "models", "tasks"}
# How programs begin, and the rooms of the package whose names fairseq then knows.
PROGRAMS = {
    "import ctxmt_fairseq, fairseq": set(),
    "import ctxmt_fairseq, fairseq; [ctxmt_fairseq.register() for _ in range(2)]": ALL,
    "from ctxmt_fairseq import Translator": ALL,
    "from ctxmt_fairseq.generation import cross_entropy": ALL,
    "from ctxmt_fairseq.generation.user_code import import_user_dir; import_user_dir('own')": ALL,
    "from ctxmt_fairseq.models.context_model import ContextModel": {"models"},
    "from ctxmt_fairseq.criterions import context_margin": {"criterions"},
    "import ctxmt_fairseq; at_once(translator, ctxmt_fairseq.register, translator)": ALL,
    "import ctxmt_fairseq; at_once(fairseq, ctxmt_fairseq.register, fairseq)": ALL,
    "at_once(fairseq, fairseq, fairseq); import ctxmt_fairseq": ALL,
}

# Each in a process of its own, in which torch has been imported, but not fairseq.
SERVER = """
import json, multiprocessing, sys, traceback
from concurrent.futures import ThreadPoolExecutor
import hydra.core.global_hydra, sacrebleu, torch, torch._dynamo  # which fairseq imports

def fairseq():
    import fairseq

def translator():
    from ctxmt_fairseq import Translator

def at_once(*functions):
    with ThreadPoolExecutor(len(functions)) as pool:
        for called in [pool.submit(function) for function in functions]:
            called.result(60)

def known(program):
    try:
        exec(program, globals())
        from fairseq import checkpoint_utils
        from fairseq.criterions import CRITERION_REGISTRY
        from fairseq.models import ARCH_MODEL_REGISTRY
        from fairseq.tasks import TASK_REGISTRY
        names = {
            "criterions": {"context_margin", "context_discounted_label_smoothed_cross_entropy"},
            "models": {"concat_transformer", "context_gru", "mtcue_transformer_tiny", "caching_transformer"},
            "tasks": {"document_window", "multi_source", "metadata_context"},
        }
        registered = {**TASK_REGISTRY, **ARCH_MODEL_REGISTRY, **CRITERION_REGISTRY}
        some = {room for room, expected in names.items() if expected & registered.keys()}
        whole = {room for room, expected in names.items() if expected <= registered.keys()}
        assert some == whole, registered.keys()
        load = checkpoint_utils.load_checkpoint_to_cpu
        assert load.__module__ == "fairseq.checkpoint_utils", load  # whatever is registered
        return sorted(whole)
    except BaseException:
        return traceback.format_exc()

with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
    print(json.dumps(pool.map(known, json.load(sys.stdin), chunksize=1)))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """By program: the rooms, or the traceback."""
    folder = tmp_path_factory.mktemp("register")
    (folder / "own").mkdir()
    (folder / "own" / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-c", SERVER],
        cwd=folder,
        env=ENVIRONMENT,
        input=json.dumps(list(PROGRAMS)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(PROGRAMS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_fairseq_knows(program, found):
    assert found[program] == sorted(PROGRAMS[program])
