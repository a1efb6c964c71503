"""Models with random weights, and what any model with context beside the source must do, for tests."""

import argparse
import copy
from types import SimpleNamespace

import numpy as np
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, build_model
from fairseq.models.transformer import TransformerModel
from fairseq.sequence_generator import SequenceGenerator

import ctxmt_fairseq  # noqa: F401
from ctxmt_fairseq.models.decoder import fuse_attention
from ctxmt_fairseq.models.initialisation import OPTIONS
from ctxmt_fairseq.models.sizes import SIZES
from tests.helpers.window_datasets import PAD, VOCABULARY

STOCK_TASK = SimpleNamespace(source_dictionary=VOCABULARY, target_dictionary=VOCABULARY)
STOCK_INPUTS = ("src_tokens", "src_lengths", "prev_output_tokens")


def arguments(arch, **options):
    """What fairseq's parser makes of these options."""
    args = argparse.Namespace(arch=arch, **options)
    ARCH_CONFIG_REGISTRY[arch](args)
    return args


_built: dict = {}  # what build_random has built: (task, model, random numbers' state after it)


def build_random(arch, task, seed=1, **options):
    """A model in evaluation mode, with all parameters random: fairseq starts biases at 0, which hides
    errors. The same again is a copy, which costs a third."""
    key = arch, id(task), seed, repr(sorted(options.items()))
    if key not in _built:
        model = _build_random(arch, task, seed, **options)
        _built[key] = task, model, torch.get_rng_state()
    task, model, state = _built[key]
    torch.set_rng_state(state)
    return copy.deepcopy(model, {id(VOCABULARY): VOCABULARY})


def _build_random(arch, task, seed, **options):
    args = arguments(arch, **options)
    torch.manual_seed(seed)
    model = build_model(args, task).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, 0.5, 0.3)
    return model


def stock_model(size="tiny", **options):
    """fairseq's ``transformer`` with random weights."""
    return fused(build_random("transformer", STOCK_TASK, 11, **{**SIZES[size], **options}))


def fused(stock):
    """fairseq's transformer with fused attention, whose last bits are others: those of ``Decoder``."""
    fuse_attention(stock.decoder.layers)
    features = stock.decoder.extract_features_scriptable
    stock.decoder.extract_features = lambda *inputs, alignment_layer=None, **more: features(
        *inputs, alignment_layer=-1, **more
    )
    return stock


def stock_twin(model):
    """fairseq's transformer with the same weights, as far as it has them."""
    stock = TransformerModel(
        model.cfg,
        TransformerModel.build_encoder(model.cfg, VOCABULARY, model.encoder.embed_tokens),
        TransformerModel.build_decoder(model.cfg, VOCABULARY, model.decoder.embed_tokens),
    ).eval()
    own = model.state_dict()
    stock.load_state_dict({name: own[name] for name in stock.state_dict()})
    return fused(stock)


def saved(model, path):
    """A checkpoint as fairseq writes it, as far as a model's weights go."""
    args = getattr(model, "args", argparse.Namespace(arch="transformer"))
    options = {name: getattr(args, name) for name in ("arch", *OPTIONS) if hasattr(args, name)}
    cfg = {"model": argparse.Namespace(**options)}
    torch.save({"args": None, "cfg": cfg, "model": model.state_dict(), "extra_state": {}}, path)
    return str(path)


def logits(model, batch):
    """(B, T, V), rows in the order of their lines."""
    order = batch["id"].argsort()
    with torch.no_grad():
        return model(**batch["net_input"])[0][order]


def without_context(batch):
    """The batch as fairseq's transformer takes it."""
    return {**batch, "net_input": {name: batch["net_input"][name] for name in STOCK_INPUTS}}


def cross_entropy(model, batch):
    output = model(**batch["net_input"])[0]
    return torch.nn.functional.cross_entropy(
        output.flatten(0, 1), batch["target"].flatten(), ignore_index=PAD
    )


def step(model, batch):
    """One step of training, of the parameters that may be trained."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.05)
    cross_entropy(model.train(), batch).backward()
    optimizer.step()
    model.eval()


def check_whole(model, absent, expected):
    """Without context the logits are ``expected``: without its inputs to the last bit, else to 1e-6."""
    # torch computes frozen linear maps in another way, which moves results by 1e-6.
    model = copy.deepcopy(model).requires_grad_()
    assert torch.equal(logits(model, without_context(absent)), expected)
    torch.testing.assert_close(logits(model, absent), expected, atol=1e-6, rtol=1e-6)


def check_whole_after_a_step(model, stock, absent, present):
    """Without context a model is the sentence-level one that it began as, also after a step that changes it
    with context."""
    expected = logits(stock, without_context(absent))
    check_whole(model, absent, expected)
    before = logits(model, present)
    step(model, present)
    assert (logits(model, present) - before).abs().max() > 1e-3
    check_whole(model, absent, expected)


def check_step_by_step(model, batch):
    """Decoding a step at a time gives what all at once gives, while two beams of each row change places."""
    inputs = dict(batch["net_input"])
    rows = len(inputs["src_tokens"])
    beams = torch.arange(rows).repeat_interleave(2)
    tokens = inputs.pop("prev_output_tokens")[beams]
    tokens[1::2, 1:] = torch.where(
        tokens[1::2, 1:].eq(PAD), PAD, 300
    )  # the second beam of each sentence differs
    with torch.no_grad():
        encoder_out = model.encoder.reorder_encoder_out(model.encoder.forward_torchscript(inputs), beams)
        expected = model.decoder(tokens, encoder_out=encoder_out)[0]
        state = {}
        order = torch.arange(len(tokens))
        for step in range(tokens.size(1)):
            prefix = tokens[order][:, : step + 1]
            found = model.decoder(prefix, encoder_out=encoder_out, incremental_state=state)[0][:, -1]
            real = prefix[:, -1].ne(PAD)
            torch.testing.assert_close(found[real], expected[order, step][real], atol=1e-5, rtol=1e-4)
            swap = torch.arange(len(tokens)) ^ torch.randint(2, (rows,)).repeat_interleave(2)
            encoder_out = model.encoder.reorder_encoder_out(encoder_out, swap)
            model.decoder.reorder_incremental_state_scripting(state, swap)
            order = order[swap]


def check_beam_search(model, batch, alone):
    """Hypotheses of every row are those that it has alone; those of one score may change places.

    Args:
        alone: from a row's id to the batch of this row.
    """
    generator = SequenceGenerator([model], VOCABULARY, beam_size=3, max_len_b=8)
    together = zip(batch["id"].tolist(), generator.generate([model], batch), strict=True)
    for line, found in together:
        expected = generator.generate([model], alone(line))[0]
        scores = np.array([float(hypothesis["score"]) for hypothesis in expected])
        np.testing.assert_allclose([float(hypothesis["score"]) for hypothesis in found], scores, atol=1e-4)
        ties = (np.abs(scores[:, None] - scores) < 2e-4).sum(axis=1) > 1
        for tied, a, b in zip(ties, found, expected, strict=True):
            assert tied or a["tokens"].tolist() == b["tokens"].tolist()
