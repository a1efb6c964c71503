"""Writes contrastive sets as text, in the layouts of the public suites, and as ctxmt JSON lines."""

import json
from typing import Dict, Iterator, List, Tuple

from ctxmt_fairseq.corpora.demo_corpus.contrastive import ContrastiveSet
from ctxmt_fairseq.corpora.demo_corpus.twins import Example

File = Tuple[str, str]  # path below the contrastive folder, text


def as_files(contrastive: ContrastiveSet) -> Iterator[File]:
    """Write a set's files in its format."""
    if contrastive.plan.format == "opensubs":
        yield from _opensubs(contrastive)
    else:
        write = {"bawden": _bawden, "voita": _voita, "jsonl": _json_lines}[contrastive.plan.format]
        yield contrastive.plan.path, write(contrastive)


def index_entry(contrastive: ContrastiveSet) -> Dict[str, object]:
    """The set's object in ``sets.json``."""
    keys = ("name", "path", "format", "phenomenon", "context")
    return {
        **{key: getattr(contrastive.plan, key) for key in keys},
        "distances": sorted({example.distance for example in contrastive.examples}),
        "examples": len(contrastive.examples),
        "description": contrastive.plan.description,
    }


def _right_then_wrong(example: Example) -> List[List[str]]:
    return [example.targets[example.correct], example.targets[1 - example.correct]]


def _opensubs(contrastive: ContrastiveSet) -> Iterator[File]:
    """Lopes et al. (2020): two lines per example, right then wrong, with N lines of context each."""
    most = min(example.current for example in contrastive.examples)
    lines: Dict[str, List[str]] = {}
    for example in contrastive.examples:
        source = example.source[: example.current + 1]
        for target in _right_then_wrong(example):
            for side, sentences in (("src", source), ("trg", target)):
                lines.setdefault(f"current.{side}", []).append(sentences[-1])
                for size in range(1, most + 1):
                    lines.setdefault(f"c{size}.context.{side}", []).extend(sentences[-1 - size : -1])
    for name, text in lines.items():
        yield f"{contrastive.plan.path}/OpenSubs.{name}", "\n".join(text) + "\n"


def _bawden(contrastive: ContrastiveSet) -> str:
    """Bawden et al. (2018): a block per twin, each example with its previous sentence."""
    blocks = {}
    for first in range(0, len(contrastive.examples), 2):
        examples = []
        for example in contrastive.examples[first : first + 2]:
            right, wrong = (target[-2:] for target in _right_then_wrong(example))
            examples.append({"src": example.source[-2:], "trg": {"correct": right, "incorrect": wrong}})
        blocks[str(first // 2 + 1)] = {"type": "disambig", "examples": examples}
    return json.dumps(blocks, ensure_ascii=False, indent=2) + "\n"


def _voita(contrastive: ContrastiveSet) -> str:
    """Voita et al. (2019): whole windows, sentences joined by ``_eos``."""
    records = [
        {"src": " _eos ".join(example.source), "dst": [" _eos ".join(target) for target in example.targets],
         "true_ind": example.correct, "ctx_dist": example.distance}
        for example in contrastive.examples
    ]  # fmt: skip
    return json.dumps(records, ensure_ascii=False, indent=1)


def _json_lines(contrastive: ContrastiveSet) -> str:
    """ctxmt JSON lines, as the package describes them."""
    lines = []
    for number, example in enumerate(contrastive.examples, 1):
        plan, own = contrastive.plan, ("source", "current", "targets", "correct", "meta")
        record = {"id": f"{plan.name}-{number}", "phenomenon": plan.phenomenon, "distance": example.distance,
                  "context": plan.context, **{key: getattr(example, key) for key in own}}  # fmt: skip
        if example.meta is None:
            del record["meta"]
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines)
