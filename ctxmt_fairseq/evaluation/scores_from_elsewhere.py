"""Candidates of contrastive sets for another program to score, and the scores that it gave them.

The program reads a JSON object for each candidate, and writes a line for each, in the same order: the sum of
the log-probabilities of the candidate's tokens, a blank, and how many tokens they are; or the object with
both added as ``sum`` and ``tokens``, so that a wrong order is seen.
"""

import json
import math
from typing import Any, Dict, Iterable, Iterator, List, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.text.json_files import Place, get, parse_json
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

Scores = List[List[CandidateScore]]  # of a set: for each example those of its candidates


def candidates(sets: Iterable[ContrastiveSet]) -> Iterator[Dict[str, Any]]:
    """An object for each candidate of each example, with all that a model may read."""
    for name, example in ((each.name, example) for each in sets for example in each.examples):
        known = {"set": name, "id": example.id, "source_before": list(example.source_before),
                 "source": example.source, "source_after": list(example.source_after),
                 "metadata": dict(example.metadata)}  # fmt: skip
        for candidate in example.candidates:
            yield {**known, "target_before": list(candidate.before), "target": candidate.current}


def candidate_lines(sets: Iterable[ContrastiveSet]) -> Iterator[str]:
    """The ``candidates`` as JSON lines."""
    return (json.dumps(candidate, ensure_ascii=False) for candidate in candidates(sets))


def read_candidate_scores(path: PathLike, sets: Sequence[ContrastiveSet]) -> List[Scores]:
    """The scores of all candidates, in the order of ``candidate_lines``; what the program counted is taken
    for the current sentence and for the window alike."""
    lines, expected = list(iterate_lines(path)), list(candidates(sets))
    if len(lines) != len(expected):
        wanted = f"expected {len(expected)} lines, one for each candidate (--print-candidates)"
        raise BadInput(f"{wanted}, found {len(lines)}", path)
    pairs = enumerate(zip(lines, expected, strict=True), start=1)
    found = iter([_score(line, one, path, number) for number, (line, one) in pairs])
    return [[[next(found) for _ in example.candidates] for example in each.examples] for each in sets]


def _score(line: str, candidate: Dict[str, Any], path: PathLike, number: int) -> CandidateScore:
    place = Place(path, number)
    said = _added(parse_json(line, path, number), candidate, place) if line[:1] == "{" else line.split()
    try:
        total, tokens = said
        score = float(total), int(tokens)
    except ValueError:
        score = math.nan, 0
    if not -math.inf < score[0] <= 0 < score[1] < 2**63:
        raise place.error(
            "expected the sum of the tokens' log-probabilities (0 or less) and their number, as in -12.5 7, "
            f"found {line.rstrip()[:80]!r}"
        )
    return CandidateScore(*score, *score)


def _added(record: Any, candidate: Dict[str, Any], place: Place) -> Sequence[Any]:
    """What the program added to a candidate's own object; another's is refused."""
    said = get(place, record, "sum", float), get(place, record, "tokens", int)
    if any(record.get(key) != value for key, value in candidate.items()):
        wanted = f"example {candidate['id']} of {candidate['set']}, {candidate['target'][:40]!r}"
        raise place.error(f"expected a score of {wanted}, as --print-candidates printed it, found another's")
    return said
