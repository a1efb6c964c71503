"""The text of the runs: held-out documents halved, the second stage's part, and the data folders."""

import itertools
import re
import shutil
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

import numpy as np

from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.text.json_files import load_json
from evidence import systems, training
from evidence.commands import ctxmt
from evidence.texts import Text
from evidence.workplace import Workplace

SMOKE_LINES, SMOKE_EXAMPLES, SMOKE_VOCABULARY = 1200, 12, 300
AMBIGUOUS = re.compile(r"(?i)\b(it|they)\b")
HALVES = ("even", "odd")
BLOCK = 100  # documents of one half that follow each other, because fragments that do may share sentences
# Parts of the training text for the second stage: what the source of a translated sentence has, how many
# sentences are before it in its document at least, and in which halves of the documents it stands.
PARTS: Dict[str, Tuple[Optional[re.Pattern], int, Tuple[str, ...]]] = {
    "context": (None, 1, HALVES),
    "pronouns": (AMBIGUOUS, 1, HALVES),
    "starts": (AMBIGUOUS, 0, HALVES),
    **{f"context-{half}": (None, 1, (half,)) for half in HALVES},
    **{f"pronouns-{half}": (AMBIGUOUS, 1, (half,)) for half in HALVES},
}
# And those that tell, word by word, where context matters (``find``, ``tag``): in which file.
FOUND = {
    "weighted": "found.words.jsonl",
    "selected": "found.words.jsonl",
    "halves-weighted": "halves.words.jsonl",
    "halves-selected": "halves.words.jsonl",
    "tagged": "found.tags.jsonl",
    "upsampled": "found.tags.jsonl",
}


def prepare(place: Workplace, text: Text, folder: str) -> None:
    """Write ``text/`` and a data folder, once: ``data``, ``data-PIECES`` with another vocabulary, or, with
    the vocabulary of ``data``, those of ``PARTS`` for the second stage.

    ``text/dev`` is what training validates on. Of a text without a split ``test`` it is the even documents of
    ``valid``, and ``text/test`` are the others. The text of ``PARTS`` are the training documents of several
    sentences, and which of these are translated.
    """
    home = place.home(text)
    if not (home / "text" / "ready").exists():
        _write_text(place, text, home / "text")
    part, _, kind = folder.partition("-")
    for name in (part, folder) if kind in (*PARTS, *FOUND) else (folder,):
        if not (home / name).exists():
            _preprocess(place, text, name)
    if kind in FOUND:
        found = home / "text" / FOUND[kind]
        beside = home / folder / f"train.en-{text.target}.{found.name.partition('.')[2]}"
        if not beside.exists():
            beside.hardlink_to(found)  # a copy could be cut short


def find(place: Workplace, text: Text, finders: systems.Finders) -> None:
    """Write the text of ``[halves-]weighted`` and ``[halves-]selected``, once:
    that of ``text/context``, with the bits that its context saves a model on every word. Of it ``weighted``
    translates the sentences of ``text/pronouns``, ``selected`` as many in which a word gains most.

    Args:
        finders: the parts of the text that are searched, all or its halves, and by which model.
    """
    folder = place.home(text) / "text"
    found, kind = ("found", "") if len(finders) == 1 else ("halves", "halves-")
    if (folder / found).exists():
        return
    chosen = np.zeros(len(_marks(folder / "context.current")), dtype=bool)
    with (folder / f"{found}.words.jsonl").open("w", encoding="utf-8") as all_words:
        for part, finder in finders.items():
            many = _marks(folder / f"{part.replace('context', 'pronouns')}.current").sum()
            words, selected = folder / f"{part}.words.jsonl", folder / f"{part}.selected"
            options = ("--select", many, "--select-output", selected, "--words", words)
            options += ("--against", "random", "--cpu")
            ctxmt("probe", training.checkpoint(place, *finder), folder / part, *options)
            all_words.write(words.read_text(encoding="utf-8"))
            chosen |= _marks(selected)
    shutil.copyfile(folder / "pronouns.current", folder / f"{kind}weighted.current")
    _write_marks(folder / f"{kind}selected.current", chosen)
    _copy_text(folder, text, "context", f"{kind}weighted", f"{kind}selected")
    (folder / found).touch()


def tag(place: Workplace, text: Text) -> None:
    """Write the text of ``tagged`` and ``upsampled``, once: ``text/pronouns`` and ``text/context``, with the
    tags of their words. Of a text without these parts both are ``text/train``."""
    folder = place.home(text) / "text"
    if not (folder / "found.tags.jsonl").exists():
        languages = ("--source-lang", "en", "--target-lang", text.target)
        whole = "context" if text.has_parts else "train"
        for part, current in (("tagged", "pronouns"), ("upsampled", "context")):
            if text.has_parts:
                shutil.copyfile(folder / f"{current}.current", folder / f"{part}.current")
            _copy_text(folder, text, whole, part)
        ctxmt("corpus", "tag", folder / whole, *languages, "--output", folder / "found.tags.jsonl")


