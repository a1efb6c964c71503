"""Folders of sentence encoders are data: nothing in them runs, and nothing that they name is followed. What a
checkpoint or a store names is not loaded at all, if it is not the package's own."""

import json
import shutil

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.vectors.text_encoders import _minilm_folder, known_encoder, load_text_encoder

TEXTS = ["A cat.", "He said that it sleeps in the house of the doctor."]
MINILM = "sentence_transformers.models."


@pytest.fixture
def folder(tmp_path):
    """MiniLM, to be changed; its parameters are links to the package's."""
    copy = tmp_path / "model"
    shutil.copytree(_minilm_folder(), copy, ignore=shutil.ignore_patterns("*.safetensors"))
    (copy / "model.safetensors").symlink_to(f"{_minilm_folder()}/model.safetensors")
    return copy


def modules(folder, *entries):
    listed = [
        {"idx": at, "name": str(at), "path": path, "type": kind} for at, (kind, path) in enumerate(entries)
    ]
    (folder / "modules.json").write_text(json.dumps(listed))


def refused(folder):
    with pytest.raises(BadInput) as error:
        load_text_encoder(str(folder))
    return str(error.value)


def hostile_router(folder):
    """A router whose parts are any importable class, here one that leaves a trace."""
    folder.mkdir()
    (folder / "own.py").write_text(f"open({str(folder / 'victim')!r}, 'w')\nclass Module: pass\n")
    content = {"types": {"query": "own.Module"}, "structure": {"query": ["query"]}, "parameters": {}}
    for name in ("router_config.json", "config.json"):
        (folder / name).write_text(json.dumps(content))


@pytest.mark.parametrize("way", ["beside", "link", "absolute", "inside"])
def test_modules_elsewhere_and_routers(folder, monkeypatch, way):
    parts = folder / "parts" if way == "inside" else folder.parent / "parts"
    hostile_router(parts)
    monkeypatch.syspath_prepend(parts)
    path = {"beside": "../parts", "link": "link", "absolute": str(parts), "inside": "parts"}[way]
    (folder / "link").symlink_to(parts)
    modules(folder, (f"{MINILM}Transformer", ""), (f"{MINILM}Router", path))
    assert "modules.json: module 1: expected Transformer, Pooling, " in refused(folder)
    modules(folder, (f"{MINILM}Transformer", ""), (f"{MINILM}Pooling", path))
    message = refused(folder)
    assert way == "inside" or "expected a path inside the model's folder" in message
    assert not (parts / "victim").exists()


@pytest.mark.parametrize(
    "kind", ["own.Pooling", "os.Pooling", "Pooling", "sentence_transformers_2.Pooling", 3]
)
def test_classes_from_elsewhere(folder, monkeypatch, kind):
    hostile_router(folder / "parts")
    monkeypatch.syspath_prepend(folder / "parts")
    modules(folder, (f"{MINILM}Transformer", ""), (kind, "1_Pooling"))
    assert "modules.json: " in refused(folder)
    assert not (folder / "parts" / "victim").exists()


@pytest.mark.parametrize(
    "name, changes",
    [
        ("sentence_bert_config.json", {"tokenizer_name_or_path": "elsewhere"}),
        ("sentence_bert_config.json", {"model_args": {"attn_implementation": "someone/kernel"}}),
        ("sentence_bert_config.json", {"modality_config": {"text": {"method": "save_pretrained"}}}),
        ("sentence_bert_config.json", {"transformer_task": "text-generation"}),
        ("adapter_config.json", {"base_model_name_or_path": "elsewhere"}),
        ("modules.json", {"not": "a list"}),
        ("config_sentence_transformers.json", {"prompts": "query"}),
        ("config.json", {"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}),
    ],
)
def test_options_that_call_or_follow_something(folder, name, changes):
    path = folder / name
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, **changes} if isinstance(known, dict) else changes))
    assert refused(folder).startswith(str(folder))


@pytest.mark.parametrize("activation", ["torch.utils.collect_env.main", "torch.nn.Module", "own.run"])
def test_a_dense_layer_calls_activations_alone(folder, activation):
    save_dense(folder, activation)
    assert f"activation_function: expected one of torch.nn, found {activation}" in refused(folder)


