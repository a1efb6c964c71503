"""What systems are called in tables and pictures."""

import os
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from ctxmt_fairseq.errors import BadInput

USUAL = ("train.log", "results.json", "evaluation")  # in a training's folder, whose name is the system's


def named_paths(arguments: Sequence[str]) -> List[Tuple[str, str]]:
    """Names and paths of systems, given as PATH or NAME=PATH; paths of one name are runs of one system.

    Paths without a name are called as ``short_names`` of them does, but not after what every training's
    folder holds.
    """
    parts = [_split(argument) for argument in arguments]
    unnamed = [_training(path) for name, path in parts if not name]
    names = iter(short_names(unnamed) if len(unnamed) > 1 else [Path(path).name for path in unnamed])
    return [(name or next(names), path) for name, path in parts]


def runs_by_system(arguments: Sequence[str]) -> Dict[str, List[str]]:
    """``named_paths`` as system -> paths of its runs.

    Raises:
        BadInput: a path is there twice, which would count as two runs that are alike.
    """
    runs: Dict[str, List[str]] = {}
    for name, path in named_paths(arguments):
        if os.path.realpath(path) in map(os.path.realpath, runs.setdefault(name, [])):
            raise BadInput(f"expected each run of {name} once", path)
        runs[name].append(path)
    return runs


def _split(argument: str) -> Tuple[str, str]:
    """Name and path: at the last "=" before something that is there (names may hold one), or the first."""
    if Path(argument).exists() or "=" not in argument:
        return "", argument
    places = [place for place, character in enumerate(argument) if character == "="]
    there = [place for place in places if argument[place + 1 :] and Path(argument[place + 1 :]).exists()]
    place = there[-1] if there else places[0]
    return argument[:place], argument[place + 1 :]


def _training(path: str) -> str:
    parts = Path(os.path.abspath(path)).parts
    while len(parts) > 2 and parts[-1] in USUAL:
        parts = parts[:-1]
    return str(Path(*parts))


def short_names(paths: Sequence[str]) -> List[str]:
    """Names of models, without the folders at the beginning and the end that all of them share."""
    parts = [Path(path).parts for path in paths]
    while min(map(len, parts)) > 1 and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    while min(map(len, parts)) > 1 and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    return [str(Path(*each)) for each in parts]
