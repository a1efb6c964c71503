"""Loads COMET's models without running anything in their files."""

import contextlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Sequence

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.checkpoints.reading import peek
from ctxmt_fairseq.text.text_lines import file_digest, read_bytes

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
OWNER = "Unbabel"  # of models whose name on the hub has no owner
WEIGHTS, OPTIONS = Path("checkpoints/model.ckpt"), "hparams.yaml"
# These options never come from a file: what a model downloads, and the texts that it is trained on.
_OURS = {"load_pretrained_weights": False, "train_data": [], "validation_data": []}


@dataclass
class CometModel:
    """A metric that is ready to score: COMET's, by the user's name, and a hash of its files."""

    name: str
    model: Any
    content: str

    @property
    def needs_references(self) -> bool:
        """Whether the model cannot score without references."""
        return bool(self.model.requires_references())

    @property
    def reads_references(self) -> bool:
        """Whether references change the model's scores."""
        return self.needs_references or "ref" in self.model.hparams.get("input_segments", ())

    @property
    def pools_sentences(self) -> bool:
        """Whether a sentence's vector is the mean of its tokens, which may leave context out."""
        return not self._unified and self.model.hparams["pool"] == "avg"

    @property
    def _unified(self) -> bool:
        from comet.models import UnifiedMetric

        return isinstance(self.model, UnifiedMetric)

    @property
    def separator(self) -> str:
        """The token between the sentences of an input."""
        return self.model.encoder.tokenizer.sep_token

    def too_long(self, samples: Sequence[Mapping[str, str]]) -> np.ndarray:
        """Whether each sample is longer than the model reads, (n,) bool.

        Each text is encoded by itself (XLM-R reads 510 tokens); unified models encode all texts of a sample
        at once.
        """
        if not samples:
            return np.zeros(0, bool)
        encoder, sides = self.model.encoder, list(samples[0])
        with _silent("transformers.tokenization_utils_base"):  # warns of long texts, which we count
            tokens = [encoder.tokenizer([sample[side] for sample in samples])["input_ids"] for side in sides]
        lengths = np.array([[len(text) for text in side] for side in tokens])  # special tokens included
        if self._unified:
            special = 1 + len(sides) * (encoder.size_separator - 2)
            return lengths.sum(0) + special > encoder.max_positions
        return lengths.max(0) > encoder.max_positions - 2

    def predict(
        self, samples: Sequence[Mapping[str, str]], context: bool, batch_size: int, gpu: bool
    ) -> List[float]:
        """COMET's score of each sample, in which sentences before the last separator may be context."""
        self.model.use_context = context
        options = dict(num_workers=0, progress_bar=False, gpus=int(gpu))
        with _silent("lightning.pytorch", "pytorch_lightning"):
            scores = self.model.predict(list(samples), batch_size=batch_size, **options)["scores"]
        return [float(score) for score in scores]


def load_comet(name: str) -> CometModel:
    """Load a model of unbabel-comet, whose files may hold nothing but tensors, and options of one of COMET's
    classes. It is a folder with ``hparams.yaml`` and ``checkpoints/model.ckpt``, or a name on the Hugging
    Face hub (``wmt22-comet-da``, ``Unbabel/wmt20-comet-da``), which is downloaded once."""
    classes = import_of_extra("comet.models", "comet", "COMET needs unbabel-comet").str2model
    folder = Path(name) if Path(name).is_dir() else _downloaded(name)
    state = peek(folder / WEIGHTS)
    options, kind = _options(folder, state)
    if not isinstance(kind, str) or kind not in classes:
        raise BadInput(f"class_identifier: expected one of {', '.join(classes)}", folder / OPTIONS)
    parameters = inspect.signature(classes[kind]).parameters
    options = {key: value for key, value in options.items() if key in parameters and key not in _OURS}
    options["pretrained_model"] = _encoder(folder, options.get("pretrained_model"))
    try:
        with _silent("comet", "pytorch_lightning"):
            model = classes[kind](**options, **_OURS)
        missing, _ = model.load_state_dict(state["state_dict"], strict=False)
    except Exception as error:  # transformers and COMET raise many kinds for files that do not fit
        raise BadInput(f"cannot be built as {kind}: {' '.join(str(error).split())[:300]}", folder) from None
    # Some versions of transformers save positions, others do not.
    missing = [key for key in missing if not key.endswith("position_ids")]
    if missing:
        raise BadInput(f"the parameter {missing[0]} is missing", folder / WEIGHTS)
    return CometModel(name, model.eval(), file_digest(folder / OPTIONS, folder / WEIGHTS))


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download

    if not HUB_NAME.fullmatch(name):
        raise BadInput("no such folder, and no name of a model on the hub", name)
    repository = name if "/" in name else f"{OWNER}/{name}"
    files, why = ["*.yaml", str(WEIGHTS)], ""
    for here in (True, False):  # what is here already needs no network
        try:
            return Path(snapshot_download(repository, allow_patterns=files, local_files_only=here))
        except Exception as error:
            why = (str(error).strip().splitlines() or [repr(error)])[0]
    raise BadInput(f"no such folder, and {repository} cannot be downloaded: {why}", name)


def _options(folder: Path, state: Any) -> Any:
    """The options of the constructor (from the checkpoint, or else from ``hparams.yaml``), and the class."""
    import yaml

    path = folder / OPTIONS
    try:
        written = yaml.safe_load(read_bytes(path))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        raise BadInput("expected YAML of plain values", path) from None
    if not isinstance(written, dict):
        raise BadInput("expected options with their values", path)
    if not isinstance(state, dict) or not isinstance(state.get("state_dict"), dict):
        raise BadInput("expected parameters at the key state_dict", folder / WEIGHTS)
    kept = state.get("hyper_parameters")
    options = {**written, **(kept if isinstance(kept, dict) else {})}
    return {str(key): value for key, value in options.items()}, written.get("class_identifier")


def _encoder(folder: Path, name: Any) -> str:
    """The place of the encoder's configuration and tokenizer: the model's own folder, or the hub."""
    if not isinstance(name, str) or not HUB_NAME.fullmatch(name):
        wanted = "expected a name on the hub or of a folder beside it"
        raise BadInput(f"pretrained_model: {wanted}, found {name!r}", folder / OPTIONS)
    return str(folder / name) if (folder / name).is_dir() else name


@contextlib.contextmanager
def _silent(*names: str) -> Iterator[None]:
    """Silence these loggers and all warnings within the block."""
    import logging
    import warnings

    with contextlib.ExitStack() as end, warnings.catch_warnings():
        for logger in map(logging.getLogger, names):
            end.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.ERROR)
        warnings.simplefilter("ignore")
        yield
