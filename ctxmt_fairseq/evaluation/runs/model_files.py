"""Finds the files of the model to evaluate: a checkpoint, an ensemble, or those in a training's folder."""

import os
from pathlib import Path
from typing import Any, List, Mapping

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.checkpoints.averaging import nearest_checkpoints, save_dir, write_average
from ctxmt_fairseq.evaluation.runs.ledger import Ledger
from ctxmt_fairseq.generation.loading import LoadedModels, model_file, token_files
from ctxmt_fairseq.text.text_lines import file_digest


def model_files(name: str, average: int, ledger: Ledger, output: str) -> str:
    """The checkpoints that a name means, joined by ``os.pathsep``. The name is that of checkpoints, of a
    folder that is a model, or of a training's folder, which has them itself or in its folder ``checkpoints``.
    Of a folder's checkpoints the best are averaged to ``output``; ``average`` 1: the best alone."""
    folder = Path(name)
    if not folder.is_dir() or model_file(folder).exists():
        if average > 1:
            raise BadInput(f"--average {average} needs a folder with checkpoints", name)
        return name
    folder = save_dir(folder)
    if average == 1:
        return str(folder / "checkpoint_best.pt")
    chosen = nearest_checkpoints(folder, average)
    made_from = [file_digest(checkpoint.path) for checkpoint in chosen]
    path = ledger.folder / output
    ledger.make(output, made_from, [output], lambda: write_average(chosen, path))
    return str(path)


def hashes(files: str) -> List[str]:
    """Hashes of the models' own files."""
    return [file_digest(model_file(Path(path))) for path in files.split(os.pathsep)]


def content_of(own: List[str], loaded: LoadedModels, given: Mapping[str, Any]) -> List[str]:
    """The models' ``own`` hashes, those of files in the data folder that turn text into tokens, and that of
    the options that were ``given`` to the models, if there are some."""
    return [*own, *map(file_digest, token_files(loaded)), *([fingerprint(given)] if given else [])]
