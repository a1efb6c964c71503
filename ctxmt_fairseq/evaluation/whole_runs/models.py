"""The files of the model that is evaluated: a checkpoint, an ensemble, or what a training has left."""

import os
from pathlib import Path
from typing import List

from ctxmt_fairseq.checkpoints import nearest_checkpoints, save_dir, write_average
from ctxmt_fairseq.corpora.data_folder import first_folder
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.ledger import Ledger, file_hash
from ctxmt_fairseq.generation.loading import LoadedModels

DICTIONARIES = ("ctxmt.json", "dict.*.txt", "*.model")  # of a data folder: what text becomes


def model_files(name: str, average: int, ledger: Ledger, output: str) -> str:
    """The checkpoints that a name stands for, joined by ``os.pathsep``.

    Args:
        name: checkpoints; or a training's folder, with checkpoints in it or in its folder ``checkpoints``.
        average: how many of a folder are averaged, those nearest the best; 1: the best alone.
        output: the average's name in the ledger's folder, where it is kept.
    """
    folder = Path(name)
    if not folder.is_dir():
        if average > 1:
            raise BadInput(f"--average {average} needs a folder with checkpoints", name)
        return name
    folder = save_dir(folder)
    if average == 1:
        return str(folder / "checkpoint_best.pt")
    chosen = nearest_checkpoints(folder, average)
    made_from = [file_hash(checkpoint.path) for checkpoint in chosen]
    path = ledger.folder / output
    ledger.make(output, made_from, [output], lambda: write_average(chosen, path))
    return str(path)


def content_of(files: str, loaded: LoadedModels) -> List[str]:
    """Hashes of the checkpoints, and of what the data folder makes of text."""
    paths = [Path(path) for path in files.split(os.pathsep)]
    folder = first_folder(loaded.task.cfg.data)
    paths += sorted(path for pattern in DICTIONARIES for path in folder.glob(pattern))
    return [file_hash(path) for path in paths]
