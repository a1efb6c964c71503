"""Folders of Hugging Face models that are damaged or hostile, and the tokens of languages."""

import json
import os
import pickle

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.data_folder import write_description
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.evaluation.probe.word_values import split_words, word_values
from ctxmt_fairseq.generation import authors_models  # noqa: F401  (which messages name first)
from ctxmt_fairseq.generation.hub_family import Languages
from ctxmt_fairseq.generation.hub_models import NLLB
from ctxmt_fairseq.generation.loading import load_models

DIMENSION, FFN = 8, 12
CONFIG = {
    "model_type": "marian", "d_model": DIMENSION, "encoder_ffn_dim": FFN, "decoder_ffn_dim": FFN,
    "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "max_position_embeddings": 32, "activation_function": "swish", "dropout": 0.1, "eos_token_id": 0,
    "scale_embedding": True,
}  # fmt: skip
TEXT = ["a cat sat here", "the dog ate it", "they were here , and it was there"] * 3


def weights(symbols):
    """The parameters of a Marian model by their names."""
    shapes = {"model.shared.weight": (symbols, DIMENSION), "final_logits_bias": (1, symbols)}
    for side, attentions in (("encoder", ("self_attn",)), ("decoder", ("self_attn", "encoder_attn"))):
        layer = f"model.{side}.layers.0"
        norms = [*(f"{name}_layer_norm" for name in attentions), "final_layer_norm"]
        shapes.update(
            (f"{layer}.{norm}.{part}", (DIMENSION,)) for norm in norms for part in ("weight", "bias")
        )
        for name in (f"{name}.{part}_proj" for name in attentions for part in ("q", "k", "v", "out")):
            shapes.update(
                {f"{layer}.{name}.weight": (DIMENSION, DIMENSION), f"{layer}.{name}.bias": (DIMENSION,)}
            )
        shapes.update({f"{layer}.fc1.weight": (FFN, DIMENSION), f"{layer}.fc1.bias": (FFN,)})
        shapes.update({f"{layer}.fc2.weight": (DIMENSION, FFN), f"{layer}.fc2.bias": (DIMENSION,)})
    torch.manual_seed(1)
    return {name: torch.randn(shape) for name, shape in shapes.items()}


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture(scope="module")
def model():
    return train_subwords(TEXT, 28)


@pytest.fixture
def folder(tmp_path, model):
    """A good folder, to be spoiled."""
    folder = tmp_path / "hub"
    folder.mkdir()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    pieces = [Subwords(folder / "source.spm").processor.id_to_piece(number) for number in range(3, 28)]
    symbols = ["</s>", "<unk>", *pieces, "<pad>"]
    write(folder / "vocab.json", {symbol: number for number, symbol in enumerate(symbols)})
    last = len(symbols) - 1
    write(folder / "config.json", {**CONFIG, "decoder_start_token_id": last, "pad_token_id": last})
    write(
        folder / "tokenizer_config.json",
        {"source_lang": "en", "target_lang": "fr", "model_max_length": 10**30},
    )
    save_file(weights(len(symbols)), folder / "model.safetensors")
    return folder


def imported(folder, *more):
    return main(["import", str(folder), str(folder.parent / "out"), *more])


def changed(folder, name, **values):
    path = folder / name
    write(path, {**json.loads(path.read_text(encoding="utf-8")), **values})


def config(folder, **values):
    changed(folder, "config.json", **values)


def tokenizer(folder, **values):
    changed(folder, "tokenizer_config.json", **values)


def test_what_it_was_made_of_is_not_needed_again(folder, capsys):
    assert imported(folder) == 0
    said = capsys.readouterr().out
    assert (
        "-> concat_transformer, --task document_window\nsize: --encoder-layers 1 --decoder-layers 1" in said
    )
    assert "--activation-fn swish" in said and "--marian --share-all-embeddings" in said
    folder.rename(folder.with_name("elsewhere"))
    loaded = load_models(folder.parent / "out", device="cpu")
    first = loaded.model.state_dict()
    assert first["encoder.embed_tokens.weight"].data_ptr() == first["decoder.embed_tokens.weight"].data_ptr()
    (folder.parent / "out/spm.fr.model").unlink()
    with pytest.raises(BadInput, match="spm.fr.model: no such file"):
        load_models(folder.parent / "out", device="cpu")


def test_weights_may_be_in_several_files_or_in_half(folder):
    whole = load_file(folder / "model.safetensors")
    parts = {"one.safetensors": {}, "two.safetensors": {}}
    names = {name: ("one", "two")[number % 2] + ".safetensors" for number, name in enumerate(whole)}
    for name, file in names.items():
        parts[file][name] = whole[name].half()
    for file, part in parts.items():
        save_file(part, folder / file)
    (folder / "model.safetensors").unlink()
    write(folder / "model.safetensors.index.json", {"weight_map": names})
    assert imported(folder) == 0
    found = load_models(folder.parent / "out", device="cpu").model.state_dict()
    expected = whole["model.decoder.layers.0.fc1.weight"].half().float()
    assert torch.equal(found["decoder.layers.0.fc1.weight"], expected)


