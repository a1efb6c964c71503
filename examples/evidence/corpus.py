"""The text of the runs: held-out documents halved, the second stage's part, and the data folders."""

import json
import re
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from evidence import systems
from evidence.commands import ctxmt
from evidence.texts import Text
from evidence.workplace import Workplace

SMOKE_LINES, SMOKE_EXAMPLES, SMOKE_VOCABULARY = 1200, 12, 300
AMBIGUOUS = re.compile(r"(?i)\b(it|they)\b")
# Parts of the training text for the second stage, by what the source of a translated sentence has.
PARTS: Dict[str, Optional[re.Pattern]] = {"context": None, "pronouns": AMBIGUOUS}
Lines = List[Tuple[str, ...]]  # source, target, document id


def prepare(place: Workplace, text: Text, folder: str) -> None:
    """Write ``text/`` and a data folder, once: ``data``, ``data-PIECES`` with another vocabulary, or, with
    the vocabulary of ``data``, the second stage's ``data-context`` and ``data-pronouns``.

    ``text/dev`` is what training validates on. Of a text without a split ``test`` it is the even documents of
    ``valid``, and ``text/test`` are the others. ``text/context`` and ``text/pronouns`` are the training
    documents of several sentences; translated are all but the first of a document, and of these only those
    with an ambiguous pronoun.
    """
    home = place.home(text)
    if not (home / "text" / "ready").exists():
        _write_text(place, text, home / "text")
    part, _, kind = folder.partition("-")
    for name in (part, folder) if kind in PARTS else (folder,):
        if not (home / name).exists():
            _preprocess(place, text, name)


def embed(place: Workplace, text: Text, folder: str) -> None:
    """Vectors of a data folder's sentences in its context store, once."""
    home = place.home(text)
    part = folder.partition("-")[2]
    splits = ("--train", home / "text" / (part or "train"), "--valid", home / "text" / "dev")
    ctxmt("embed", home / folder, *splits, "--fields", "none", "--cpu")


def statistics(place: Workplace, text: Text, folder: str) -> dict:
    """What ``ctxmt preprocess`` counted in this data folder."""
    path = place.home(text) / folder / "ctxmt.json"
    return json.loads(path.read_text(encoding="utf-8"))["splits"]


def _preprocess(place: Workplace, text: Text, name: str) -> None:
    home = place.home(text)
    part, _, kind = name.partition("-")
    vocabulary = ("--like", home / part)
    if kind not in PARTS:
        size = SMOKE_VOCABULARY if place.smoke else kind or systems.VOCABULARY
        vocabulary = ("--joint", "--vocab-size", size, "--spm-type", "bpe")
    train = ("--train", home / "text" / (kind if kind in PARTS else "train"))
    dev = ("--valid", home / "text" / "dev", "--source-lang", "en", "--target-lang", text.target)
    ctxmt("preprocess", *train, *dev, *vocabulary, "--out", home / name)


def _write_text(place: Workplace, text: Text, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    splits = {split: _read(place, text, split) for split in text.splits}
    train, valid = splits["train"], splits["valid"]
    if "test" in splits:
        dev, test = valid, splits["test"]
    else:
        dev, test = ([line for number, line in _numbered(valid) if number % 2 == odd] for odd in (0, 1))
        _write_context(folder, text, train)
    for name, lines in (("train", train), ("dev", dev), ("test", test)):
        _write(folder / name, text, lines)
    if place.smoke and text.suite:
        _cut_suite(place, text)
    (folder / "ready").touch()


def _read(place: Workplace, text: Text, split: str) -> Lines:
    prefix = place.corpora / text.name / split
    columns = [
        prefix.with_suffix(f".{kind}").read_text(encoding="utf-8").split("\n")[:-1] for kind in text.kinds
    ]
    lines = list(zip(*columns, strict=True))
    if place.smoke:
        lines = lines[: SMOKE_LINES if split == "train" else 60]
    return lines


def _write(prefix: Path, text: Text, lines: Lines) -> None:
    for column, kind in enumerate(text.kinds):
        content = "".join(f"{line[column]}\n" for line in lines)
        prefix.with_suffix(f".{kind}").write_text(content, encoding="utf-8")


def _numbered(lines: Lines) -> List[Tuple[int, Tuple[str, ...]]]:
    """Each line with the number of its document, a run of equal ids."""
    numbered, number = [], -1
    for index, line in enumerate(lines):
        number += index == 0 or line[2] != lines[index - 1][2]
        numbered.append((number, line))
    return numbered


def _write_context(folder: Path, text: Text, train: Lines) -> None:
    documents: Dict[int, Lines] = {}
    for number, line in _numbered(train):
        documents.setdefault(number, []).append(line)
    several = [document for document in documents.values() if len(document) > 1]
    lines = [(place, line) for document in several for place, line in enumerate(document)]
    for part, wanted in PARTS.items():
        _write(folder / part, text, [line for _, line in lines])
        marks = (place > 0 and (wanted is None or bool(wanted.search(line[0]))) for place, line in lines)
        (folder / f"{part}.current").write_text("".join(f"{int(mark)}\n" for mark in marks), encoding="utf-8")


def _cut_suite(place: Workplace, text: Text) -> None:
    """The first examples: two lines of each in the current files, 2 N in those of N context sentences."""
    suite = place.suite(text)
    suite.mkdir(exist_ok=True)
    for path in (place.corpora / str(text.suite)).glob("OpenSubs.*"):
        part = path.name.split(".")[1]
        sentences = 1 if part == "current" else int(part[1:])
        lines = path.read_text(encoding="utf-8").split("\n")[: 2 * sentences * SMOKE_EXAMPLES]
        (suite / path.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
