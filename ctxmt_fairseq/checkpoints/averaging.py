"""Averages the parameters of the checkpoints nearest to the best one (focused concatenation, appendix A)."""

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Optional, Union

import torch
from fairseq.models import ARCH_MODEL_REGISTRY
from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, TRUSTED
from ctxmt_fairseq.checkpoints.options import declared_options, mapping, saved_options
from ctxmt_fairseq.checkpoints.reading import peek, read
from ctxmt_fairseq.data.context_options import ALL, flag

logger = logging.getLogger(__name__)
# What fairseq writes at the end of an epoch, and every --save-interval-updates.
SAVED_NAME = re.compile(r"checkpoint(\d+|_\d+_\d+)\.pt")
# Options of a model that a training may go on with otherwise: what its parameters mean stays the same.
OF_TRAINING = re.compile(
    r"dropout|layerdrop|quant_noise|_path|_activations|min_params|freeze|gradient|train_context|max_.*_positions"
)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint file, the number of its training updates, its validation score, if it has one, the epoch
    in which its training goes on, how often that was started, and its settings as text."""

    path: Path
    updates: int
    score: Optional[float]
    epoch: int = 0
    starts: int = 1
    settings: Dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, trust: bool = False) -> "Checkpoint":
        """Read a checkpoint of fairseq-train, of which nothing is built; ``trust``: see ``load_models``."""
        state = read(path, TRUSTED if trust else ALLOWED, ("task", "model"))
        try:
            starts, updates = len(state["optimizer_history"]), state["optimizer_history"][-1]["num_updates"]
            score = state["extra_state"].get("val_loss")
            epoch = (state["extra_state"].get("train_iterator") or {}).get("epoch", 0)
            score = None if score is None else float(score)
            return cls(path, updates, score, epoch, starts, _settings(state))
        except Exception:  # a file may have anything there
            raise BadInput("is no checkpoint of fairseq-train", path) from None


def _settings(state: Dict[str, Any]) -> Dict[str, str]:
    """What parameters of equal shapes may be of, each as text: the architecture, its options, the context."""
    model, saved = mapping(state["cfg"]["model"], "model"), state.get("task_state") or {}
    declared = declared_options(ARCH_MODEL_REGISTRY[model["_name"]])
    values = {name: model[name] for name in declared if name in model and not OF_TRAINING.search(name)}
    context = saved_options(saved.get("context") or {}, {name: each.default for name, each in ALL.items()})
    facts = saved.get("store") or {}  # a training may go on with other fields
    tags = [tag for tag in facts.get("tags") or () if isinstance(tag, str)]
    store = [facts.get("encoder") if isinstance(facts.get("encoder"), str) else None, tags]
    values |= {**context, "arch": model["_name"], "context_store": store}
    return {str(name): repr(value) for name, value in values.items()}


def save_dir(folder: Path) -> Path:
    """Find where a training's checkpoints are: in its folder itself, or in ``checkpoints`` there."""
    inner = folder / "checkpoints"
    return inner if inner.is_dir() else folder


def run_folder(path: Path) -> Path:
    """The folder of the training that a checkpoint is of, also one that ``ctxmt evaluate`` has averaged; a
    folder is itself."""
    folder = path if path.is_dir() else path.absolute().parent
    return folder.parent if folder.name in ("checkpoints", "evaluation") else folder


def checkpoints_in(folder: Path) -> List[Path]:
    """The checkpoints that a training has saved, and may go on from."""
    own = ("checkpoint_best.pt", "checkpoint_last.pt")
    paths = folder.iterdir() if folder.is_dir() else ()
    return [path for path in paths if path.name in own or SAVED_NAME.fullmatch(path.name)]