def test_the_other_direction_is_refused(folder, refusal):
    assert "hub: translates en to fr, not fr to en" in refusal(
        imported, folder, "--source-lang", "fr", "--target-lang", "en"
    )


def test_a_token_of_the_source_that_no_model_reads_is_refused(folder, refusal):
    assert "--source-token: the model has tokens of target languages alone" in refusal(
        imported, folder, "--source-token", "eng"
    )
    assert imported(folder, "--source-lang", "fr", "--target-lang", "nl") == 0


def test_a_model_that_is_imported_already_is_told_from_a_folder_of_hugging_face(folder, refusal):
    assert imported(folder) == 0
    assert "out: is no folder of Hugging Face's, but a model or data of this" in refusal(
        main, ["import", str(folder.parent / "out"), str(folder.parent / "again")]
    )
    assert not (folder.parent / "again").exists()


def test_a_language_that_the_model_lacks_is_refused_with_those_most_like_it():
    symbols = ["<s>", *(f"{first}aa_Latn" for first in "abcdefghijklm"), "fra_Latn"]
    said = "^--source-token, fr: expected one of its 14, such as fra_Latn, "
    with pytest.raises(BadInput, match=said) as no:
        NLLB().token_of("source", Languages("fr", "eng_Latn"), symbols)
    assert str(no.value).count("_Latn") == 8


