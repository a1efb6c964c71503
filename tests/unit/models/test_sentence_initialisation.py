"""Context-aware models that start from a sentence-level one."""

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.known_symbols import KnownSymbols
from ctxmt_fairseq.models.initialisation import load_sentence_model
from tests.helpers.multi_source_models import CASES, dataset, make
from tests.helpers.random_models import check_whole_after_a_step, saved, stock_model
from tests.helpers.window_datasets import VOCABULARY

# Flat fusion of one shared encoder has nothing that is new.
every_case = pytest.mark.parametrize("case", [case for case in CASES if case != "dual shared token"])


def pair(case, tmp_path, **options):
    """A stock model, and a frozen model of a case that starts from it."""
    pre_norm = {name: value for name, value in CASES[case][1].items() if name.endswith("normalize_before")}
    # With the current sentence among the context no context is ever absent.
    own = {"current_in_context": "no"} if case.startswith("caching") else {}
    stock = stock_model(**pre_norm)
    model = make(case, seed=2, train_context_only=True, **own, **options)
    load_sentence_model(model, saved(stock, tmp_path / "sentence.pt"))
    return stock, model


def batch_of(model, **options):
    data = dataset(model, **options)
    return data.collater([data[line] for line in (0, 1, 4, 9, 23)])


@every_case
def test_the_sentence_model_is_whole_before_and_after_a_step(case, tmp_path):
    stock, model = pair(case, tmp_path)
    absent, present = batch_of(model, context_selection="absent"), batch_of(model)
    check_whole_after_a_step(model, stock, absent, present)


@every_case
def test_what_is_new_is_trained_and_nothing_else(case):
    for pre_norm in (False, True):
        norms = {"encoder_normalize_before": pre_norm, "decoder_normalize_before": pre_norm}
        stock = {name for name, _ in stock_model(**norms).named_parameters()}
        model = make(case, train_context_only=True, **norms)
        trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
        everything = {name for name, _ in model.named_parameters()}
        assert stock < everything
        assert trained == everything - stock
    model = make(case)
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_a_model_without_new_parameters_is_refused():
    with pytest.raises(BadInput, match="--train-context-only"):
        make("dual shared token", train_context_only=True)


def test_the_last_layers_self_attention_is_taken_over(tmp_path):
    stock, model = pair("gated", tmp_path)
    for name, value in stock.encoder.layers[-1].self_attn.state_dict().items():
        assert torch.equal(model.encoder.layers[-1].self_attn.state_dict()[name], value)


def test_shared_layers_stay_shared(tmp_path):
    _, model = pair("gated", tmp_path)
    own, context = model.encoder.layers, model.encoder.context_encoder.layers
    assert own[0] is context[0] and own[1] is not context[1]


def test_what_was_taken_over_is_said(tmp_path, caplog):
    with caplog.at_level("INFO", "ctxmt_fairseq.models.initialisation"):
        stock, model = pair("gated", tmp_path)
    assert f": {len(stock.state_dict())} parameters taken over" in caplog.text
    assert ": 0 parameters not used" in caplog.text
    new = caplog.text.split(" parameters new: ")[1].splitlines()[0].split(", ")
    assert new == sorted({name for name, _ in model.named_parameters()} - stock.state_dict().keys())


def refused(content, tmp_path, case="dual serial"):
    path = tmp_path / "sentence.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, torch.nn.Module):
        saved(content, path)
    elif content is not None:
        torch.save(content, path)
    with pytest.raises(BadInput) as error:
        load_sentence_model(make(case), str(path))
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "content", [None, b"", b"no checkpoint", {"weights": {}}, {"model": None}, [1, 2], torch.zeros(3)],
    ids=["missing", "empty", "text", "no model", "model None", "list", "tensor"],
)  # fmt: skip
def test_a_wrong_file_is_refused(content, tmp_path):
    assert "checkpoint" in refused(content, tmp_path)


def test_another_size_is_refused_by_the_option_that_differs(tmp_path):
    for option, value, own in (
        ("encoder_ffn_embed_dim", 128, 256),
        ("decoder_layers", 1, 2),
        ("decoder_normalize_before", True, False),
        ("encoder_attention_heads", 2, 4),  # the same shapes, another function
        ("activation_fn", "gelu", "relu"),
    ):
        message = refused(stock_model(**{option: value}), tmp_path)
        flag = f"--{option.replace('_', '-')}"
        assert (
            f"{flag}: the checkpoint has {value}, --arch dual_encoder_transformer_tiny has {own}" in message
        )


def test_another_dictionary_is_refused(tmp_path):
    stock = stock_model()
    weights = stock.encoder.embed_tokens
    weights.weight = torch.nn.Parameter(weights.weight[:-2].detach())
    assert "encoder.embed_tokens.weight" in refused(stock, tmp_path)


@pytest.mark.parametrize("case", ["gated", "dual serial", "context encoder", "caching group"])
def test_a_shallower_model_is_refused(case, tmp_path):
    for side in ("encoder", "decoder"):
        stock = stock_model()
        getattr(stock, side).layers = getattr(stock, side).layers[:1]  # and its options say two
        assert f"found one without {side}.layers.1." in refused(stock, tmp_path, case)


