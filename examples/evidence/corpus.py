"""The text of the runs: held-out documents halved, the second stage's part, and the data folders."""

import json
import re
from pathlib import Path
from typing import List, Tuple

from evidence import systems
from evidence.commands import ctxmt
from evidence.workplace import Workplace

SMOKE_LINES, SMOKE_EXAMPLES, SMOKE_VOCABULARY = 1200, 12, 300
KINDS = ("en", "fr", "docids")
SECOND = ("context", "pronouns")  # parts of the training text
AMBIGUOUS = re.compile(r"(?i)\b(it|they)\b")
Lines = List[Tuple[str, ...]]  # source, target, document id


def prepare(place: Workplace, folder: str) -> None:
    """Write ``text/`` and a data folder, once: ``data``, ``data-PIECES`` with another vocabulary, or, with
    the vocabulary and the folder of the first stage, the second's ``data-context`` and ``data-pronouns``.

    ``text/dev`` are the even documents of the held-out text, which training validates on; ``text/test`` the
    others. ``text/context`` and ``text/pronouns`` are the training documents of several sentences; translated
    are all but the first of a document, and of these only those with an ambiguous pronoun.
    """
    text = place.work / "text"
    if not (text / "ready").exists():
        text.mkdir(parents=True, exist_ok=True)
        train, valid = (_read(place, split) for split in ("train", "valid"))
        _write(text / "train", train)
        _write(text / "dev", [line for number, line in _numbered(valid) if number % 2 == 0])
        _write(text / "test", [line for number, line in _numbered(valid) if number % 2])
        _write_context(text, train)
        if place.smoke:
            _cut_suite(place)
        (text / "ready").touch()
    dev = ("--valid", text / "dev", "--source-lang", "en", "--target-lang", "fr")
    part, _, kind = folder.partition("-")
    for name in (part, folder) if kind in SECOND else (folder,):
        if (place.work / name).exists():
            continue
        if name == folder and kind in SECOND:
            train, vocabulary = kind, ("--like", place.work / part)
        else:
            size = SMOKE_VOCABULARY if place.smoke else name.partition("-")[2] or systems.VOCABULARY
            train, vocabulary = "train", ("--joint", "--vocab-size", size, "--spm-type", "bpe")
        ctxmt("preprocess", "--train", text / train, *dev, *vocabulary, "--out", place.work / name)


def statistics(place: Workplace, folder: str) -> dict:
    """What ``ctxmt preprocess`` counted in this data folder."""
    return json.loads((place.work / folder / "ctxmt.json").read_text(encoding="utf-8"))["splits"]


def _read(place: Workplace, split: str) -> Lines:
    prefix = place.corpora / place.TEXT / split
    columns = [prefix.with_suffix(f".{kind}").read_text(encoding="utf-8").split("\n")[:-1] for kind in KINDS]
    lines = list(zip(*columns, strict=True))
    if place.smoke:
        lines = lines[: SMOKE_LINES if split == "train" else 60]
    return lines


def _write(prefix: Path, lines: Lines) -> None:
    for column, kind in enumerate(KINDS):
        content = "".join(f"{line[column]}\n" for line in lines)
        prefix.with_suffix(f".{kind}").write_text(content, encoding="utf-8")


def _numbered(lines: Lines) -> List[Tuple[int, Tuple[str, ...]]]:
    """Each line with the number of its document, a run of equal ids."""
    numbered, number = [], -1
    for index, line in enumerate(lines):
        number += index == 0 or line[2] != lines[index - 1][2]
        numbered.append((number, line))
    return numbered


def _write_context(text: Path, train: Lines) -> None:
    documents = {}
    for number, line in _numbered(train):
        documents.setdefault(number, []).append(line)
    several = [document for document in documents.values() if len(document) > 1]
    lines = [(place, line) for document in several for place, line in enumerate(document)]
    for kind, wanted in zip(SECOND, (re.compile(""), AMBIGUOUS), strict=True):
        _write(text / kind, [line for _, line in lines])
        current = "".join(f"{int(place > 0 and bool(wanted.search(line[0])))}\n" for place, line in lines)
        (text / f"{kind}.current").write_text(current, encoding="utf-8")


def _cut_suite(place: Workplace) -> None:
    """The first examples: two lines of each in the current files, 2 N in those of N context sentences."""
    place.suite.mkdir(exist_ok=True)
    for path in (place.corpora / place.SUITE).glob("OpenSubs.*"):
        part = path.name.split(".")[1]
        sentences = 1 if part == "current" else int(part[1:])
        lines = path.read_text(encoding="utf-8").split("\n")[: 2 * sentences * SMOKE_EXAMPLES]
        (place.suite / path.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
