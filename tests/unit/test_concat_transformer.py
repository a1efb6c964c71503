"""The concatenation transformer against stock fairseq, step by step, and through a checkpoint."""

import argparse
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, build_model
from fairseq.sequence_generator import SequenceGenerator

from ctxmt_fairseq.data.symbols import SEPARATOR, add_symbols
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.models.concat_transformer import ConcatTransformer
from ctxmt_fairseq.modules.encoder_out import reorder_context_entries


def dictionary(symbols=20):
    result = Dictionary()
    for number in range(symbols):
        result.add_symbol(f"w{number}")
    add_symbols(result)
    return result


class Task:
    """What a model asks of its task."""

    def __init__(self, source=None, target=None, average=None):
        self.source_dictionary = source or dictionary()
        self.target_dictionary = target or dictionary(25)  # another id for the separator
        self._average = average

    @property
    def average_source_length(self):
        if self._average is None:
            raise BadInput("no ctxmt.json")
        return self._average


TASK = Task()
SRC_SEP, TGT_SEP = (d.index(SEPARATOR) for d in (TASK.source_dictionary, TASK.target_dictionary))
PAD, EOS = TASK.source_dictionary.pad(), TASK.source_dictionary.eos()

OPTIONS = {
    "none": {},
    "shift": {"segment_positions": "shift", "segment_shift": 7},
    "avg-sequence": {"segment_positions": "shift", "segment_shift": "avg-sequence"},
    "learned": {"segment_positions": "learned"},
    "sinusoidal": {"segment_positions": "sinusoidal"},
    "flag": {"segment_positions": "learned", "segment_types": "context"},
    "sinusoidal flag": {"segment_positions": "sinusoidal", "segment_types": "context"},
    "learned positions": {
        "segment_positions": "learned",
        "encoder_learned_pos": True,
        "decoder_learned_pos": True,
    },
    "no token positions": {"segment_positions": "learned", "no_token_positional_embeddings": True},
}
ALL = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())


def make(task=TASK, arch="concat_transformer_tiny", seed=1, **options):
    torch.manual_seed(seed)
    args = argparse.Namespace(arch=arch, max_source_positions=128, max_target_positions=128, **options)
    return build_model(args, task).eval()


def stock_like(model, **options):
    """Stock fairseq with the weights of ``model``."""
    sizes = {
        name: getattr(model.args, name)
        for name in (
            "encoder_embed_dim",
            "encoder_ffn_embed_dim",
            "encoder_layers",
            "encoder_attention_heads",
        )
    }
    sizes.update(decoder_layers=model.args.decoder_layers, decoder_attention_heads=4)
    stock = make(arch="transformer", seed=2, **sizes, **options)
    weights = {name.replace(".token_positions", ""): value for name, value in model.state_dict().items()}
    stock.load_state_dict(weights)
    return stock


