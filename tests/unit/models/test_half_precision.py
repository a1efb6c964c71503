"""Every architecture in half precision: as fairseq's --fp16 and --bf16 make it, and as --amp does."""

import contextlib
import copy

import pytest
import torch
from fairseq import utils
from torch import nn

from tests.helpers.steps import SYSTEMS, batch, build, criterion, train

PRECISIONS = [torch.float16, torch.bfloat16]
FAST = ("concat shift", "caching select", "mtcue")


def cases():
    for system in SYSTEMS:
        for precision in PRECISIONS:
            fast = system in FAST and precision is torch.float16
            marks = () if fast else pytest.mark.slow
            yield pytest.param(system, precision, id=f"{system} {precision}", marks=marks)


every_case = pytest.mark.parametrize(("system", "precision"), list(cases()))


@contextlib.contextmanager
def types_of(model, kinds):
    """The types of what modules of these kinds return meanwhile, by module name."""
    found = {}

    def keep(name):
        def hook(module, args, output):
            tensors = output if isinstance(output, tuple) else (output,)
            found.setdefault(name, set()).update(value.dtype for value in tensors if torch.is_tensor(value))

        return hook

    handles = [
        module.register_forward_hook(keep(name))
        for name, module in model.named_modules()
        if isinstance(module, kinds)
    ]
    yield found
    for handle in handles:
        handle.remove()


def losses(system, precision, autocast):
    """Summed loss in float32 and in half precision; the second's log and model, and what modules return."""
    loss_name = "margin" if system in ("concat shift", "mtcue") else "discounted"
    task, model = build(system, dropout=0.0)
    loss, sample = criterion(task, loss_name), batch(task)
    half = copy.deepcopy(model)
    torch.manual_seed(1)
    expected = train(model, loss, sample)
    if not autocast:
        half = half.to(precision)
        sample = utils.apply_to_sample(
            lambda value: value.to(precision) if value.dtype is torch.float32 else value, sample
        )
    torch.manual_seed(1)
    kinds = (nn.Linear, nn.Embedding, nn.LayerNorm)
    with types_of(half, kinds) as found, torch.autocast("cpu", precision, enabled=autocast):
        half.train()
        total, _, logged = loss(half, sample)
    total.backward()
    return expected, total.detach(), logged, half, found


@every_case
@pytest.mark.parametrize("autocast", [False, True], ids=["half", "autocast"])
def test_the_loss_is_that_of_float32(system, precision, autocast):
    expected, found, logged, model, types = losses(system, precision, autocast)
    assert float(found) == pytest.approx(float(expected), rel=1e-2)
    # Sums are kept in float32, whatever the layers have.
    assert all(not value.is_floating_point() or value.dtype is torch.float32
               for value in logged.values() if torch.is_tensor(value))  # fmt: skip
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert gradients and all(gradient.isfinite().all() for gradient in gradients)
    linear = {name for name, module in model.named_modules() if isinstance(module, nn.Linear)} & set(types)
    assert all(types[name] == {precision} for name in linear)
    if not autocast:  # nothing of a model is computed in float32 behind its back
        assert all(kinds == {precision} for kinds in types.values())
        assert {parameter.dtype for parameter in model.parameters()} == {precision}