def test_a_languages_token_must_be_a_symbol(folder):
    assert imported(folder) == 0
    for tokens in ({"en": ">>xx<<"}, {"fr": "a b"}, {"en": 1}, {"fr": "</s> "}, []):
        changed(folder.parent / "out", "ctxmt.json", language_tokens=tokens)
        with pytest.raises(BadInput, match="language_tokens|token"):
            load_models(folder.parent / "out", device="cpu")


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def truncated(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def pickled(folder, content):
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin", pickle_module=pickle)


def replaced(folder, name, change):
    parameters = load_file(folder / "model.safetensors")
    parameters[name] = change(parameters[name])
    save_file({key: value.contiguous() for key, value in parameters.items()}, folder / "model.safetensors")


def moved_out(folder, name):
    (folder / name).rename(folder.parent / name)
    (folder / name).symlink_to(folder.parent / name)


def test_tokens_that_a_tokenizer_was_given_are_named(folder, caplog):
    parameters = load_file(folder / "model.safetensors")
    for name in ("model.shared.weight", "final_logits_bias"):
        more = 2 if name.startswith("model") else (0, 2)
        parameters[name] = torch.nn.functional.pad(parameters[name], (0, 0, 0, 2) if more == 2 else more)
    save_file(parameters, folder / "model.safetensors")
    added = {"28": {"content": "<formal>"}, "29": {"content": ">>fra<<"}, "0": {"content": "</s>"}}
    tokenizer(folder, added_tokens_decoder=added, tokenizer_class="MarianTokenizer")
    assert imported(folder, "--target-token", "fra") == 0
    assert (
        f"{folder}: its tokenizer has tokens of its own, which no text becomes here: <formal>" in caplog.text
    )
    older = {"<informal>": 28, "<formal>": 29}
    write(folder / "added_tokens.json", older)
    tokenizer(folder, added_tokens_decoder={})
    assert imported(folder, "--overwrite") == 0
    assert "which no text becomes here: <formal>, <informal>" in caplog.text


def index_of(folder, name):
    (folder / "model.safetensors").rename(folder.parent / "model.safetensors")
    write(folder / "model.safetensors.index.json", {"weight_map": {"model.shared.weight": name}})


def untied(folder):
    parameters = load_file(folder / "model.safetensors")
    parameters["lm_head.weight"] = -parameters["model.shared.weight"]
    save_file(parameters, folder / "model.safetensors")


def saved_by_transformers_5(folder):
    config(folder, model_type="m2m_100", activation_function="relu")
    (folder / "vocab.json").rename(folder / "tokenizer.json")


FC1 = "model.encoder.layers.0.fc1.weight"
SPOILED = {
    "truncated": (truncated, "model.safetensors: is no file of safetensors, or a damaged one"),
    "other shape": (lambda x: replaced(x, FC1, lambda w: w[:, :4]), "does not fit"),
    "other size": (lambda x: config(x, encoder_ffn_dim=16), "does not fit"),
    "fewer symbols": (lambda x: replaced(x, "model.shared.weight", lambda w: w[:-3]), "has 25 rows"),
    "huge": (lambda x: config(x, d_model=2**40), "parameters"),
    "many layers": (lambda x: config(x, encoder_layers=10**9), "--encoder-layers 1000000000"),
    "no number": (lambda x: replaced(x, FC1, lambda w: w * np.nan), "expected finite numbers"),
    "integers": (lambda x: replaced(x, FC1, torch.Tensor.char), "expected weights, found torch.int8"),
    "other weights": (lambda x: pickled(x, {"lstm.weight": torch.ones(2)}), "expected embeddings"),
    "activation": (lambda x: config(x, activation_function="mish"), "activation_function"),
    "code": (lambda x: config(x, auto_map={"AutoModel": "m.M"}), "config.json: auto_map"),
    "code of the tokenizer": (
        lambda x: tokenizer(x, auto_map={}),
        "tokenizer_config.json: auto_map",
    ),
    "quantised": (lambda x: config(x, quantization_config={}), "quantization_config"),
    "payload": (lambda x: pickled(x, {"a": Payload(x / "ran")}), "pytorch_model.bin: is no checkpoint"),
    "link": (lambda x: moved_out(x, "source.spm"), "source.spm: leads out of the folder"),
    "link of weights": (lambda x: moved_out(x, "model.safetensors"), "leads out of the folder"),
    "path out": (lambda x: index_of(x, "../model.safetensors"), "leads out of the folder"),
    "no weights": (lambda x: (x / "model.safetensors").unlink(), "expected a folder with model.safetensors"),
    "no config": (lambda x: (x / "config.json").unlink(), "config.json: no such file"),
    "no JSON": (lambda x: (x / "config.json").write_text("[1"), "config.json:1: expected JSON"),
    "other class": (lambda x: config(x, model_type="t5"), "model_type t5: expected one of"),
    "mbart 25": (lambda x: config(x, model_type="mbart"), "model_type mbart"),
    "other start": (lambda x: config(x, decoder_start_token_id=0), "decoder_start_token_id 0"),
    "not tied": (lambda x: config(x, tie_word_embeddings=False), "tie_word_embeddings False"),
    "another output": (untied, "shared.weight and lm_head.weight: expected the same numbers"),
    "no pieces": (saved_by_transformers_5, "sentencepiece.bpe.model: no such file; transformers 5 saves"),
    "other tokenizer": (
        lambda x: tokenizer(x, tokenizer_class="SMALL100Tokenizer"),
        "tokenizer_class SMALL100Tokenizer: expected MarianTokenizer, ",
    ),
    "one language": (lambda x: tokenizer(x, target_lang=None), "give two languages"),
    "language as path": (lambda x: tokenizer(x, target_lang="../fr"), "two languages"),
    "numbers": (lambda x: changed(x, "vocab.json", more=7), "vocab.json: expected a number from 0 on"),
    "no model": (lambda x: (x / "target.spm").write_bytes(b"no"), "target.spm: is no SentencePiece model"),
    "types": (lambda x: config(x, dropout="0"), "--dropout"),
}  # fmt: skip


@pytest.mark.parametrize("case", SPOILED)
def test_a_spoiled_folder_is_refused_in_a_line(folder, case, refusal):
    spoil, message = SPOILED[case]
    spoil(folder)
    before = sorted(folder.parent.rglob("*"))
    assert message in refusal(imported, folder)
    assert sorted(folder.parent.rglob("*")) == before  # nothing ran, and nothing was left behind


@pytest.fixture
def subwords(tmp_path, model):
    """A data folder whose sentences of English begin with a language's token."""
    (tmp_path / "spm.model").write_bytes(model)
    languages = {"source_lang": "en", "target_lang": "fr", "splits": {}}
    write_description(tmp_path, {**languages, "language_tokens": {"en": "__en__"}})
    return Subwords.load(tmp_path, "en"), Subwords.load(tmp_path, "fr")


def test_a_languages_token_is_before_words_and_never_text(subwords):
    own, other = subwords
    pieces = own.encode("the cat")
    assert pieces == f"__en__ {other.encode('the cat')}" and own.decode(pieces) == "the cat"
    assert own.encode("") == own.encode(" \u2028") == ""
    text = own.encode("__en__")
    assert text.split().count("__en__") == 1


def test_a_languages_token_belongs_to_the_first_word(subwords):
    own, other = subwords
    split, expected = split_words("the cat", own), split_words("the cat", other)
    assert split.words == expected.words and split.place.tolist() == [0, *expected.place]
    assert own.bare("__en__") == ""
    values = np.arange(len(expected.pieces) + 1.0)  # the token itself is given, and has no value
    ours, theirs = word_values("the cat", own, values), word_values("the cat", other, values)
    assert ours.values.tolist() == theirs.values.tolist() and ours.end == theirs.end
