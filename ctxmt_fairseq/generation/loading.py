"""Checkpoints to models and their task."""

import os
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import torch
from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import check_inside
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, TRUSTED
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.checkpoints.portable import CHECKPOINT, CONVERTED, WEIGHTS
from ctxmt_fairseq.checkpoints.reading import load_ensemble, read, upgraded
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, first_folder
from ctxmt_fairseq.corpora.subwords import PathLike, Subwords
from ctxmt_fairseq.corpora.unknown_subwords import count_unknown, warn_of_unknown
from ctxmt_fairseq.generation.converted_models import ConvertedModel, load_converted
from ctxmt_fairseq.tasks.context_task import ContextTask
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask

Paths = Union[PathLike, Sequence[PathLike]]
_DICTIONARIES = (DESCRIPTION, "dict.*.txt", "*.model")  # of a data folder


@dataclass
class LoadedModels:
    """An ensemble ready for evaluation.

    Attributes:
        models: in evaluation mode, on ``device``.
        task: with the context options of the checkpoints.
        source_subwords, target_subwords: text <-> subwords, with the text steps of the data folder.
        lock: held by who uses the models, which keep states of the text at hand; of all their copies.
    """

    models: List[torch.nn.Module]
    task: Any
    device: torch.device
    source_subwords: Subwords
    target_subwords: Subwords
    lock: Any = field(default_factory=threading.RLock)

    @property
    def model(self) -> Any:
        """The only model; raises BadInput of an ensemble, and where CTranslate2 has the model's layers."""
        if len(self.models) > 1:
            raise BadInput(f"expected one checkpoint, found {len(self.models)}")
        if isinstance(self.models[0], ConvertedModel):
            raise BadInput("CTranslate2 shows nothing of a model's layers: give the one that was exported")
        return self.models[0]

    @property
    def limits(self) -> Tuple[int, int]:
        """How many source and target positions all models have."""
        return self.task.limits(self.models)

    @property
    def sentence_limits(self) -> Tuple[int, int]:
        """How many tokens a sentence may have; with ``--context-end eos`` its context has at least one."""
        room = int(self.task.options.get("context_end") == "eos")
        return self.limits[0] - room, self.limits[1] - room

    @property
    def languages(self) -> Tuple[str, str]:
        """Source and target language."""
        return self.task.cfg.source_lang, self.task.cfg.target_lang

    def with_options(self, **options: Any) -> "LoadedModels":
        """The same models with other context options; see ``ContextTask.with_options``."""
        return replace(self, task=self.task.with_options(**options))

    def encode_source(self, text: str) -> torch.Tensor:
        """Turn a source sentence into int64 tokens (S,), which end with ``</s>``."""
        return _encode(self.source_subwords, self.task.source_dictionary, text)

    def encode_target(self, text: str) -> torch.Tensor:
        """Turn a target sentence into int64 tokens (T,), which end with ``</s>``."""
        return _encode(self.target_subwords, self.task.target_dictionary, text)

    def warn_of_unknown(
        self, name: PathLike, sources: Iterable[str] = (), targets: Iterable[str] = ()
    ) -> bool:
        """Log a warning for each side of a text if the models' vocabulary lacks more than 5 % of it, and say
        whether there is one."""
        warned = False
        for side, texts in (("source", sources), ("target", targets)):
            subwords, dictionary = getattr(self, f"{side}_subwords"), getattr(self.task, f"{side}_dictionary")
            counts = count_unknown(texts, subwords, dictionary)
            warned |= warn_of_unknown(f"{name}, {side}", *counts, subwords, dictionary)
        return warned

    @property
    def reads_metadata(self) -> bool:
        """Whether metadata can be context."""
        return isinstance(self.task, MetadataContextTask)

    def contexts_of(self, sentences: List[str], metadata: Sequence[Mapping[str, str]]) -> Any:
        """Give what the models read besides n source sentences' tokens; None: the task has no metadata."""
        return self.task.contexts_of(sentences, metadata, str(self.device))

    def decode_target(self, tokens: torch.Tensor) -> str:
        """Turn a target sentence's tokens (T,) into text."""
        words = tokens.tolist()  # of a tensor fairseq would look at each element several times
        return self.target_subwords.decode(self.task.target_dictionary.string(words))


def _encode(subwords: Subwords, dictionary: Any, text: str) -> torch.Tensor:
    return torch.tensor([*map(dictionary.index, subwords.encode(text).split()), dictionary.eos()])


