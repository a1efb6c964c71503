"""What systems are called in tables and pictures."""

import os
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple

from ctxmt_fairseq.errors import BadInput

USUAL = ("train.log", "results.json", "evaluation")  # in a training's folder, whose name is the system's


def _unknown(_: str) -> str:
    return ""


def named_paths(arguments: Sequence[str], called: Callable[[str], str] = _unknown) -> List[Tuple[str, str]]:
    """Names and paths of systems, given as PATH or NAME=PATH; paths of one name are runs of one system.

    Paths without a name are called as ``short_names`` of them does, but not after what every training's
    folder holds.

    Args:
        called: what a path without a name is called; "": nothing.
    """
    parts = [(name or called(path), path) for name, path in map(_split, arguments)]
    unnamed = [_training(path) for name, path in parts if not name]
    names = iter(short_names(unnamed) if len(unnamed) > 1 else [Path(path).name for path in unnamed])
    return [(name or next(names), path) for name, path in parts]


def distinct_runs(arguments: Sequence[str], called: Callable[[str], str] = _unknown) -> List[Tuple[str, str]]:
    """``named_paths``; raises BadInput where one is there twice, which would count as two runs."""
    named = named_paths(arguments, called)
    found = set()
    for name, path in named:
        if (name, os.path.realpath(path)) in found:
            raise BadInput(f"give each run of {name} once", path)
        found.add((name, os.path.realpath(path)))
    return named


def runs_by_system(arguments: Sequence[str]) -> Dict[str, List[str]]:
    """``distinct_runs`` as system -> paths of its runs."""
    runs: Dict[str, List[str]] = {}
    for name, path in distinct_runs(arguments):
        runs.setdefault(name, []).append(path)
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
