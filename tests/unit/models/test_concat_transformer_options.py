"""The concatenation transformer's options and sizes, and its way through a checkpoint."""

import argparse
from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, build_model

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.concat_transformer import ConcatTransformer
from ctxmt_fairseq.text.symbols import SEPARATOR
from tests.helpers.concat_models import ALL, NET_INPUT, TASK, Task, dictionary, logits, make
from tests.helpers.random_models import STOCK_TASK


def test_the_corpus_average_travels_in_the_checkpoint(tmp_path):
    args = argparse.Namespace(arch="concat_transformer_tiny", segment_positions="shift")
    args.segment_shift = "avg-corpus"
    model = build_model(args, Task(average=9)).eval()
    assert args.segment_shift == 9
    torch.save({"args": args, "model": model.state_dict()}, tmp_path / "model.pt")

    state = torch.load(tmp_path / "model.pt", weights_only=True)
    again = build_model(state["args"], TASK).eval()  # a task that knows no average
    again.load_state_dict(state["model"])
    assert torch.equal(logits(again, NET_INPUT), logits(model, NET_INPUT))


@ALL
def test_saved_and_reloaded_logits_are_identical(options, tmp_path):
    model = make(**options)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    again = make(seed=3, **options)
    again.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True), strict=True)
    assert torch.equal(logits(again, NET_INPUT), logits(model, NET_INPUT))


def parse(*options):
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
    ConcatTransformer.add_args(parser)
    return parser.parse_args(options)


def test_options():
    args = parse("--segment-positions", "shift", "--segment-shift", "12", "--encoder-layers", "3")
    ARCH_CONFIG_REGISTRY["concat_transformer_tiny"](args)
    assert (args.segment_positions, args.segment_shift, args.segment_types) == ("shift", 12, "sentence")
    assert (args.encoder_layers, args.decoder_layers) == (3, 2)
    defaults = parse()
    ARCH_CONFIG_REGISTRY["concat_transformer"](defaults)
    assert (defaults.segment_positions, defaults.segment_shift) == ("none", "avg-corpus")
    for wrong in ("-3", "9999999999", "²"):
        with pytest.raises(SystemExit):
            parse("--segment-shift", wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segment_positions": "shift", "encoder_learned_pos": True, "segment_shift": 3}, "learned-pos"),
        ({"segment_positions": "shift", "no_token_positional_embeddings": True}, "nothing to shift"),
        ({"segment_types": "context"}, "learned or sinusoidal"),
        ({"segment_positions": "flag", "segment_types": "context"}, "learned or sinusoidal, not flag"),
        ({"segment_positions": "shift", "segment_types": "context"}, "learned or sinusoidal"),
        ({"segment_positions": "shift"}, "ctxmt.json"),
        ({"segment_positions": "shift", "segment_shift": -1}, "^--segment-shift: expected a number of pos"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        make(**options)


def test_a_task_of_fairseqs_has_no_average_of_the_corpus():
    with pytest.raises(BadInput, match="^--segment-shift avg-corpus needs --task document_window"):
        make(STOCK_TASK, segment_positions="shift")
    make(STOCK_TASK, segment_positions="shift", segment_shift=3)


@pytest.mark.parametrize(
    "options",
    [
        {"segment_positions": "shift", "segment_shift": 3},
        {"segment_positions": "learned"},
        {"segment_positions": "sinusoidal"},
        {"segment_positions": "learned", "segment_types": "context"},
    ],
)
def test_what_counts_separators_needs_them(options):
    kind = options["segment_positions"]
    message = f"^--no-separator works with --segment-positions flag or none, not {kind}, which counts"
    with pytest.raises(BadInput, match=message):
        make(Task(no_separator=True), **options)
    make(Task(no_separator=True))


def test_missing_inputs_and_symbols_are_refused():
    with pytest.raises(BadInput, match=SEPARATOR):
        make(task=Task(source=Dictionary()), segment_positions="learned")
    model = make(segment_positions="learned", segment_types="context")
    assert model.context_format.kind == "window"
    assert make().context_format.kind == ""
    with pytest.raises(BadInput, match="--task document_window, which says"):
        model(NET_INPUT["src_tokens"], NET_INPUT["src_lengths"], NET_INPUT["prev_output_tokens"])


def parameters(arch, **dictionaries):
    with torch.device("meta"):
        return sum(p.numel() for p in make(arch=arch, task=Task(**dictionaries)).parameters())


def test_parameter_counts():
    joined = dictionary(32347 - 6)
    assert len(joined) == 32347
    count = parameters("concat_transformer_base", source=joined, target=joined)
    assert round(count / 1e6, 1) == 60.7  # the paper, appendix A
    small = SimpleNamespace(source=dictionary(), target=dictionary(25))
    for ours, theirs in (
        ("concat_transformer_iwslt", "transformer_iwslt_de_en"),
        ("concat_transformer", "transformer"),
    ):
        assert parameters(ours, **vars(small)) == parameters(theirs, **vars(small))