def load_models(
    paths: Paths,
    data: Optional[PathLike] = None,
    options: Optional[Mapping[str, Any]] = None,
    device: Any = None,
    trust: bool = False,
) -> LoadedModels:
    """Load one checkpoint, or several as an ensemble.

    Args:
        paths: checkpoints in a list, or joined by ``:``; a folder that is a model (``model_file``) is one,
            too.
        data: the data folder with dictionaries and subword models; default: the one of the training, or the
            folder that is the model.
        options: task options that override the checkpoint's; None entries do not.
        device: "cpu", "cuda", "cuda:1"; default: a GPU where there is one.
        trust: whether to build architectures of fairseq's that run what a checkpoint says as Python code.

    Raises:
        BadInput: no such checkpoint, one that may not be built or is not of one of this plugin's tasks, no
            data folder, no such device, or options that the task does not have.
    """
    chosen = chosen_device(device)
    named = _named(paths)
    if data is None and named[0].is_dir():
        data = named[0]
    files = [model_file(path) for path in named]
    states = [read(file, TRUSTED if trust else ALLOWED, ("task", "model")) for file in files]
    first = mapping(states[0]["cfg"]["task"], "task")
    kind = TASK_REGISTRY[first["_name"]]
    if not issubclass(kind, ContextTask):
        what = "was not trained with one of this plugin's tasks, such as --task document_window"
        raise BadInput(what, files[0])
    # The first checkpoint's own options are in its task state too; here they would hide the others'.
    saved = kind.saved(states[0].get("task_state"))
    given = kind.checked_options(options or {})
    overrides: Dict[str, Any] = {**dict.fromkeys(saved), **given, "eval_bleu": False}  # has its own search
    folder = first_folder(data or first.get("data"))
    if not folder.is_dir():
        raise BadInput("no such data folder; --data names the one with dictionaries and subwords", folder)
    if data is not None:
        overrides["data"] = str(data)
    models: List[torch.nn.Module] = []
    task: Any = None
    for file, state in zip(files, states, strict=True):
        mapping(state["cfg"]["task"], "task").update(given)  # fairseq replaces what an old file has alone
        state = upgraded(state, file, overrides)
        if file.name == CONVERTED:
            loaded, task = load_converted(file, state, task, chosen)
        else:
            loaded, _, task = load_ensemble([str(file)], overrides, task, state=state)
        models += loaded
    if len(models) > 1 and any(isinstance(model, ConvertedModel) for model in models):
        raise BadInput("an ensemble: CTranslate2 has none")
    for model in models:
        model.eval().to("cpu" if isinstance(model, ConvertedModel) else chosen)
    subwords = [Subwords.load(folder, language) for language in (task.cfg.source_lang, task.cfg.target_lang)]
    return LoadedModels(models, task, chosen, *subwords)


def model_file(path: Path) -> Path:
    """The checkpoint that a path names: the file itself, or that in a folder that is a model, as ``ctxmt
    import`` and ``ctxmt export`` make them. Of these folders a file may be missing; in one without pickle no
    link may lead out of it."""
    if not path.is_dir():
        return path
    portable = [name for name in (WEIGHTS, CONVERTED) if os.path.lexists(path / name)]
    for each in path.iterdir() if portable else ():
        check_inside(each, path)
    return path / [*portable, CHECKPOINT][0]


def token_files(loaded: LoadedModels) -> List[Path]:
    """The files in the data folder that turn text into tokens."""
    folder = first_folder(loaded.task.cfg.data)
    found = {path for pattern in _DICTIONARIES for path in folder.glob(pattern)}
    for subwords in (loaded.source_subwords, loaded.target_subwords):
        found.update(folder / name for name in subwords.steps.files)
    return sorted(found)


def _named(paths: Paths) -> List[Path]:
    """The checkpoints of an ensemble."""
    named: List[Any] = [paths] if isinstance(paths, Path) else []
    if isinstance(paths, str):
        named = paths.split(os.pathsep)
    elif isinstance(paths, (list, tuple)):
        named = list(paths)
    if not named or not all(isinstance(path, (str, Path)) and str(path) for path in named):
        raise BadInput(f"expected the path of a checkpoint, or a list of paths, found {paths!r}")
    return [Path(path) for path in named]


def chosen_device(device: Any) -> torch.device:
    """Find a device by its name; None: a GPU where there is one."""
    if device is None:
        if not torch.cuda.is_available():
            return torch.device("cpu")
        local = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        return torch.device(f"cuda:{local}" if ranks.count() > 1 else "cuda")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise BadInput(f"device: expected cpu, cuda or a certain GPU (cuda:1), found {device!r}") from None
    known = {"cpu": 1, "cuda": torch.cuda.device_count()}.get(found.type, 0)
    if (found.index or 0) >= known:
        raise BadInput(f"device: there is no {device!r}; this machine has {known} of this type")
    return found
