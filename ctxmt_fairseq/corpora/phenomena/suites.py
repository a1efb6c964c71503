"""Test sets of what context decides: JSON lines that ``ctxmt contrast`` and ``ctxmt score-forms`` read."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Dict, List

from ctxmt_fairseq.corpora.phenomena.lines import Hit
from ctxmt_fairseq.corpora.phenomena.tagging import TaggedLine
from ctxmt_fairseq.text.text_lines import tidy

TAGS = {  # -> the context that decides
    "pronoun": "source-previous", "formality": "target-previous", "ellipsis": "source-previous",
    "inflection": "source-previous", "cohesion": "target-previous",
}  # fmt: skip


class Suites:
    """Writes a set for each phenomenon, ``NAME.jsonl``, and ``NAME.current``, which marks its lines among
    those of the corpus. A line gives a set one example, if a word in the lines before it decides.

    An example has the form that is expected; where other forms differ in nothing but what context decides,
    it also has candidates.
    """

    def __init__(self, folder: Path, end: ExitStack):
        self._files: Dict[str, List[BinaryIO]] = {
            tag: [end.enter_context(open(folder / f"{tag}.{kind}", "wb")) for kind in ("jsonl", "current")]
            for tag in TAGS
        }
        self.examples = dict.fromkeys(TAGS, 0)

    def add(self, tagged: TaggedLine) -> None:
        """Write the examples of the next line."""
        for tag, (records, current) in self._files.items():
            hits = [hit for hit in tagged.hits if hit.tag == tag and hit.distance]
            hits = hits if tagged.row.current != "0" else []
            current.write(b"1\n" if hits else b"0\n")
            if hits:
                self.examples[tag] += 1
                records.write(f"{json.dumps(_record(tagged, hits[0]), ensure_ascii=False)}\n".encode())


def _record(tagged: TaggedLine, hit: Hit) -> Dict[str, Any]:
    row, line = tagged.row, tagged.line
    before = [each for each, _ in reversed(tagged.before)]
    word = line.target[hit.word]
    record: Dict[str, Any] = {
        "id": str(row.line), "phenomenon": hit.tag, "distance": hit.distance, "context": TAGS[hit.tag],
        "source": [*(each.source for each in before), row.source], "current": len(before),
        "expected": word.text, "reference": row.target,
    }  # fmt: skip
    if hit.others:
        capital = word.text[0].isupper()
        forms = [word.text, *(other.capitalize() if capital else other for other in hit.others)]
        targets = [tidy(line.text[: word.start] + form + line.text[word.end :]) for form in forms]
        record["targets"] = [[*(each.target for each in before), target] for target in targets]
        record["correct"] = 0
    return record
