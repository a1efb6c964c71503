"""Checkpoints to models and their task."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import torch
from fairseq import checkpoint_utils, utils

from ctxmt_fairseq.corpora.subwords import PathLike, Subwords
from ctxmt_fairseq.corpora.unknown_subwords import count_unknown, warn_of_unknown
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.fairseq_fixes import peek
from ctxmt_fairseq.tasks.context_options import saved_options
from ctxmt_fairseq.tasks.context_task import ContextTask
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask


@dataclass
class LoadedModels:
    """An ensemble ready for evaluation.

    Attributes:
        models: in evaluation mode, on ``device``.
        task: with the context options of the checkpoints.
        source_subwords, target_subwords: text <-> subwords, with the text steps of the data folder.
    """

    models: List[torch.nn.Module]
    task: Any
    device: torch.device
    source_subwords: Subwords
    target_subwords: Subwords

    @property
    def limits(self) -> Tuple[int, int]:
        """Source and target positions that every model has."""
        return utils.resolve_max_positions(
            self.task.max_positions(), *[model.max_positions() for model in self.models]
        )

    def encode_source(self, text: str) -> torch.Tensor:
        """A source sentence as int64 tokens ending with ``</s>``: (S,)."""
        return _encode(self.source_subwords, self.task.source_dictionary, text)

    def encode_target(self, text: str) -> torch.Tensor:
        """A target sentence as int64 tokens ending with ``</s>``: (T,)."""
        return _encode(self.target_subwords, self.task.target_dictionary, text)

    def warn_of_unknown(
        self, name: PathLike, sources: Iterable[str] = (), targets: Iterable[str] = ()
    ) -> None:
        """Log a warning for each side of a text of which the models' vocabulary lacks more than 5 %."""
        for side, texts in (("source", sources), ("target", targets)):
            subwords, dictionary = getattr(self, f"{side}_subwords"), getattr(self.task, f"{side}_dictionary")
            counts = count_unknown(texts, subwords, dictionary)
            warn_of_unknown(f"{name}, {side}", *counts, subwords, dictionary)

    @property
    def reads_metadata(self) -> bool:
        """Whether metadata can be context."""
        return isinstance(self.task, MetadataContextTask)

    def contexts_of(self, sentences: List[str], metadata: Sequence[Mapping[str, str]]) -> Any:
        """What the models read beside the tokens of n source sentences; None for tasks without metadata."""
        return self.task.contexts_of(sentences, metadata, str(self.device))

    def decode_target(self, tokens: torch.Tensor) -> str:
        """Text of a target sentence (T,)."""
        return self.target_subwords.decode(self.task.target_dictionary.string(tokens.cpu()))


def _encode(subwords: Subwords, dictionary: Any, text: str) -> torch.Tensor:
    return dictionary.encode_line(subwords.encode(text), add_if_not_exist=False, append_eos=True).long()


def load_models(
    paths: str, data: Optional[str] = None, options: Optional[Dict[str, Any]] = None, cpu: bool = False
) -> LoadedModels:
    """Load one checkpoint, or several joined by ``:``, as an ensemble.

    Args:
        data: the data folder with dictionaries and subword models; default: the one of the training.
        options: task options that override the checkpoint's; None entries do not.
        cpu: stay on the CPU even where a GPU is.

    Raises:
        BadInput: no such checkpoint, not one of this plugin's tasks, or no data folder.
    """
    files = [Path(path) for path in paths.split(os.pathsep)]
    for file in files:
        peek(file)
    first = peek(files[0])
    # The first checkpoint's own options are in its task state too; here they would hide the others'.
    overrides: Dict[str, Any] = {**dict.fromkeys(saved_options(first.get("task_state"))), **(options or {})}
    if data is not None:
        overrides["data"] = data
    saved_data = _saved_data(first)
    folder = Path((data or saved_data).split(os.pathsep)[0])
    if not folder.is_dir():
        raise BadInput("no such data folder; --data names the one with dictionaries and subwords", folder)
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(file) for file in files], arg_overrides=overrides
    )
    if not isinstance(task, ContextTask):
        raise BadInput(
            "expected a checkpoint trained with one of the plugin's tasks (--task document_window)", files[0]
        )
    for name, value in (options or {}).items():
        if value is not None and not hasattr(task.cfg, name):
            raise BadInput(f"--{name.replace('_', '-')}: the task of {files[0]} has no such option")
    device = torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")
    for model in models:
        model.eval().to(device)
    return LoadedModels(
        models,
        task,
        device,
        Subwords.load(folder, task.cfg.source_lang),
        Subwords.load(folder, task.cfg.target_lang),
    )


def _saved_data(state: Any) -> str:
    cfg = state.get("cfg") or {}
    return str((cfg.get("task") or {}).get("data", ""))
