"""--amp on CPUs: which parts of a training step are computed in bfloat16, and that the plugin takes it up."""

import warnings
from types import SimpleNamespace

import pytest
import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from torch.utils._python_dispatch import TorchDispatchMode

from ctxmt_fairseq.tasks import cpu_autocast
from tests.unit.steps import batch, build, criterion

PRODUCTS = ("mm", "addmm", "bmm", "matmul")


class Types(TorchDispatchMode):
    """The types in which products and fused attention are computed, forward and backward."""

    def __init__(self):
        super().__init__()
        self.products, self.attention = set(), {}

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        name = operation.overloadpacket.__name__
        if name in PRODUCTS:
            self.products |= {value.dtype for value in arguments if torch.is_tensor(value)}
        if "scaled_dot_product" in name:
            kinds = {value.dtype for value in arguments if torch.is_tensor(value)}
            self.attention.setdefault(name.removesuffix("_for_cpu"), set()).update(kinds)
        return operation(*arguments, **(options or {}))


class Optimizer(AMPOptimizer):
    """fairseq's without a configuration."""

    def __init__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._grad_scaler = torch.amp.GradScaler("cuda", enabled=False)


def gradients(model, task, loss, sample, optimizer):
    model.zero_grad()
    torch.manual_seed(1)
    with Types() as found:
        total, _, _ = task.train_step(sample, model, loss, optimizer, 0)
    kept = {name: value.grad.clone() for name, value in model.named_parameters() if value.grad is not None}
    return found, float(total.detach()), kept


@pytest.mark.parametrize("system", ["concat shift", "gated", "mtcue"])
def test_products_are_bfloat16_and_attention_is_not(system):
    task, model = build(system)
    loss, sample = criterion(task), batch(task)
    plain, expected, whole = gradients(
        model, task, loss, sample, SimpleNamespace(backward=lambda total: total.backward())
    )
    assert plain.products == {torch.float32}
    found, total, rounded = gradients(model, task, loss, sample, Optimizer())
    assert found.products == {torch.bfloat16}
    assert found.attention and found.attention == plain.attention  # forward and backward, float32
    assert total != expected and total == pytest.approx(expected, rel=1e-2)
    assert {value.dtype for value in model.parameters()} == {torch.float32}
    assert all(value.dtype is torch.float32 for value in rounded.values())
    assert rounded.keys() == whole.keys()
    for name, gradient in whole.items():
        error = (rounded[name] - gradient).norm() / gradient.norm()
        assert error < 0.1 or gradient.norm() < 1e-4, name


@pytest.mark.parametrize(
    ("instructions", "warned"), [((), True), (("avx512_bf16",), False), (("amx_bf16",), False)]
)
def test_a_cpu_without_the_instructions_is_named(monkeypatch, caplog, instructions, warned):
    has = {"architecture": "x86_64", "avx2": True, **dict.fromkeys(instructions, True)}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    cpu_autocast._warn_of_slow_products.cache_clear()
    for _ in range(2):
        cpu_autocast.with_bfloat16_products(lambda model, sample: None)
    expected = ["--amp: this CPU has none of avx512_bf16, amx_bf16; float32 is faster"]
    assert caplog.messages == (expected if warned else [])
    cpu_autocast._warn_of_slow_products.cache_clear()
