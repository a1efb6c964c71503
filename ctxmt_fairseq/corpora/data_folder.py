"""The binarised data folder: its description ``ctxmt.json``, and how a new one is made."""

import json
import os
from pathlib import Path
from typing import Any, ContextManager, Dict, Iterable, Mapping, Optional, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import check_nothing_kept_within
from ctxmt_fairseq.base.folders import folder_output
from ctxmt_fairseq.data.binarised import checked_dictionary
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike, file_digest

DESCRIPTION = "ctxmt.json"
VERSION = 1
_ENTRIES = {
    **{"source_lang": str, "target_lang": str, "splits": dict, "dictionaries": dict},
    **{"joined_dictionary": bool, "average_source_length": int, "text_steps": list},
    **{"given_symbols": dict, "language_tokens": dict, "card": dict, "cut_by": dict},
}
_MAKES_TOKENS = {  # entries with digests of files
    "dictionaries": "its lines number the symbols of the binarised text",
    "cut_by": "it cuts text otherwise",
}
_REQUIRED = ("source_lang", "target_lang", "splits")


def first_folder(data: object) -> Path:
    """The first of the folders that fairseq's ``data`` names, joined by ``:``: it has the dictionaries."""
    return Path(str(data or "").split(os.pathsep)[0])


def read_description(folder: PathLike) -> Dict[str, Any]:
    """Read the description that ``ctxmt preprocess`` has written: languages, subwords, counts, .."""
    path = Path(folder) / DESCRIPTION
    if not path.is_file():
        raise BadInput(f"is no data folder of ctxmt preprocess: found no {DESCRIPTION}", folder)
    place = Place(path)
    description = load_json(path)
    version = get(place, description, "version", int)
    if version != VERSION:
        raise BadInput(f"expected version {VERSION}, found {version!r}", path)
    for key, kind in _ENTRIES.items():
        if key in description or key in _REQUIRED:
            get(place, description, key, kind)
    for key, kind in (("given_symbols", int), ("language_tokens", str)):
        for language in description.get(key, {}):
            get(Place(path, part=key), description[key], language, kind)
    for key, kind in (("license", str), ("sentencepiece", dict)):
        get(place, {key: None, **description}, key, kind, null=True)
    for name, split in description["splits"].items():
        inner = Place(path, part=f"split {name!r}")
        get(inner, split, "sentences", int)
        for key in ("source_digest", "metadata_digest"):
            if key in split:
                get(inner, split, key, str)
    return description


def description_of(folder: PathLike) -> Dict[str, Any]:
    """The description of a data folder; {}: another tool has made it."""
    return read_description(folder) if (Path(folder) / DESCRIPTION).is_file() else {}


def entry(folder: PathLike, key: str) -> Any:
    """Read an entry of the description that not every folder has."""
    return get(Place(Path(folder) / DESCRIPTION), read_description(folder), key, _ENTRIES[key])


def languages_of(folder: PathLike) -> Optional[Tuple[str, str]]:
    """The source and the target language of a data folder of ours; None: it is another tool's.

    fairseq guesses them from the names of files, and takes ``zh`` for ``zh-Hans``.
    """
    description = description_of(folder)
    return (description["source_lang"], description["target_lang"]) if description else None


def language_token(folder: PathLike, language: str) -> str:
    """The symbol that stands before each sentence of a language that has words; "": there is none.

    Models of many languages are told by it which one they read, and which one they write.
    """
    return description_of(folder).get("language_tokens", {}).get(language, "")


def load_dictionary(path: PathLike) -> Any:
    """Load ``dict.LANG.txt`` of a data folder, whose text must be binarised with it."""
    dictionary = checked_dictionary(path)
    check_unchanged(Path(path).parent, Path(path).name)
    return dictionary


def file_digests(folder: PathLike, names: Iterable[Optional[str]]) -> Dict[str, str]:
    """The digests of files of a data folder, as its description has them; None: there is no file."""
    return {name: file_digest(Path(folder) / name) for name in names if name}


def check_unchanged(folder: PathLike, *names: str) -> None:
    """Refuse files that make other tokens of text than when the data folder was made, as far as it tells."""
    description = description_of(folder)
    for key, why in _MAKES_TOKENS.items():
        known = description.get(key, {})
        for name, digest in file_digests(folder, filter(known.__contains__, names)).items():
            if digest != known[name]:
                raise BadInput(f"changed since ctxmt preprocess wrote it: {why}", Path(folder) / name)


def split_digest(folder: PathLike, split: str, what: str = "source") -> Optional[str]:
    """The digest of a split's source text, or of its metadata; None: the folder does not tell."""
    return description_of(folder).get("splits", {}).get(split, {}).get(f"{what}_digest")


def digest_line(sentence: str) -> bytes:
    """What a source sentence, as output would have it (``TextSteps.surface``), adds to its split's digest,
    which is the SHA-256 of all of them."""
    return f"{sentence}\n".encode()


def metadata_line(metadata: Mapping[str, str]) -> bytes:
    """What a sentence's metadata adds to that of its split's metadata."""
    return digest_line(json.dumps(metadata, sort_keys=True))


def write_description(folder: PathLike, description: Dict[str, Any]) -> None:
    """Write ``ctxmt.json``, and add the version to it."""
    text = json.dumps({"version": VERSION, **description}, indent=2, ensure_ascii=False)
    (Path(folder) / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def new_folder(path: PathLike, overwrite: bool) -> ContextManager[Path]:
    """Make a data folder to be filled, which is at ``path`` at the end, or nowhere on an error.

    A data folder that is there is replaced if ``overwrite``, and if the command does not read it.
    """

    def check(folder: Path) -> None:
        if not (folder / DESCRIPTION).is_file():
            raise BadInput("exists and is no data folder of ctxmt preprocess; choose another name", path)
        if not overwrite:
            raise BadInput("exists; --overwrite replaces it", path)
        check_nothing_kept_within(path)

    if os.pathsep in str(path):
        raise BadInput(f"{os.pathsep} joins several folders: choose a name without it", path)
    return folder_output(path, check)
