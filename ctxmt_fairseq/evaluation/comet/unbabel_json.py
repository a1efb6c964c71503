"""Reads what Unbabel's own ``comet-score --to_json`` writes, for those who run COMET elsewhere.

The file has, by the name of each translation that was given, a record for each line: ``src``, ``mt``, ``ref``
where there was one, and its score as ``COMET``. Translations are found by their text, so that they may have
other names here, and so that no score is another text's.
"""

import zlib
from dataclasses import dataclass
from typing import Dict, List

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
from ctxmt_fairseq.evaluation.comet.inputs import CometText
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike, read_bytes


@dataclass(frozen=True)
class Scored:
    """A translation in the file, line by line; ``scores`` (N,)."""

    sides: Dict[str, List[str]]
    scores: List[float]


class UnbabelScores:
    """The translations of a file."""

    def __init__(self, path: PathLike):
        content, self.path = load_json(path), path
        if not isinstance(content, dict) or not content:
            raise BadInput("expected translations with their records, as of comet-score --to_json", path)
        place = Place(path)
        self.known = [_scored(Place(path, part=name), get(place, content, name, list)) for name in content]

    def score(self, text: CometText, name: PathLike) -> CometScore:
        """The scores of these lines; ``name`` is the file of the translation, for messages."""
        lines = {"mt": text.hypotheses, "src": text.sources}
        if text.references is not None:
            lines["ref"] = text.references
        for each in self.known:
            if all(each.sides[side] == lines[side] for side in each.sides.keys() & lines.keys()):
                scores = [each.scores[line] for line in text.current]
                content = f"{zlib.crc32(read_bytes(self.path)):08x}"
                signature = f"comet-score:{self.path}|content:{content}"
                mean = sum(scores) / len(scores)
                return CometScore(str(self.path), 0, "ref" in each.sides, mean, scores, 0, 0, signature)
        raise BadInput(f"has no scores of {name} with this source and reference, line by line", self.path)


def _scored(place: Place, records: List[object]) -> Scored:
    if not records:
        raise place.error("expected a record for each line")
    names = [side for side in ("mt", "src", "ref") if isinstance(records[0], dict) and side in records[0]]
    sides = {side: [get(place, record, side, str) for record in records] for side in {*names, "mt", "src"}}
    return Scored(sides, [get(place, record, "COMET", float) for record in records])
