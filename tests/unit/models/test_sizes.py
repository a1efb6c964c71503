"""The sizes of architectures, and what an installation offers."""

import re
from argparse import Namespace
from pathlib import Path

import pytest
from fairseq.models import ARCH_CONFIG_REGISTRY

import ctxmt_fairseq  # noqa: F401 (registers)
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.sizes import refused_by_fairseq
from tests.helpers import steps

ROOT = Path(__file__).parents[3]


def dimensions(arch, task):
    args = Namespace(arch=arch, task=task)
    ARCH_CONFIG_REGISTRY[arch](args)
    sizes = ("layers", "embed_dim", "ffn_embed_dim", "attention_heads")
    return [getattr(args, f"{side}_{size}") for side in ("encoder", "decoder") for size in sizes]


@pytest.mark.parametrize("task", ["document_window", "metadata_context", "multi_source"])
def test_the_stock_transformer_is_as_tiny_as_what_it_is_compared_with(task):
    tiny = dimensions("transformer_tiny", task)
    assert tiny == [2, 128, 256, 4] * 2
    compared = Namespace()
    ARCH_CONFIG_REGISTRY["concat_transformer_tiny"](compared)
    stock = Namespace(task=task)
    ARCH_CONFIG_REGISTRY["transformer_tiny"](stock)
    shared = vars(compared).keys() & vars(stock).keys()
    assert len(shared) >= 6 and all(getattr(compared, name) == getattr(stock, name) for name in shared)


def test_in_other_tasks_it_is_fairseqs():
    assert dimensions("transformer_tiny", "translation") == [2, 64, 64, 2] * 2


@pytest.mark.parametrize(
    "size, refusal",
    [
        ({"encoder_attention_heads": 3}, "embed_dim must be divisible by num_heads"),
        ({"decoder_embed_dim": 64}, "--share-all-embeddings requires --encoder-embed-dim to match"),
    ],
)
@pytest.mark.parametrize(
    "system, arch", [("gated", "gated_context_transformer_tiny"), (steps.STOCK, "transformer")]
)
def test_what_fairseq_refuses_of_a_size_is_one_line(system, arch, size, refusal):
    with pytest.raises(BadInput, match=f"^--arch {arch}: {refusal}"):
        steps.build(system, **size)


def test_errors_of_other_code_are_no_bad_input():
    with pytest.raises(ValueError, match="mine") as raised, refused_by_fairseq("mine"):
        raise ValueError("mine")
    assert not isinstance(raised.value, BadInput)


def test_the_documented_extras_are_those_on_offer():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    offered = set(re.findall(r"^(\w+) = ", table, re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"The extras are(.*?)\.", readme, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", sentence)) == offered
    (everything,) = re.findall(r'^all = \["ctxmt_fairseq\[(.*)\]"\]', table, re.MULTILINE)
    assert set(everything.split(",")) == offered - {"all"}
