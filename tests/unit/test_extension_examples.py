"""The worked extensions of docs/architecture.md do what the document says."""

import re
from pathlib import Path

import pytest
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY, MODEL_REGISTRY

from ctxmt_fairseq.evaluation.contrastive_sets import FORMATS, read_contrastive_set
from ctxmt_fairseq.modules.fusions import FUSIONS
from ctxmt_fairseq.modules.shortening import SHORTENINGS
from tests.unit.multi_source_models import dataset, logits, make
from tests.unit.random_models import check_step_by_step

DOCUMENT = Path(__file__).parents[2] / "docs/architecture.md"
REGISTRIES = (
    *(ARCH_MODEL_REGISTRY, ARCH_CONFIG_REGISTRY, MODEL_REGISTRY),
    *(registry._values for registry in (FUSIONS, SHORTENINGS, FORMATS)),
)


@pytest.fixture(autouse=True)
def registered():
    """Every example of the document is registered, and forgotten afterwards."""
    before = [dict(registry) for registry in REGISTRIES]
    for example in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        if ".register(" in example or "@register_model" in example:
            exec(compile(example, str(DOCUMENT), "exec"), {})
    yield
    for registry, known in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(known)


def check(model):
    """It reads its context, and decodes."""
    present, absent = (
        data.collater([data[line] for line in (0, 1, 4, 9, 23)])
        for data in (
            dataset(model, target_context=0),
            dataset(model, target_context=0, context_selection="absent"),
        )
    )
    assert (logits(model, present) - logits(model, absent)).abs().max() > 1e-3
    check_step_by_step(model, present)


def test_the_architecture():
    model = make("bag_transformer", train_context_only=True)
    new = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert new == {"encoder.bag.weight", "encoder.bag.bias"}
    check(model)


def test_the_fusion():
    model = make("dual serial", context_fusion="half", context_gate="branch")
    check(model)
    layer, x = model.decoder.layers[0], torch.randn(3, 2, 128)
    layer.attend_context = lambda y, state: 3 * y
    fused = layer.fuse(x, lambda y: 7 * y, None)
    torch.testing.assert_close(fused, layer.encoder_attn_layer_norm(x + 5 * x))


def test_the_shortening():
    check(make("caching tokens", shortening="ends"))
    shortening = SHORTENINGS["ends"](4, 2, "softmax", None)
    states = torch.arange(24.0).view(2, 3, 4)
    short, padding = shortening(states, torch.tensor([[True, False, False], [True, True, True]]))
    assert short.tolist() == [[[4, 5, 6, 7], [8, 9, 10, 11]], [[0] * 4] * 2]
    assert padding.tolist() == [[False, False], [True, True]]
    assert shortening.labels(["a", "b", "c"]) == ["a", "c"]


def test_the_contrastive_format(tmp_path):
    (tmp_path / "set.tsv").write_text("The cat.\tIt sleeps.\tIl dort.\tElle dort.\n")
    suite = read_contrastive_set(tmp_path / "set.tsv")
    (example,) = suite.examples
    assert (suite.format, example.source_before, example.source) == ("pairs", ("The cat.",), "It sleeps.")
    assert [candidate.current for candidate in example.candidates] == ["Il dort.", "Elle dort."]
