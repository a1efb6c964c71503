"""Many tensors in one copy: what arrives is what was sent."""

import torch

from ctxmt_fairseq.data.device_copies import to_device, to_host
from tests.helpers.other_device import DEVICE, OtherDevice

COPY = ("ctxmt_fairseq/data/device_copies.py", "to_device", "_to_copy")


def tree():
    shared = torch.arange(5)
    return {
        "twice": [shared, shared],
        "pair": (torch.tensor([[True, False, True]]), torch.randn(3, 2, dtype=torch.float64)),
        "across": torch.randn(2, 3).t(),
        "empty": torch.empty(0, 4),
        "number": torch.tensor(2.5, dtype=torch.bfloat16),
        "word": "w",
        "none": None,
    }


def leaves(value):
    """Tensors as (type, values), other values as they are."""
    if torch.is_tensor(value):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return {name: leaves(part) for name, part in value.items()}
    return type(value)(map(leaves, value)) if isinstance(value, (list, tuple)) else value


def test_a_structure_goes_there_and_comes_back_in_a_copy_each():
    sent = tree()
    with OtherDevice() as device:
        there = to_device(sent, DEVICE)
        assert {part.device for part in (*there["twice"], *there["pair"], there["number"])} == {DEVICE}
        assert there["twice"][0] is there["twice"][1]
        again = to_device(there, DEVICE)
        back = to_host(there)
    assert leaves(back) == leaves(sent)
    assert again["number"] is there["number"]
    assert device.sent == {COPY: 1} and device.fetched == {COPY: 1}


def test_what_is_there_already_stays_the_same():
    sent = tree()
    for name, value in to_host(sent).items():
        assert value is sent[name] or value == sent[name]
