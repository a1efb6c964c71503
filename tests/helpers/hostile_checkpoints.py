"""Good checkpoints to be spoiled, and the many ways of loading that must refuse them."""

import copy
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.averaging import Checkpoint
from ctxmt_fairseq.checkpoints.fairseq_fixes import mend
from ctxmt_fairseq.checkpoints.reading import load_checkpoint_to_cpu, load_ensemble
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.models.initialisation import load_sentence_model
from tests.helpers.saved_models import as_old, save, trained

PAIRS = [("concat_transformer", "document_window"), ("transformer", "translation")]


@pytest.fixture(scope="module", params=PAIRS, ids=[arch for arch, _ in PAIRS])
def pristine(request, tmp_path_factory):
    arch, task = request.param
    return trained(tmp_path_factory.mktemp("trained"), arch=arch, task=task)


@pytest.fixture(params=["cfg", "args"])
def state(request, pristine):
    """A good checkpoint of today and one of old, of a plugin's and a stock architecture, to be changed."""
    state, args = copy.deepcopy(pristine)
    return state if request.param == "cfg" else as_old(state, args)


def ensemble(path):
    return load_ensemble([str(path)])


def sentence_checkpoint(path):
    load_sentence_model(torch.nn.Linear(2, 2), str(path))


def fairseqs_own(path):
    """As fairseq-generate, -interactive and -validate load, once they know that the task is ours."""
    mend()
    checkpoint_utils.load_model_ensemble([str(path)])


LOADING = [ensemble, load_checkpoint_to_cpu, load_models, Checkpoint.read, sentence_checkpoint, fairseqs_own]


def refused(state, folder, *loads):
    """The message with which every way of loading refuses a checkpoint."""
    path = save(folder / "hostile.pt", state)
    messages = set()
    for load in loads or LOADING:
        with pytest.raises(BadInput) as error:
            load(str(path) if load is load_models else Path(path))
        messages.add(str(error.value))
    (message,) = messages
    assert "\n" not in message and message.startswith(f"{path}: ")
    return message


def payload(folder):
    return f"__import__('os').mkdir({str(folder / 'victim')!r})"


def unharmed(folder):
    return not (folder / "victim").exists()


@pytest.fixture
def nothing_ran(tmp_path):
    yield
    assert unharmed(tmp_path)
