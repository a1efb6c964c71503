"""Candidates of contrastive sets for another program to score, and the scores that it gave them.

The program reads a JSON object for each candidate, and writes a line for each, in the same order: the sum of
the log-probabilities of the candidate's tokens, a blank, and how many tokens they are.
"""

import json
import math
from typing import Iterable, Iterator, List, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

Scores = List[List[CandidateScore]]  # of a set: for each example those of its candidates


def candidate_lines(sets: Iterable[ContrastiveSet]) -> Iterator[str]:
    """A JSON object for each candidate of each example, with all that a model may read."""
    for name, example in ((each.name, example) for each in sets for example in each.examples):
        known = {"set": name, "id": example.id, "source_before": example.source_before,
                 "source": example.source, "source_after": example.source_after,
                 "metadata": dict(example.metadata)}  # fmt: skip
        for candidate in example.candidates:
            record = {**known, "target_before": candidate.before, "target": candidate.current}
            yield json.dumps(record, ensure_ascii=False)


def read_candidate_scores(path: PathLike, sets: Sequence[ContrastiveSet]) -> List[Scores]:
    """The scores of all candidates, in the order of ``candidate_lines``; what the program counted is taken
    for the current sentence and for the window alike."""
    lines = list(iterate_lines(path))
    expected = sum(len(example.candidates) for each in sets for example in each.examples)
    if len(lines) != expected:
        wanted = f"expected {expected} lines, one for each candidate (--print-candidates)"
        raise BadInput(f"{wanted}, found {len(lines)}", path)
    found = iter([_score(line, path, number) for number, line in enumerate(lines, start=1)])
    return [[[next(found) for _ in example.candidates] for example in each.examples] for each in sets]


def _score(line: str, path: PathLike, number: int) -> CandidateScore:
    try:
        total, tokens = line.split()
        score = float(total), int(tokens)
    except ValueError:
        score = math.nan, 0
    if not -math.inf < score[0] <= 0 < score[1] < 2**63:
        raise BadInput(
            "expected the sum of the tokens' log-probabilities (0 or less) and their number, as in -12.5 7, "
            f"found {line.rstrip()!r}",
            path,
            number,
        )
    return CandidateScore(*score, *score)
