"""What a command line reads: every file that it names, but for those that it writes."""

import os
import re
from typing import Any, Iterator, List

# Options, and arguments, that say where to write.
OUTPUTS = frozenset(
    """corpus directory document_scores examples held_out json lengths out output plot sample terms
    translations words""".split()
)
# Of the files of a corpus, which a command line names by their common PREFIX.
_OF_CORPUS = re.compile(r"[a-z]{2}|docids|current|meta\..*")


def inputs(args: Any) -> Iterator[str]:
    """Files and folders that are there; PATH, NAME=PATH, PREFIX=RATIO, or several with a comma between."""
    languages = {getattr(args, name, None) for name in ("source_lang", "target_lang")}
    for name, value in vars(args).items():
        if name in OUTPUTS:
            continue
        for text in _texts(value):
            for path in {text, *re.split("[=,]", text)} - {""}:
                if os.path.exists(path):
                    yield path
                else:
                    yield from _corpus(path, languages)


def _texts(value: Any) -> List[str]:
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in _texts(each)]
    return [os.fspath(value)] if isinstance(value, (str, os.PathLike)) else []


def _corpus(prefix: str, languages: Any) -> Iterator[str]:
    folder, name = os.path.split(prefix)
    try:
        entries = os.listdir(folder or ".") if name else []
    except OSError:
        return
    for entry in entries:
        suffix = entry[len(name) + 1 :]
        if entry == f"{name}.{suffix}" and (suffix in languages or _OF_CORPUS.fullmatch(suffix)):
            yield os.path.join(folder, entry)
