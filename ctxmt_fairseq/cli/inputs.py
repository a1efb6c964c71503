"""What a command line reads: every file that it names, but for those that it writes."""

import functools
import os
import re
from typing import Any, Iterator, List

# Options, and arguments, that say where to write.
OUTPUTS = frozenset(
    "corpus directory document_scores examples json lengths out output plot terms translations words".split()
)
# Those that are words, which a file of the same name has nothing to do with.
_WORDS = frozenset(
    """analysis by command comparison context_selection decoding decodings evaluation fields format kind lang
    mark metadata metadata_fields metric metrics name sentence source_lang step system tag target_lang title
    tokenize unit""".split()
)
# Those that name the files of a corpus by their common PREFIX; and these files.
_PREFIXES = frozenset("contexts corpora prefix test text train valid".split())
_OF_CORPUS = re.compile(r"[a-z]{2}|docids|current|meta\..*")
_OF_FOLDER = re.compile(r"ctxmt\.json|dict\..+\.txt|spm\..+|results\.json|train\.log")


def inputs(args: Any) -> Iterator[str]:
    """Files and folders that are there, and what is read of a folder.

    A value is a path, NAME=PATH, PREFIX=RATIO, or several with a comma or colon between.
    """
    languages = {getattr(args, name, None) for name in ("source_lang", "target_lang")}
    listed = functools.cache(_entries)
    for name, value in vars(args).items():
        if name in OUTPUTS | _WORDS:
            continue
        for text in _texts(value):
            before, _, after = text.rpartition("=")
            own = before if name == "corpora" and before else after
            for path in {text, own, *re.split("[,:]", own)} - {""}:
                if os.path.isdir(path):
                    yield from (
                        os.path.join(path, entry) for entry in listed(path) if _OF_FOLDER.fullmatch(entry)
                    )
                if os.path.exists(path):
                    yield path
                elif name in _PREFIXES:
                    folder, start = os.path.split(path)
                    for entry in listed(folder or "."):
                        suffix = entry[len(start) + 1 :]
                        if entry == f"{start}.{suffix}" and (
                            suffix in languages or _OF_CORPUS.fullmatch(suffix)
                        ):
                            yield os.path.join(folder, entry)


def _texts(value: Any) -> List[str]:
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in _texts(each)]
    return [os.fspath(value)] if isinstance(value, (str, os.PathLike)) else []


def _entries(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
