"""A folder of a Hugging Face model on disk, read as data: no code of it runs, and nothing outside of it is
opened."""

import os
from pathlib import Path
from typing import Any, Dict, Iterator, Type

from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import check_inside
from ctxmt_fairseq.checkpoints.allowed import check_parameters
from ctxmt_fairseq.checkpoints.portable import WEIGHTS, read_tensors
from ctxmt_fairseq.checkpoints.reading import peek
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION
from ctxmt_fairseq.text.json_files import Place, get, load_json

CONFIG, TOKENIZER = "config.json", "tokenizer_config.json"
_INSTEAD = "; transformers 5 saves tokenizer.json in its place: copy it from the model that was trained on"
_WEIGHTS = (WEIGHTS, "pytorch_model.bin")


class HubFolder:
    """Reads the files of a folder; one with code of its own, or with quantised weights, is refused."""

    def __init__(self, path: Path):
        self.path = path
        if self.has(DESCRIPTION) and not self.has(CONFIG):
            raise BadInput("is no folder of Hugging Face's, but a model or data of this package's", path)
        for name in (CONFIG, TOKENIZER):
            for key in ("auto_map", "quantization_config"):
                if key in self.json(name, name == TOKENIZER):
                    raise BadInput(f"{key}: such a model cannot be imported", path / name)

    def has(self, name: str) -> bool:
        return os.path.lexists(self.path / name)

    def file(self, name: str) -> Path:
        """The path of one of its files; one that is missing, or outside of the folder, is refused."""
        path = self.path / name
        check_inside(path, self.path)
        if not path.is_file():
            instead = name.endswith(".model") and self.has("tokenizer.json")
            raise BadInput("no such file" + instead * _INSTEAD, path)
        return path

    def json(self, name: str, optional: bool = False) -> Dict[str, Any]:
        """The object in a JSON file; {} if it is missing and ``optional``."""
        if optional and not self.has(name):
            return {}
        value = load_json(self.file(name), large=True)  # transformers writes 10^30 for no limit
        if not isinstance(value, dict):
            raise BadInput("expected an object", self.path / name)
        return value

    def get(self, key: str, kind: Type[Any], name: str = CONFIG) -> Any:
        """A value of a JSON file."""
        return get(Place(self.path / name), self.json(name), key, kind)

    def refuse(self, key: str, name: str = CONFIG) -> None:
        """Say that a model with this value in a JSON file cannot be imported."""
        value = self.json(name).get(key)
        raise BadInput(f"{key} {value!r}: such a model cannot be imported", self.path / name)

    def parameters(self) -> Dict[str, Tensor]:
        """All weights, in float32; files with anything else in them are refused."""
        found: Dict[str, Tensor] = {}
        for path in self._weights():
            part: Any = read_tensors(path) if path.suffix == ".safetensors" else peek(path)
            check_parameters(part, path)
            for name, tensor in part.items():
                if not tensor.is_floating_point():
                    raise BadInput(f"{name}: expected weights, found {tensor.dtype}", path)
                found[name] = tensor.float()
        return found

    def _weights(self) -> Iterator[Path]:
        for name in _WEIGHTS:
            index = f"{name}.index.json"
            if self.has(name):
                yield self.file(name)
                return
            if self.has(index):
                parts = self.get("weight_map", dict, index).values()
                yield from map(self.file, dict.fromkeys(map(str, parts)))
                return
        raise BadInput(f"expected a folder with {' or '.join(_WEIGHTS)}", self.path)
