"""Reads what Unbabel's own ``comet-score --to_json`` writes, for those who run COMET elsewhere.

The file has, by the name of each translation that was given, a record for each line: ``src``, ``mt``, ``ref``
where there was one, and its score as ``COMET``. Translations are found by their text, so that they may have
other names here, and so that no score is another text's.
"""

import zlib
from typing import Dict, List, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
from ctxmt_fairseq.evaluation.comet.inputs import CometText
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike, read_bytes


class UnbabelScores:
    """The translations of a file; ``known`` has the texts of each by side, and the scores of its lines."""

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
        for sides, known in self.known:
            if all(sides[side] == lines[side] for side in sides.keys() & lines.keys()):
                scores = [known[line] for line in text.current]
                content = f"{zlib.crc32(read_bytes(self.path)):08x}"
                signature = f"comet-score:{self.path}|content:{content}"
                mean = sum(scores) / len(scores)
                return CometScore(str(self.path), 0, "ref" in sides, mean, scores, 0, 0, signature)
        raise BadInput(f"has no scores of {name} with this source and reference, line by line", self.path)


def _scored(place: Place, records: List[object]) -> Tuple[Dict[str, List[str]], List[float]]:
    if not records:
        raise place.error("expected a record for each line")
    names = ["mt", "src", *(["ref"] if isinstance(records[0], dict) and "ref" in records[0] else [])]
    sides = {side: [get(place, record, side, str) for record in records] for side in names}
    return sides, [get(place, record, "COMET", float) for record in records]