def test_what_is_left_over_of_a_stock_model_is_refused(tmp_path):
    stock = stock_model()
    stock.encoder.layers.append(stock.encoder.layers[0])
    message = refused(stock, tmp_path)
    assert "encoder.layers.2." in message and "dual_encoder_transformer_tiny has no such parameter" in message


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("decoder.version", torch.tensor(3.0), "its parameters are not those of a model"),
        (
            "encoder.layers.0.self_attn.in_proj_weight",
            torch.tensor(1.0),
            "its parameters are not those of a model",
        ),
        ("encoder.embed_tokens.weight", torch.tensor(1.0), "encoder.embed_tokens.weight: expected the shape"),
        ("decoder.embed_tokens.weight", torch.zeros(506), "decoder.embed_tokens.weight: expected the shape"),
        ("encoder.version", torch.zeros(2, 2), "its parameters are not those of a model"),
        (".embed_tokens.weight", torch.zeros(3, 3), "has no such parameter"),
        ("", torch.zeros(1), "has no such parameter"),
    ],
)
def test_odd_parameters_are_refused(name, value, message, tmp_path):
    path = saved(stock_model(), tmp_path / "sentence.pt")
    state = torch.load(path, weights_only=True)
    state["model"][name] = value
    assert message in refused(state, tmp_path)
    symbols = dict.fromkeys(("source", "target"), KnownSymbols(VOCABULARY.symbols, 506, "dict.txt"))
    with pytest.raises(BadInput, match=message):
        load_sentence_model(make("dual serial"), path, symbols)


def test_separate_embeddings_do_not_become_one(tmp_path):
    """The last one would overwrite the others without a word."""
    path = saved(stock_model(), tmp_path / "sentence.pt")
    for option in ("share_all_embeddings", "share_decoder_input_output_embed"):
        with pytest.raises(BadInput, match="another matrix than .*embed_tokens.weight, --arch .*gated"):
            load_sentence_model(make("gated", **{option: True}), path)
    shared = stock_model(share_all_embeddings=True)
    apart = make("gated", seed=2)  # the other way round every matrix has its copy
    load_sentence_model(apart, saved(shared, tmp_path / "sentence.pt"))
    own = apart.state_dict()
    assert torch.equal(own["encoder.embed_tokens.weight"], own["decoder.output_projection.weight"])
    dual = saved(make("dual serial"), tmp_path / "dual.pt")  # its context encoder is no part of the source's
    with pytest.raises(BadInput, match=r"layers\.0.*another matrix than .*\.weight, --arch .* shares one$"):
        load_sentence_model(make("gated"), dual)


@pytest.mark.parametrize("case", ["dual serial pre-norm", "context encoder"])
def test_the_context_encoder_keeps_its_last_layer_norm(case, tmp_path):
    """fairseq removes it from modules whose version a checkpoint lacks."""
    pre_norm = {"encoder_normalize_before": True, "decoder_normalize_before": True}
    model = make(case, **pre_norm)
    load_sentence_model(model, saved(stock_model(**pre_norm), tmp_path / "sentence.pt"))
    assert model.encoder.context_encoder.layer_norm is not None


def test_parameters_by_the_names_of_earlier_fairseq(tmp_path):
    stock, model = stock_model(), make("gated", seed=2)
    path = saved(stock, tmp_path / "sentence.pt")
    state = torch.load(path, weights_only=True)
    old = state["model"]
    for layer in ("encoder.layers.0.self_attn", "decoder.layers.1.encoder_attn"):
        for kind in ("weight", "bias"):
            parts = [old.pop(f"{layer}.{part}_proj.{kind}") for part in "qkv"]
            old[f"{layer}.in_proj_{kind}"] = torch.cat(parts)
    old["decoder.embed_out"] = old.pop("decoder.output_projection.weight")
    old["encoder.embed_positions._float_tensor"] = torch.zeros(1)
    norm = "decoder.layers.0.encoder_attn_layer_norm.weight"
    old["decoder.layers.0.layer_norms.1.weight"] = old.pop(norm)
    old["encoder.layers.1.layer_norms.1.bias"] = old.pop("encoder.layers.1.final_layer_norm.bias")
    torch.save(state, path)
    load_sentence_model(model, path)
    own = model.state_dict()
    assert all(torch.equal(own[name], value) for name, value in stock.state_dict().items())


def test_another_architecture_is_refused(tmp_path):
    gru = make("context_gru", gru_embed_dim=8, gru_size=8)
    wanted = "--arch dual_encoder_transformer_tiny: expected a checkpoint of a transformer, found one of"
    assert f"{wanted} context_gru" in refused(gru, tmp_path)
    path = saved(stock_model(), tmp_path / "sentence.pt")
    with pytest.raises(BadInput, match="--arch context_gru_tiny: expected a checkpoint of context_gru_tiny"):
        load_sentence_model(gru, path)


def test_a_gru_starts_from_a_gru(tmp_path):
    one, other = make("context_gru"), make("context_gru", seed=2)
    load_sentence_model(other, saved(one, tmp_path / "sentence.pt"))
    assert all(torch.equal(other.state_dict()[name], value) for name, value in one.state_dict().items())
    with pytest.raises(
        BadInput, match="found one without decoder.after.*|decoder.*no such|expected the shape"
    ):
        load_sentence_model(make("context_gru", gru_decoder_depth=3), str(tmp_path / "sentence.pt"))
