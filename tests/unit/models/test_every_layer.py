"""What every layer of every architecture has from fairseq's: its three dropouts, and weights around 0."""

import pytest
from fairseq.modules import MultiheadAttention
from fairseq.modules.fairseq_dropout import FairseqDropout
from torch import nn

from tests.helpers import concat_models, metadata_models, multi_source_models

OPTIONS = {"dropout": 0.11, "attention_dropout": 0.22, "activation_dropout": 0.33}
ALL = pytest.mark.parametrize(
    ("helper", "given"),
    [
        *((multi_source_models, {"case": case}) for case in multi_source_models.CASES),
        *((metadata_models, {"case": case}) for case in metadata_models.CASES),
        (concat_models, {"segment_positions": "learned", "segment_types": "context"}),
    ],
    ids=lambda each: each.get("case", "segments") if isinstance(each, dict) else "",
)


@ALL
def test_every_layer_has_the_dropouts_of_the_options(helper, given):
    model = helper.make(**given, **OPTIONS)
    found = 0
    for parent in model.modules():
        for name, module in parent.named_children():
            if isinstance(module, (FairseqDropout, nn.Dropout)) and name != "context_dropout":  # tags' own: 0
                kind = "attention_" * isinstance(parent, MultiheadAttention)
                kind += "activation_" * name.startswith("activation")
                assert module.p == OPTIONS[f"{kind}dropout"], (type(parent).__name__, name)
                found += 1
    assert found >= 3 * (len(model.encoder.layers) + len(model.decoder.layers))


@ALL
def test_weights_start_around_zero(helper, given):
    for name, weight in helper.make(**given).named_parameters():
        if weight.dim() > 1 and weight.numel() > 1:
            assert abs(weight.mean()) < 5 * weight.std() / weight.numel() ** 0.5, name
