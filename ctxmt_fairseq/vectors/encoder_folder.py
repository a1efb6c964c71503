"""Builds a sentence encoder from its folder, which is data.

The sentence-transformers library imports the classes and calls the methods that files of the folder name,
and follows their paths out of it. Here a folder has the classes of ``MODULES``, whose options have checked
values, and files of its own.
"""

from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, StaticEmbedding
from torch import nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, load_json

_LOCAL: Dict[str, Any] = dict(trust_remote_code=False, local_files_only=True)
_TEXT = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
# Of a transformer's own options: what may be chosen, and what the others must be where they are given.
_CHOSEN = ("max_seq_length", "do_lower_case")
_FIXED = {
    "transformer_task": "feature-extraction",
    "modality_config": _TEXT,
    "module_output_name": "token_embeddings",
}


def load_encoder(folder: Path, device: str, pooling: Optional[str] = None) -> SentenceTransformer:
    """Load a model of sentence-transformers, or of transformers, which gets the mean of its states."""
    folder = folder.resolve()
    modules_file = folder / "modules.json"
    if pooling is not None or not modules_file.is_file():
        return SentenceTransformer(modules=_plain(folder, pooling), device=device)
    modules = []
    entries = load_json(modules_file)
    if not isinstance(entries, list):
        raise BadInput("expected a list of modules", modules_file)
    for number, entry in enumerate(entries):
        place = Place(modules_file, part=f"module {number}")
        kind, path = get(place, entry, "type", str), folder / get(place, entry, "path", str)
        library, _, name = kind.rpartition(".")
        if library.partition(".")[0] != "sentence_transformers" or name not in MODULES:
            raise place.error(f"expected {', '.join(MODULES)} of sentence-transformers, found {kind}")
        if not path.resolve().is_relative_to(folder):
            raise place.error(f"expected a path inside the model's folder, found {path}")
        modules.append(MODULES[name](path))
    settings = _optional(folder / "config_sentence_transformers.json")
    chosen = {name: settings.get(name) for name in ("default_prompt_name", "truncate_dim")}
    prompts = settings.get("prompts") or {}
    return SentenceTransformer(modules=modules, device=device, prompts=prompts, **chosen)


def _optional(path: Path) -> Dict[str, Any]:
    """The options in a file; none if there is no file."""
    content = load_json(path) if path.is_file() else {}
    if not isinstance(content, dict):
        raise BadInput("expected an object with options", path)
    return content


def _plain(folder: Path, pooling: Optional[str]) -> List[nn.Module]:
    """The model's words, and then one vector of their states."""
    words = _words(folder)
    kinds = getattr(words.config, "architectures", None) or [""]
    decoder = kinds[0].endswith("ForCausalLM") and getattr(words.config, "is_causal", True)
    return [words, Pooling(words.get_embedding_dimension(), pooling or ("lasttoken" if decoder else "mean"))]


def _words(folder: Path, **options: Any) -> Transformer:
    if (folder / "adapter_config.json").exists():
        raise BadInput("names another model, which is not followed: merge the adapter into it", folder)
    how = {f"{what}_kwargs": dict(_LOCAL) for what in ("model", "processor", "config")}
    return Transformer(str(folder), **how, **options)


def _transformer(folder: Path) -> Transformer:
    path = next(iter(sorted(folder.glob("sentence_*_config.json"))), folder / "sentence_bert_config.json")
    options = _optional(path)
    for name, value in options.items():
        if name not in _CHOSEN and value and value != _FIXED.get(name):
            raise BadInput(f"{name}: expected {_FIXED.get(name, 'nothing')}, found {str(value)[:60]}", path)
    chosen = {name: options[name] for name in _CHOSEN if name in options}
    return _words(folder, modality_config=_TEXT, module_output_name="token_embeddings", **chosen)


def _dense(folder: Path) -> Dense:
    options = _optional(folder / "config.json")
    weights = Dense.load_torch_weights(str(folder), local_files_only=True)
    activation = str(options.pop("activation_function", "torch.nn.modules.activation.Tanh"))
    name = activation.rpartition(".")[2]
    if not activation.startswith("torch.nn.") or name not in (*nn.modules.activation.__all__, "Identity"):
        raise BadInput(f"activation_function: expected one of torch.nn, found {activation}", folder)
    outputs, inputs = weights["linear.weight"].shape  # the file's, whatever the options say
    options.update(in_features=inputs, out_features=outputs, activation_function=getattr(nn, name)())
    dense = Dense(**options)
    dense.load_state_dict(weights)
    return dense


MODULES: Dict[str, Callable[[Path], nn.Module]] = {
    "Transformer": _transformer,
    "Pooling": lambda folder: Pooling.load(str(folder), local_files_only=True),
    "Normalize": lambda folder: Normalize(),
    "Dense": _dense,
    "StaticEmbedding": lambda folder: StaticEmbedding.load(str(folder), local_files_only=True),
}
