"""From the contrastive set about formality to what ``ctxmt control attributes`` reads: the words by which the
two answers differ are those that agree with it and those that do not.

    python3 attribute_set.py CORPUS > SET
"""

import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator


def attribute_set(corpus: Path) -> Iterator[Dict[str, Any]]:
    """A record for every example of a demo corpus' set."""
    lines = (corpus / "contrastive" / "formality.jsonl").read_text(encoding="utf-8").splitlines()
    for example in map(json.loads, lines):
        current, correct = example["current"], example["correct"]
        right, wrong = (example["targets"][which][current] for which in (correct, 1 - correct))
        yield {
            "source": example["source"][current],
            "attributes": example["meta"],
            "expected": {"formality": _words_of(right, wrong)},
            "wrong": {"formality": _words_of(wrong, right)},
        }


def _words_of(sentence: str, other: str) -> list:
    """Words of a sentence that the other one does not have, without the punctuation behind them."""
    words, others = ([word.strip(".!?") for word in each.split()] for each in (sentence, other))
    return [word for word in words if word not in others]


if __name__ == "__main__":
    for record in attribute_set(Path(sys.argv[1])):
        print(json.dumps(record, ensure_ascii=False))