def nearest_checkpoints(
    folder: Union[str, Path], count: int = 5, around: str = "best", trust: bool = False
) -> List[Checkpoint]:
    """Find the checkpoints nearest to the best (or last) one, and this one, in the order of training.
    Nearness counts saved checkpoints, not updates: of 5, two were saved before the best and two after it, if
    there are as many. Of two that are equally near the earlier is taken. A warning says if there are fewer
    than ``count``. The centre is what checkpoint_best.pt or checkpoint_last.pt was saved from."""
    if count < 1:
        raise BadInput(f"--count {count}: expected 1 or more checkpoints to average")
    centre = Checkpoint.read(Path(folder) / f"checkpoint_{around}.pt", trust)
    paths = (path for path in Path(folder).iterdir() if SAVED_NAME.fullmatch(path.name))
    saved = [Checkpoint.read(path, trust) for path in paths]
    # If the centre's own file has been removed (--keep-last-epochs), its copy counts.
    by_updates = {checkpoint.updates: checkpoint for checkpoint in [centre, *saved]}
    for checkpoint in [centre, *saved]:
        other = by_updates[checkpoint.updates]
        # --reset-optimizer counts updates anew. In one start, float16 may have an epoch end without another.
        if other.epoch != checkpoint.epoch and other.starts != checkpoint.starts:
            found = f"has {checkpoint.updates} updates, and so has {other.path.name} of another epoch"
            raise BadInput(f"{found}: leave there the checkpoints of one training alone", checkpoint.path)
    ordered = [by_updates[updates] for updates in sorted(by_updates)]
    middle = ordered.index(by_updates[centre.updates])
    nearest = sorted(range(len(ordered)), key=lambda index: (abs(index - middle), index))[:count]
    if len(nearest) < count:
        logger.warning("%s: only %d checkpoints to average, %d were asked for", folder, len(nearest), count)
    return [ordered[index] for index in sorted(nearest)]


def average_parameters(paths: List[Path]) -> Dict[str, torch.Tensor]:
    """Average every floating-point parameter, in its own type, but summed in float32 or wider.

    Integer buffers are those of the first file. Tensors that share memory (tied embeddings) still do. All
    files must have the same symbols, and the same names, shapes and types of parameters.
    """
    state = peek(paths[0])
    first, symbols = state["model"], _symbols(state)
    sums = {name: _wide(tensor).clone() for name, tensor in first.items()}
    for path in tqdm(paths[1:], desc="average", unit=" checkpoints", disable=None):
        state = peek(path)
        if _symbols(state) != symbols:
            raise BadInput(f"expected the dictionaries of {paths[0].name}, found others", path)
        model = state["model"]
        for name in [*first, *model]:
            one, other = first.get(name), model.get(name)
            if one is None or other is None or (one.shape, one.dtype) != (other.shape, other.dtype):
                raise BadInput(f"cannot be averaged with {paths[0].name}: {name} differs", path)
        for name, tensor in model.items():
            if tensor.is_floating_point():
                sums[name] += _wide(tensor)
    averages: Dict[str, torch.Tensor] = {}
    shared: Dict[Any, torch.Tensor] = {}
    for name, tensor in first.items():
        mean = (sums[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else sums[name]
        memory = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        averages[name] = shared.setdefault(memory, mean) if tensor.numel() else mean
    return averages


def _symbols(state: Dict[str, Any]) -> Dict[str, str]:
    """Digests of the symbols that the embeddings are of, by side; {}: the checkpoint does not say."""
    digests = (state.get("task_state") or {}).get("dictionaries")
    sides = digests.items() if isinstance(digests, dict) else ()
    return {side: digest for side, digest in sides if isinstance(digest, str)}


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Turn float16 and bfloat16 into float32; other types stay as they are."""
    return tensor.float() if tensor.is_floating_point() and tensor.itemsize < 4 else tensor


def write_average(checkpoints: List[Checkpoint], output: Path) -> None:
    """Write the last of the checkpoints with the averaged parameters and without its optimizer state."""
    first = checkpoints[0]
    for other in checkpoints[1:]:
        for name in sorted(first.settings.keys() & other.settings.keys()):  # older versions had fewer
            if first.settings[name] != other.settings[name]:
                found = f"has another {flag(name)} than {first.path.name}"
                raise BadInput(f"{found}: leave there the checkpoints of one training alone", other.path)
    state = dict(peek(checkpoints[-1].path))
    state["model"] = average_parameters([checkpoint.path for checkpoint in checkpoints])
    state.pop("last_optimizer_state", None)
    write_file(output, lambda stream: _save(state, stream))


def _save(state: Dict[str, Any], stream: BinaryIO) -> None:
    try:
        torch.save(state, stream)
    except RuntimeError as error:  # torch says that it has not written everything; the context says why
        if isinstance(error.__context__, OSError):
            raise error.__context__ from None
        raise