def batch(sources, targets, left_pad=True):
    """``net_input`` of windows: lists of sentences, which are lists of word numbers; the last is current."""

    def rows(windows, separator, left):
        rows = [[] for _ in windows]
        for row, window in zip(rows, windows, strict=True):
            for sentence in window:
                row += [10 + word for word in sentence] + [separator]
            row[-1] = EOS  # in place of the last separator
        width = max(map(len, rows))
        padded = [
            [PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows
        ]
        return torch.tensor(padded)

    src = rows(sources, SRC_SEP, left_pad)
    tgt = rows(targets, TGT_SEP, False)
    previous = torch.full_like(tgt, PAD)
    for row, tokens in enumerate(tgt):
        real = tokens[tokens.ne(PAD)]
        previous[row, : len(real)] = torch.cat([real[-1:], real[:-1]])
    return {
        "src_tokens": src,
        "src_lengths": src.ne(PAD).sum(1),
        "prev_output_tokens": previous,
        "current_segment": torch.tensor([len(window) - 1 for window in sources]),
        "target_context_sizes": torch.tensor([len(window) - 1 for window in targets]),
    }


def wanted(model, net_input):
    """The entries that the model's task would put into ``net_input``."""
    extra = set(net_input) & {"current_segment", "target_context_sizes"}
    return {name: value for name, value in net_input.items() if name not in extra - set(model.context_inputs)}


def logits(model, net_input):
    return model(**wanted(model, net_input))[0]


SOURCES = [[[1, 2, 3], [4, 5]], [[6], [7, 8], [1, 9, 2]], [[3, 3]]]
TARGETS = [[[2, 2], [5, 6, 7]], [[1], [2], [3]], [[8, 4, 4, 1]]]
NET_INPUT = batch(SOURCES, TARGETS)


@ALL
def test_context_matters_and_neither_padding_nor_batch_mates_do(options):
    model = make(**options)
    together = logits(model, NET_INPUT)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = logits(model, batch([source], [target]))[0]
        torch.testing.assert_close(together[row, : len(alone)], alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        together[0, :7], logits(model, batch(SOURCES, TARGETS, left_pad=False))[0, :7], atol=1e-5, rtol=0
    )
    other = logits(model, batch([[[1, 2, 9], [4, 5]], *SOURCES[1:]], TARGETS))
    assert (other[0] - together[0]).abs().max() > 1e-4
    torch.testing.assert_close(other[1:], together[1:], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("options", "net_input"),
    [
        ({}, NET_INPUT),
        ({"segment_positions": "shift", "segment_shift": 0}, NET_INPUT),
        ({"segment_positions": "shift", "segment_shift": 9}, batch([[[1, 2, 3]], [[4]]], [[[5]], [[6, 7]]])),
        ({"encoder_learned_pos": True, "decoder_learned_pos": True}, NET_INPUT),
        ({"no_token_positional_embeddings": True}, NET_INPUT),
    ],
    ids=["none", "shift 0", "single sentences", "learned positions", "no token positions"],
)
def test_degenerate_cases_equal_stock_fairseq(options, net_input):
    model = make(**options)
    stock_options = {name: value for name, value in options.items() if not name.startswith("segment")}
    stock = stock_like(model, **stock_options)
    net_input = wanted(model, net_input)
    torch.testing.assert_close(logits(model, net_input), stock(**net_input)[0], atol=1e-6, rtol=0)


@ALL
def test_incremental_decoding_equals_full_decoding_at_every_position(options):
    """Rows are in different segments, and change places at every step as beams do."""
    model = make(**options)
    beams = [
        (SOURCES[0], TARGETS[0]),
        (SOURCES[0], [[9], [2, 3, 4, 5]]),
        (SOURCES[1], TARGETS[1]),
        (SOURCES[1], [[6]]),
    ]
    net_input = batch(*zip(*beams, strict=True))
    full = logits(model, net_input)
    inputs = wanted(model, net_input)
    previous = inputs.pop("prev_output_tokens")
    encoder_out = model.encoder(**inputs)
    state, order = {}, torch.arange(4)
    swap = torch.tensor(
        [1, 0, 3, 2]
    )  # within the beams of one window: fairseq keeps their cross-attention cache
    for step in range(previous.size(1)):
        order = order[swap]
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, swap)
        model.decoder.reorder_incremental_state_scripting(state, swap)
        out = model.decoder(previous[order, : step + 1], encoder_out=encoder_out, incremental_state=state)[0]
        real = previous[order, step].ne(PAD)
        torch.testing.assert_close(out[real, 0], full[order, step][real], atol=1e-5, rtol=1e-5)


@ALL
def test_beam_search_of_a_batch_equals_one_window_at_a_time(options):
    model = make(**options)
    generator = SequenceGenerator([model], TASK.target_dictionary, beam_size=3, max_len_b=8, min_len=4)

    def translate(net_input):
        hypotheses = generator.generate([model], {"net_input": wanted(model, net_input)})
        return [(beams[0]["tokens"].tolist(), float(beams[0]["score"])) for beams in hypotheses]

    together = translate(NET_INPUT)
    for row, (tokens, score) in enumerate(together):
        alone_tokens, alone_score = translate(batch([SOURCES[row]], [TARGETS[row]]))[0]
        assert tokens == alone_tokens and score == pytest.approx(alone_score, abs=1e-4)


@ALL
def test_no_entry_of_encoder_out_is_forgotten_when_rows_are_reordered(options):
    model = make(**options)
    inputs = wanted(model, NET_INPUT)
    del inputs["prev_output_tokens"]
    before = model.encoder(**inputs)
    after = model.encoder.reorder_encoder_out(before, torch.tensor([2, 2, 0]))
    for name in set(before) - {"fc_results"}:
        batch_dimension = 1 if name == "encoder_out" else 0
        for old, new in zip(before[name], after[name], strict=True):
            order = torch.tensor([2, 2, 0])
            torch.testing.assert_close(new, old.index_select(batch_dimension, order), rtol=0, atol=0)


