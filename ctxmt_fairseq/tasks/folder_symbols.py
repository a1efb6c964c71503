"""Whether a checkpoint, and each of several data folders, has the symbols of the task's dictionaries."""

import os
from pathlib import Path
from typing import Any, Dict

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.known_symbols import KnownSymbols
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, first_folder, load_dictionary, read_description
from ctxmt_fairseq.text.symbols import add_symbols


def known_symbols(task: Any) -> Dict[str, KnownSymbols]:
    """What the data folder says of its dictionaries, "source" and "target"."""
    folder = first_folder(task.cfg.data)
    described = (folder / DESCRIPTION).is_file()
    given = read_description(folder).get("given_symbols", {}) if described else {}
    sides = (
        ("source", task.cfg.source_lang, task.src_dict, task.loaded_symbols[0]),
        ("target", task.cfg.target_lang, task.tgt_dict, task.loaded_symbols[1]),
    )
    return {
        side: KnownSymbols(
            dictionary.symbols, given.get(language) if described else loaded, folder / f"dict.{language}.txt"
        )
        for side, language, dictionary, loaded in sides
    }


def check_symbols(task: Any, digests: Any) -> None:
    """Refuse a checkpoint of other symbols, if its task state has their digests, by side."""
    for side, known in known_symbols(task).items():
        digest = digests.get(side) if isinstance(digests, dict) else None
        if digest is not None:
            known.beyond(len(known.symbols), digest, ours=True)


def check_shards(task: Any) -> None:
    """Refuse data folders of which one has another dictionary than the first, or none: now, and not in the
    epoch that reads it."""
    for folder in task.cfg.data.split(os.pathsep)[1:]:
        for known in known_symbols(task).values():
            path = Path(folder) / known.file.name
            dictionary = load_dictionary(path)
            add_symbols(dictionary)
            if dictionary.symbols != known.symbols:
                raise BadInput(f"expected the symbols of {known.file}, found others", path)