def embed(place: Workplace, text: Text, folder: str) -> None:
    """Vectors of a data folder's sentences in its context store, once."""
    home = place.home(text)
    part = folder.partition("-")[2]
    splits = ("--train", home / "text" / (part or "train"), "--valid", home / "text" / "dev")
    ctxmt("embed", home / folder, *splits, "--fields", "none", "--cpu")


def statistics(place: Workplace, text: Text, folder: str) -> dict:
    """What ``ctxmt preprocess`` counted in this data folder."""
    path = place.home(text) / folder / "ctxmt.json"
    return load_json(path)["splits"]


def _preprocess(place: Workplace, text: Text, name: str) -> None:
    home = place.home(text)
    part, _, kind = name.partition("-")
    vocabulary, train = ("--like", home / part), home / "text" / kind
    if kind not in (*PARTS, *FOUND):
        size = SMOKE_VOCABULARY if place.smoke else kind or systems.VOCABULARY
        vocabulary, train = ("--joint", "--vocab-size", size, "--spm-type", "bpe"), home / "text" / "train"
    dev = ("--valid", home / "text" / "dev", "--source-lang", "en", "--target-lang", text.target)
    ctxmt("preprocess", "--train", train, *dev, *vocabulary, "--out", home / name)


def _copy_text(folder: Path, text: Text, whole: str, *parts: str) -> None:
    for part, kind in itertools.product(parts, text.kinds):
        shutil.copyfile(folder / f"{whole}.{kind}", folder / f"{part}.{kind}")


def _write_text(place: Workplace, text: Text, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    splits = {split: _documents(place, text, split) for split in text.splits}
    train, valid = splits["train"], splits["valid"]
    if text.has_parts:
        dev, test = valid[::2], valid[1::2]
        _write_context(folder, text, train)
    else:
        dev, test = valid, splits["test"]
    for name, documents in (("train", train), ("dev", dev), ("test", test)):
        _write(folder / name, text, itertools.chain(*documents))
    if place.smoke and text.suite:
        _cut_suite(place, text)
    (folder / "ready").touch()


def _documents(place: Workplace, text: Text, split: str) -> List[List[Pair]]:
    pairs = TextFiles(str(place.corpora / text.name / split), "en", text.target).pairs()
    if place.smoke:
        pairs = itertools.islice(pairs, SMOKE_LINES if split == "train" else 60)
    return [list(document) for _, document in itertools.groupby(pairs, key=lambda pair: pair.document)]


def _write(prefix: Path, text: Text, pairs: Iterable[Pair]) -> None:
    columns = zip(*((pair.source, pair.target, pair.document) for pair in pairs), strict=True)
    for column, kind in zip(columns, text.kinds, strict=True):
        content = "".join(f"{line}\n" for line in column)
        prefix.with_suffix(f".{kind}").write_text(content, encoding="utf-8")


def _write_context(folder: Path, text: Text, train: List[List[Pair]]) -> None:
    several = [document for document in train if len(document) > 1]
    for part, (wanted, before, halves) in PARTS.items():
        _write(folder / part, text, itertools.chain(*several))
        marks = [
            HALVES[number // BLOCK % 2] in halves
            and place >= before
            and (wanted is None or bool(wanted.search(pair.source)))
            for number, document in enumerate(several)
            for place, pair in enumerate(document)
        ]
        _write_marks(folder / f"{part}.current", np.array(marks))


def _marks(path: Path) -> np.ndarray:
    """(lines,) bool: which lines of a text are translated."""
    return np.array(path.read_text(encoding="utf-8").split()) == "1"


def _write_marks(path: Path, marks: np.ndarray) -> None:
    path.write_text("".join(f"{int(mark)}\n" for mark in marks), encoding="utf-8")


def _cut_suite(place: Workplace, text: Text) -> None:
    """The first examples: two lines of each in the current files, 2 N in those of N context sentences."""
    suite = place.suite(text)
    suite.mkdir(exist_ok=True)
    for path in (place.corpora / str(text.suite)).glob("OpenSubs.*"):
        part = path.name.split(".")[1]
        sentences = 1 if part == "current" else int(part[1:])
        lines = path.read_text(encoding="utf-8").split("\n")[: 2 * sentences * SMOKE_EXAMPLES]
        (suite / path.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
