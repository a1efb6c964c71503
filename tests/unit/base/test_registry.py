"""Names that options have, each with its class."""

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.registry import Registry


def test_names_stand_in_the_order_of_their_registration():
    registry = Registry("a colour")

    @registry.register("red", "crimson")
    class Red:
        pass

    @registry.register("blue")
    class Blue:
        pass

    assert list(registry) == ["red", "crimson", "blue"] and "red" in registry and len(registry) == 3
    assert registry["crimson"] is Red and registry.where(lambda colour: colour is Blue) == ["blue"]
    with pytest.raises(BadInput, match="expected a colour from red, crimson, blue, found 'green'"):
        registry["green"]
    with pytest.raises(ValueError, match="a colour named red is registered already"):
        registry.register("red")(Blue)
    assert registry["red"] is Red
