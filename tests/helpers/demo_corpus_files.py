"""Reads a demo corpus back from its files, with nothing from the generator or the package's own readers."""

import json
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

SPLITS = ("train", "valid", "test")
Line = Tuple[str, str, Dict[str, str]]  # English, French, metadata


class Read(NamedTuple):
    """An example as its file shows it; ``decides`` is the distance, negative for the following sentence."""

    source: Tuple[str, ...]
    current: int
    candidates: Tuple[Tuple[str, ...], ...]  # right first
    decides: int
    meta: Tuple[Tuple[str, str], ...]


def lines_of(path: Path) -> List[str]:
    text = path.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def read_opensubs(folder: Path, distance: int) -> List[Read]:
    current = {side: lines_of(folder / f"OpenSubs.current.{side}") for side in ("src", "trg")}
    context = {side: lines_of(folder / f"OpenSubs.c3.context.{side}") for side in ("src", "trg")}
    for size in (1, 2):  # the smaller contexts are the ends of the largest
        for side in ("src", "trg"):
            shorter = lines_of(folder / f"OpenSubs.c{size}.context.{side}")
            largest = context[side]
            expected = [largest[i] for i in range(len(largest)) if i % 3 >= 3 - size]
            assert shorter == expected
    examples = []
    for i in range(0, len(current["src"]), 2):
        windows = [
            {side: tuple(context[side][3 * j : 3 * j + 3]) + (current[side][j],) for side in ("src", "trg")}
            for j in (i, i + 1)
        ]
        assert windows[0]["src"] == windows[1]["src"]
        examples.append(Read(windows[0]["src"], 3, tuple(w["trg"] for w in windows), distance, ()))
    return examples


def read_bawden(path: Path) -> List[Read]:
    examples = []
    for block in json.loads(path.read_text("utf-8")).values():
        assert len(block["examples"]) == 2
        for example in block["examples"]:
            candidates = tuple(tuple(example["trg"][key]) for key in ("correct", "incorrect"))
            examples.append(Read(tuple(example["src"]), 1, candidates, 1, ()))
    return examples


def read_voita(path: Path) -> List[Read]:
    examples = []
    for example in json.loads(path.read_text("utf-8")):
        source = tuple(example["src"].split(" _eos "))
        candidates = [tuple(candidate.split(" _eos ")) for candidate in example["dst"]]
        right = candidates.pop(example["true_ind"])
        examples.append(Read(source, len(source) - 1, (right, *candidates), example["ctx_dist"], ()))
    return examples


def read_jsonl(path: Path, context: str) -> List[Read]:
    examples, ids = [], set()
    for line in lines_of(path):
        example = json.loads(line)
        required = {"id", "phenomenon", "distance", "context", "source", "current", "targets", "correct"}
        assert required <= set(example) <= required | {"meta"}
        assert example["context"] == context
        ids.add(example["id"])
        candidates = [tuple(candidate) for candidate in example["targets"]]
        right = candidates.pop(example["correct"])
        meta = tuple(sorted(example.get("meta", {}).items()))
        examples.append(
            Read(
                tuple(example["source"]),
                example["current"],
                (right, *candidates),
                example["distance"],
                meta,
            )
        )
    assert len(ids) == len(examples)
    return examples


def read_sets(folder: Path) -> Dict[str, Tuple[dict, List[Read]]]:
    sets = {}
    for entry in json.loads((folder / "contrastive/sets.json").read_text("utf-8")):
        path = folder / "contrastive" / entry["path"]
        if entry["format"] == "opensubs":
            examples = read_opensubs(path, *entry["distances"])
        elif entry["format"] == "bawden":
            examples = read_bawden(path)
        elif entry["format"] == "voita":
            examples = read_voita(path)
        else:
            examples = read_jsonl(path, entry["context"])
        sets[entry["name"]] = (entry, examples)
    return sets


def read_documents(folder: Path, split: str) -> List[List[Line]]:
    columns = [lines_of(folder / f"{split}.{suffix}") for suffix in ("en", "fr", "docids", "meta.jsonl")]
    assert len({len(column) for column in columns}) == 1
    documents: Dict[str, List[Line]] = {}
    previous = None
    for en, fr, name, meta in zip(*columns, strict=True):
        assert name == previous or name not in documents
        previous = name
        documents.setdefault(name, []).append((en, fr, json.loads(meta)))
    return list(documents.values())
