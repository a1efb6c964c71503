"""--amp on CPUs: which parts of a training step are computed in bfloat16, and that the plugin takes it up."""

import warnings
from types import SimpleNamespace

import pytest
import torch
from fairseq.optim.amp_optimizer import AMPOptimizer
from torch.utils._python_dispatch import TorchDispatchMode

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.fairseq_fixes import mend
from ctxmt_fairseq.tasks import cpu_autocast
from tests.helpers.steps import batch, build, criterion

PRODUCTS = ("mm", "addmm", "bmm", "matmul")


class Types(TorchDispatchMode):
    """What is computed, and the types of products and fused attention, forward and backward."""

    def __init__(self):
        super().__init__()
        self.products, self.attention, self.names = set(), {}, set()

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        name = operation.overloadpacket.__name__
        self.names.add(name)
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


@pytest.mark.parametrize("system", ["concat shift", "gru", "gated", "caching mean", "mtcue"])
def test_products_are_bfloat16_and_attention_is_not(system):
    task, model = build(system, dropout=0.0)
    loss, sample = criterion(task), batch(task)
    plain, expected, whole = gradients(
        model, task, loss, sample, SimpleNamespace(backward=lambda total: total.backward())
    )
    assert plain.products == {torch.float32}
    found, total, rounded = gradients(model, task, loss, sample, Optimizer())
    assert found.products == {torch.bfloat16}
    assert found.attention == plain.attention  # forward and backward, float32
    assert found.attention or system == "gru"
    assert total != expected and total == pytest.approx(expected, rel=1e-2)
    assert {value.dtype for value in model.parameters()} == {torch.float32}
    assert all(value.dtype is torch.float32 for value in rounded.values())
    assert rounded.keys() == whole.keys()
    for name, gradient in whole.items():
        error = (rounded[name] - gradient).norm() / gradient.norm()
        assert error < 0.1 or gradient.norm() < 1e-4, name


@pytest.fixture
def first_step():
    """As in a process that has not trained yet."""
    cpu_autocast._adapt_autocast.cache_clear()
    yield
    cpu_autocast._adapt_autocast.cache_clear()


@pytest.mark.parametrize(
    ("has", "warned"),
    [
        ({"architecture": "x86_64", "avx2": True}, True),
        ({"architecture": "x86_64", "avx512_bf16": True}, False),
        ({"architecture": "x86_64", "amx_bf16": True}, False),
        ({"architecture": "arm64"}, False),
        (None, False),  # torch before it had the function
    ],
)
def test_a_cpu_without_the_instructions_is_named(monkeypatch, caplog, first_step, has, warned):
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    if has:
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has, raising=False)
    for _ in range(2):
        cpu_autocast.with_bfloat16_products(torch.nn.Linear(1, 1), lambda model, sample: None)
    expected = ["bfloat16: this CPU has none of avx512_bf16, amx_bf16; float32 is faster"]
    assert caplog.messages == (expected if warned else [])


def test_activations_computed_again_are_refused():
    """fairseq computes them in the backward pass, outside of autocast: another loss's gradient."""
    task, model = build("concat shift", checkpoint_activations=True)
    with pytest.raises(BadInput, match="--amp with --cpu does not work with --checkpoint-activations"):
        task.train_step(batch(task), model, criterion(task), Optimizer(), 0)


def test_validation_is_float32():
    task, model = build("concat shift")
    task.train_step(batch(task), model, criterion(task), Optimizer(), 0)
    task.cfg.eval_bleu = False
    with Types() as found:
        task.valid_step(batch(task), model, criterion(task))
    assert found.products == {torch.float32}


def test_gradients_that_are_not_finite_are_fairseqs_error():
    """Which it answers by looking for the first such number."""
    mend()
    with pytest.raises(FloatingPointError, match="gradients are Nan/Inf"):
        Optimizer().next_loss_scale  # noqa: B018  (a property: asked for when a gradient is not finite)


def test_a_training_step_draws_its_own_masks():
    task, model = build("concat shift", dropout=0.3)
    found, _, _ = gradients(model, task, criterion(task), batch(task), Optimizer())
    assert "random_" in found.names and not {"bernoulli_", "native_dropout"} & found.names


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_keeps_and_scales(p):
    torch.manual_seed(1)
    values = torch.full((401, 1001), 3.0, requires_grad=True)  # an odd number of numbers
    found = cpu_autocast.dropout(values, p, True)
    found.sum().backward()
    zero = found == 0
    torch.testing.assert_close(found[~zero], torch.full_like(found[~zero], 3 / (1 - p)), rtol=1e-4, atol=0)
    torch.testing.assert_close(values.grad * 3, found, rtol=1e-6, atol=0)  # the same mask backwards
    # Each of the four numbers from one draw drops as often, and on its own: deviations are binomial.
    parts = zero.flatten()[: 4 * (zero.numel() // 4)].view(-1, 4).double()
    deviation = (p * (1 - p) / len(parts)) ** 0.5
    assert ((parts.mean(0) - p).abs() < 5 * deviation).all()
    assert (torch.corrcoef(parts.T) - torch.eye(4, dtype=torch.double)).abs().max() < 5 * len(parts) ** -0.5


def test_dropout_of_nothing_and_everything():
    values = torch.ones(3, 5, dtype=torch.bfloat16)
    assert (
        cpu_autocast.dropout(values, 0.5, False) is values
        and cpu_autocast.dropout(values, 0.0, True) is values
    )
    everything = cpu_autocast.dropout(values, 1.0, True)
    assert everything.dtype is torch.bfloat16 and not everything.any()
    assert cpu_autocast.dropout(torch.ones(0, 5), 0.5, True).shape == (0, 5)
