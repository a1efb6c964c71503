"""``pytest -m gpu``: every system learns on a GPU, and says there what it says on the CPU."""

import json
import re

import pytest
import torch

from ctxmt_fairseq.cli.systems import SYSTEMS
from tests.integration.commands import read, run

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="what it compares is the GPU with the CPU"),
]
SEARCH = ("--beam", 2, "--max-len-b", 20)
DEVICES = {"GPU": (), "CPU": ("--cpu",)}
STORES = ("mtcue", "cue", "tagging")
PRECISIONS = {"sentence": (), "caching": ("--bf16",), "gated": ("--amp",)}  # the others: --fp16
ADDED = {
    "context-encoder": ("--train-context-only",),
    "caching": ("--batch-runs", 4),
    "gru": ("--gru-encoder-depth", 4, "--gru-decoder-depth", 8),
}


@pytest.fixture(scope="module", params=SYSTEMS)
def trained(request, once, data, contexts):
    """A system's name, a checkpoint that the GPU made, and the options that its context needs."""
    system = request.param
    store = ("--context-store", contexts) if system in STORES else ()

    def build(folder):
        size = ("--size", "tiny", "--max-update", 120, "--max-tokens", 1000, "--lr", 2e-3)
        more = (*ADDED.get(system, ()), *store, "--warmup-updates", 20, "--no-epoch-checkpoints")
        precision = PRECISIONS.get(system, ("--fp16",))
        run("ctxmt", "train", system, data, folder / "run", *size, *precision, *more)

    return system, once(f"gpu-{system}", build) / "run" / "checkpoints" / "checkpoint_last.pt", store


def test_the_training_has_learned(trained):
    _, model, _ = trained
    log = (model.parents[1] / "train.log").read_text(encoding="utf-8")
    losses = [float(loss) for loss in re.findall(r"\| valid \|.*? nll_loss (\S+)", log)]
    assert losses[-1] < losses[0] - 0.05 and losses[-1] < 7.5  # bits a subword; of 300 equal ones 8.2


def test_translations(trained, corpus, tmp_path):
    system, model, store = trained
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids", *SEARCH, *store)
    known = ("--contexts", corpus / "test2.meta.jsonl") if system in STORES else ()
    found = {}
    for name, device in DEVICES.items():
        run("ctxmt", "translate", model, *text, *known, *device, "--output", tmp_path / name)
        found[name] = read(tmp_path / name)
    assert len(found["GPU"]) == 43
    same = [a == b for a, b in zip(*found.values(), strict=True)]
    assert sum(same) >= 41, "rounding may exchange hypotheses that are equally probable, no more"


def test_contrastive_scores(trained, corpus, tmp_path):
    system, model, store = trained
    name = "formality.jsonl" if system in STORES else "pronoun-distance-1"
    scores = []
    for device in DEVICES.values():
        examples = tmp_path / "examples"
        suite = corpus / "demo" / "contrastive" / name
        run("ctxmt", "contrast", model, suite, *store, *device, "--examples", examples)
        found = (json.loads(line)["scores"] for line in read(examples))
        scores.append([score["window_sum"] for candidates in found for score in candidates])
    assert scores[0] == pytest.approx(scores[1], rel=1e-3)


def test_cxmi(trained, corpus, tmp_path):
    system, model, store = trained
    if system == "sentence":
        pytest.skip("it reads no context")
    words = {}
    for name, device in DEVICES.items():
        text = (corpus / "demo" / "test", "--cxmi-only", "--against", "random", "--words", tmp_path / name)
        run("ctxmt", "probe", model, *text, *store, *device)
        words[name] = [json.loads(line) for line in read(tmp_path / name)]
    bits = [[value for line in lines for value in line["bits"]] for lines in words.values()]
    assert len(bits[0]) > 100 and bits[0] == pytest.approx(bits[1], abs=2e-3)
