"""Embeddings of context sentences against sums of table rows written by hand."""

import pytest
import torch

from ctxmt_fairseq.data.context_options import FOLLOWING_SOURCE, PREVIOUS_SOURCE, TARGET
from ctxmt_fairseq.models.blocks.context_embeddings import ContextEmbeddings

DIM = 8
DISTANCES = torch.tensor([[0, 1, 1], [31, 32, 500]])
ROLES = torch.tensor(
    [[PREVIOUS_SOURCE, PREVIOUS_SOURCE, FOLLOWING_SOURCE], [TARGET, TARGET, PREVIOUS_SOURCE]]
)


def make(**arguments):
    torch.manual_seed(0)
    return ContextEmbeddings(DIM, **arguments)


@pytest.mark.parametrize("positions", [True, False])
def test_every_vector_gets_its_distance_role_and_place(positions):
    module = make(places=3 if positions else None)
    states = torch.randn(2, 3, 5, DIM)
    result = module(states, DISTANCES, ROLES)
    for b in range(2):
        for c in range(3):
            for k in range(5):
                expected = states[b, c, k] + module.segments.weight[min(DISTANCES[b, c], 31)]
                if ROLES[b, c] != PREVIOUS_SOURCE:
                    expected = expected + module.roles.weight[ROLES[b, c]]
                if positions:
                    expected = expected + module.positions.weight[min(k, 2)]
                torch.testing.assert_close(result[b, c, k], expected)


def test_tables():
    module = make()
    shapes = {name: tuple(table.shape) for name, table in module.named_parameters()}
    assert shapes == {"segments.weight": (32, DIM), "roles.weight": (3, DIM), "positions.weight": (1024, DIM)}
    assert module.positions.weight.std().item() == pytest.approx(DIM**-0.5, rel=0.05)  # fairseq's Embedding
    assert not any(name.startswith("positions") for name in make(places=None).state_dict())


def test_the_previous_source_sentences_role_stays_zero():
    module = make()
    module(torch.randn(2, 3, 5, DIM), DISTANCES, ROLES).pow(2).sum().backward()
    assert (
        not module.roles.weight[PREVIOUS_SOURCE].any() and not module.roles.weight.grad[PREVIOUS_SOURCE].any()
    )
    assert module.roles.weight.grad[[FOLLOWING_SOURCE, TARGET]].all()
    assert module.segments.weight.grad[[0, 1, 31]].all() and not module.segments.weight.grad[2:31].any()


def test_half_precision_stays_half():
    result = make().bfloat16()(torch.zeros(2, 3, 5, DIM, dtype=torch.bfloat16), DISTANCES, ROLES)
    assert result.dtype == torch.bfloat16 and result.isfinite().all()