def test_reorder_context_entries_takes_ours_and_only_ours():
    entries = {"context_x": [torch.tensor([1, 2]), torch.tensor([3, 4])], "fc_results": [None]}
    result = reorder_context_entries({"encoder_out": []}, entries, torch.tensor([1, 1]))
    assert set(result) == {"encoder_out", "context_x"}
    assert [entry.tolist() for entry in result["context_x"]] == [[2, 2], [4, 4]]


def test_the_average_of_the_source_window_reaches_the_decoder():
    """Decoder positions under avg-sequence by hand: source row 0 has 7 tokens in 2 sentences, so shift 4."""
    model = make(segment_positions="shift", segment_shift="avg-sequence")
    seen = []
    model.decoder.embed_positions.register_forward_hook(lambda module, inputs, output: seen.append(output))
    logits(model, NET_INPUT)
    shifted = [1, 2, 3, 4, 5 + 4, 6 + 4, 7 + 4]  # </s> a b <sep> | c d e
    frequencies = 10000.0 ** (-np.arange(64) / 63)
    angles = (PAD + np.array(shifted))[:, None] * frequencies
    np.testing.assert_allclose(seen[0][0, :7, :64], np.sin(angles), atol=1e-4)


def test_flags_of_a_window_with_following_context_and_another_number_of_target_sentences():
    """Source: context, current, following. Target: one context sentence fewer, so the current one alone."""
    model = make(segment_positions="learned", segment_types="context", no_token_positional_embeddings=True)
    net_input = batch([[[1], [2], [3]]], [[[4, 5]]])
    net_input.update(current_segment=torch.tensor([1]), target_context_sizes=torch.tensor([0]))
    seen = {}
    for side in (model.encoder, model.decoder):
        side.embed_positions.register_forward_hook(
            lambda module, inputs, output, side=side: seen.__setitem__(side, output)
        )
    logits(model, net_input)
    for side, flags in ((model.encoder, [1, 1, 0, 0, 1, 1]), (model.decoder, [0, 0, 0])):
        expected = side.embed_positions.segment_table.weight[torch.tensor(flags) + 1]
        torch.testing.assert_close(seen[side][0], expected)


def test_a_hypothesis_with_too_many_sentences_stays_in_the_current_one():
    model = make(segment_positions="learned", segment_types="context")
    positions = model.decoder.embed_positions
    tokens = torch.tensor([[EOS, 11, TGT_SEP, 12, TGT_SEP, 13]])
    with positions.given(torch.tensor([1])):
        flags = positions(tokens) - positions.token_positions(tokens)
    context, current = positions.segment_table.weight[2], positions.segment_table.weight[1]
    torch.testing.assert_close(flags[0], torch.stack([context] * 3 + [current] * 3))


@ALL
def test_every_parameter_gets_a_gradient_and_single_sentences_train(options):
    model = make(**options).train()
    for net_input in (batch([[[1, 2]]], [[[3, 4]]]), NET_INPUT):
        model.zero_grad()
        loss = logits(model, net_input).log_softmax(-1)[..., 5].sum()
        loss.backward()
        assert loss.isfinite()
        missing = [
            name for name, p in model.named_parameters() if p.grad is None or not p.grad.isfinite().all()
        ]
        assert not missing
    if options.get("segment_positions") == "learned":
        for side in (model.encoder, model.decoder):
            assert side.embed_positions.segment_table.weight.grad[1:3].abs().sum(1).all()


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
    with pytest.raises(SystemExit):
        parse("--segment-shift", "-3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segment_positions": "shift", "encoder_learned_pos": True, "segment_shift": 3}, "learned-pos"),
        ({"segment_positions": "shift", "no_token_positional_embeddings": True}, "nothing to shift"),
        ({"segment_types": "context"}, "learned or sinusoidal"),
        ({"segment_positions": "shift", "segment_types": "context"}, "learned or sinusoidal"),
        ({"segment_positions": "shift"}, "ctxmt.json"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        make(**options)


def test_missing_inputs_and_symbols_are_refused():
    with pytest.raises(BadInput, match=SEPARATOR):
        make(task=Task(source=Dictionary()), segment_positions="learned")
    model = make(segment_positions="learned", segment_types="context")
    assert model.context_inputs == ("current_segment", "target_context_sizes")
    assert make().context_inputs == ()
    with pytest.raises(ValueError, match="current_segment"):
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
