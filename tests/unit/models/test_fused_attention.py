"""Which attentions are torch's fused one: a table of docs/results/speed.md."""

import contextlib
from pathlib import Path

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention

from tests.helpers.steps import STOCK, batch, build, criterion, decoder, first_steps, train

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "results" / "speed.md"
HEADER = "| attentions that are fused / all | training | validation | a step of a search |"
SHOWN = [
    "concat shift",
    "gated",
    "context encoder",
    "dual serial",
    "dual hierarchical",
    "dual flat",
    "caching none",
    "caching mean",
    "mtcue",
    "cue",
    "tagging",
]


@contextlib.contextmanager
def counted(model, monkeypatch):
    """Counts calls of attention modules, and those of torch's fused attention."""
    calls = {"all": 0, "fused": 0}
    fused = F.scaled_dot_product_attention

    def call(*args, **kwargs):
        calls["fused"] += 1
        return fused(*args, **kwargs)

    def count(*_):
        calls["all"] += 1

    attentions = [module for module in model.modules() if isinstance(module, MultiheadAttention)]
    handles = [attention.register_forward_hook(count) for attention in attentions]
    with monkeypatch.context() as patch:
        patch.setattr(F, "scaled_dot_product_attention", call)
        yield calls
    for handle in handles:
        handle.remove()


def table_row(system, monkeypatch):
    """Of models with one layer in each stack: fused and all attentions of the three steps."""
    task, model = build(system)
    sample, loss = batch(task), criterion(task)
    numbers = []
    with counted(model, monkeypatch) as calls:
        train(model, loss, sample)
        numbers.append(dict(calls))
        model.eval()
        with torch.no_grad():
            loss(model, sample)
        numbers.append(dict(calls))
        step = decoder(model, sample)
        first, *_, last = first_steps(sample)
        step(first)
        before = dict(calls)
        step(last)
    training, validation = numbers[0], {name: numbers[1][name] - numbers[0][name] for name in calls}
    search = {name: calls[name] - before[name] for name in calls}
    return [f"{found['fused']} / {found['all']}" for found in (training, validation, search)]


def test_the_table_of_fused_attention_is_what_is_measured(monkeypatch):
    rows = {"stock transformer": table_row(STOCK, monkeypatch)}
    rows.update((system, table_row(system, monkeypatch)) for system in SHOWN)
    lines = [HEADER, "|---|---|---|---|"]
    lines += [f"| {name} | {' | '.join(numbers)} |" for name, numbers in rows.items()]
    assert "\n".join(lines) in DOCUMENT.read_text(), "\n".join(["put into docs/results/speed.md:", *lines])


def test_weights_are_made_for_whoever_names_a_layer_or_searches_with_alignments():
    task, model = build("concat")
    model.eval()
    inputs = batch(task)["net_input"]
    rows, length = inputs["prev_output_tokens"].shape
    with torch.no_grad():
        plain, nothing = model(**inputs)
        asked, some = model(**inputs, alignment_layer=0)
        encoder_out = model.encoder(inputs["src_tokens"])
        for need_attn, shape in ((False, None), (True, (rows, 1, inputs["src_tokens"].size(1)))):
            model.decoder.make_generation_fast_(need_attn=need_attn)
            _, extra = model.decoder(
                inputs["prev_output_tokens"][:, :1], encoder_out=encoder_out, incremental_state={}
            )
            found = extra["attn"][0]
            assert (None if found is None else found.shape) == shape
    assert nothing["attn"] == [None]
    assert some["attn"][0].shape == (rows, length, inputs["src_tokens"].size(1))
    torch.testing.assert_close(plain, asked, atol=1e-5, rtol=1e-5)
