"""The names of systems in tables and pictures."""

import os
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput

USUAL = ("train.log", "results.json", "evaluation")  # the same in the folder of every training


Called = Callable[[str], str]


def named_paths(arguments: Sequence[str], called: Called = lambda path: "") -> List[Tuple[str, str]]:
    """Names and paths of systems, given as PATH or NAME=PATH; paths of one name are runs of one system. Paths
    without a name get what they are ``called``, or else one from ``short_names``; what is ``USUAL`` does not
    become part of it."""
    parts = [(name or called(path), path) for name, path in map(_split, arguments)]
    unnamed = [_training(path) for name, path in parts if not name]
    names = iter(short_names(unnamed) if len({*unnamed}) > 1 else [Path(path).name for path in unnamed])
    return [(name or next(names), path) for name, path in parts]


def distinct_runs(arguments: Sequence[str], called: Called = lambda path: "") -> List[Tuple[str, str]]:
    """``named_paths``; a run that is there twice is refused, because it would count as two."""
    named = named_paths(arguments, called)
    found = set()
    for name, path in named:
        if (name, os.path.realpath(path)) in found:
            raise BadInput(f"give each run of {name} once", path)
        found.add((name, os.path.realpath(path)))
    return named


def files_of(runs: Sequence[Tuple[str, str]]) -> Dict[str, str]:
    """The file of each system that has one run."""
    names = [name for name, _ in runs]
    return {name: path for name, path in runs if names.count(name) == 1}


def _split(argument: str) -> Tuple[str, str]:
    """Name and path, split at the last "=" before a path that exists, or else at the first."""
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
    """Names for paths: without the folders at the beginning and the end, and the endings, that they share."""
    parts = [Path(path).parts for path in paths]
    while min(map(len, parts)) > 1 and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    while min(map(len, parts)) > 1 and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    names = [Path(*each) for each in parts]
    while names[0].suffix and len({name.suffix for name in names}) == 1 and len(set(names)) > 1:
        names = [name.with_suffix("") for name in names]
    return list(map(str, names))