def save_dense(folder, activation, **options):
    dense = folder / "2_Dense"
    dense.mkdir()
    generator = torch.Generator().manual_seed(1)
    weights = {"linear.weight": torch.randn(5, 384, generator=generator), "linear.bias": torch.ones(5)}
    torch.save(weights, dense / "pytorch_model.bin")
    sizes = {"in_features": 384, "out_features": 5, "bias": True, "activation_function": activation}
    (dense / "config.json").write_text(json.dumps({**sizes, **options}))
    kinds = (
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        ("Dense", "2_Dense"),
        ("Normalize", "3_Normalize"),
    )
    modules(folder, *((f"{MINILM}{kind}", path) for kind, path in kinds))
    return weights


def test_vectors_are_those_of_the_library(folder):
    """Of the whole pipeline, and of a plain transformer, which gets the mean."""
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    assert np.array_equal(load_text_encoder(str(folder)).encode(TEXTS), whole)
    weights = save_dense(folder, "torch.nn.modules.activation.Tanh", in_features=10**9)
    dense = np.tanh(
        load_text_encoder(f"mean:{folder}").encode(TEXTS) @ weights["linear.weight"].numpy().T + 1
    )
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    assert np.allclose(load_text_encoder(str(folder)).encode(TEXTS), dense, atol=1e-5)
    (folder / "modules.json").unlink()
    (folder / "config_sentence_transformers.json").unlink()
    plain = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    assert np.array_equal(load_text_encoder(str(folder)).encode(TEXTS), plain)


def test_code_that_a_configuration_names_is_not_fetched(folder):
    options = json.loads((folder / "config.json").read_text())
    named = {"attn_implementation": "someone/kernel", "auto_map": {"AutoModel": "someone/model--own.Model"}}
    (folder / "config.json").write_text(json.dumps({**options, **named}))
    assert np.array_equal(
        load_text_encoder(str(folder)).encode(TEXTS), load_text_encoder("minilm").encode(TEXTS)
    )


def test_symbols_that_the_model_does_not_have(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["house"] = 10**6
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(BadInput, match="is damaged: its tokenizer has symbols that its model does not"):
        load_text_encoder(str(folder)).encode(TEXTS)


def test_prompts_of_a_model(folder):
    settings = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    prompted = load_text_encoder("minilm").encode([f"query: {text}" for text in TEXTS])
    assert np.array_equal(load_text_encoder(str(folder)).encode(TEXTS), prompted)


def test_a_name_on_the_hub_is_its_copy_here(folder, monkeypatch, tmp_path):
    snapshots = tmp_path / "models--sentence-transformers--some"
    (snapshots / "snapshots").mkdir(parents=True)
    (snapshots / "refs").mkdir()
    (snapshots / "refs" / "main").write_text("0" * 40)
    shutil.move(folder, snapshots / "snapshots" / ("0" * 40))
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    expected = load_text_encoder("minilm").encode(TEXTS)
    for name in ("some", "sentence-transformers/some"):
        encoder = load_text_encoder(name)
        assert encoder.name == name and np.array_equal(encoder.encode(TEXTS), expected)


# ---- what a file names -------------------------------------------------------------------------------------


def test_what_files_may_name():
    assert known_encoder("discrete", 384).name == "discrete"
    assert known_encoder("cls:minilm", 384).name == "cls:minilm"


def test_other_names_are_those_that_the_user_gives(folder, tmp_path):
    name = load_text_encoder(f"cls:{folder}").name
    for named in (name, str(folder), "someone/model"):
        with pytest.raises(BadInput, match="name it, --text-encoder"):
            known_encoder(named, 384)
    assert known_encoder(name, 384, f"cls:{folder}").name == name
    moved = tmp_path / "elsewhere" / "model"
    shutil.move(folder, moved)
    assert known_encoder(name, 384, f"cls:{moved}").name == f"cls:{moved}"
    for other, dimension in ((str(moved), 384), ("minilm", 384), (f"cls:{moved}", 768)):
        with pytest.raises(BadInput, match=f"--text-encoder .*: expected {name}"):
            known_encoder(name, dimension, other)
