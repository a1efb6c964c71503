"""Cuts the hypotheses of a window to its current sentence."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import torch

# fairseq's: tokens (T,), positional_scores (T,), score, attention, alignment. Also too_long: whether it ended
# at the greatest length; and, of a cut window, well_formed: whether it had the expected number of separators.
Hypothesis = Dict[str, Any]


@dataclass
class WindowCount:
    """How many windows were decoded; how many best hypotheses had a wrong number of separators, and how many
    ended where the search allows no longer translation."""

    windows: int = 0
    mismatched: int = 0
    too_long: int = 0

    def add(self, row: List[Hypothesis]) -> None:
        """Count a window by its n-best list, as ``keep_sentence`` returns it."""
        self.windows += 1
        self.mismatched += bool(row) and not row[0]["well_formed"]
        self.too_long += bool(row) and row[0].get("too_long", False)

    def report(self, searched: bool) -> Optional[str]:
        """What is to be said at the end, if anything; ``searched``: whether whole windows were."""
        said = []
        if searched and self.windows:
            said.append(
                f"{self.mismatched} of {self.windows} windows were translated with a wrong number of "
                "separators; their current sentence is a guess"
            )
        if self.too_long:
            said.append(
                f"{self.too_long} of {self.windows} translations ended at the greatest length of "
                "--max-len-a and --max-len-b"
            )
        return "; ".join(said) or None


def span(tokens: torch.Tensor, separator: int, before: int, keep: str = "current") -> Tuple[int, int, bool]:
    """Find the wanted sentence in a hypothesis (T,), which ends with ``</s>``, of a window with ``before``
    sentences: the current one, or the "first" (the thesis' "1st sentence" rows).

    Returns:
        begin and end, the end including the sentence's ``</s>`` or separator; and whether the window is
        well-formed: it has the expected number of separators, and a word after them unless it has no word.
        With too few separators, or nothing after them, the last sentence that has a word is taken. With too
        many, it is all that follows the last expected one (the caller drops the surplus separators), because
        any sentence before may have been cut in two. Where none is before it, it ends at the first separator
        after a word: what follows is another sentence, often the same one again.
    """
    ends = (tokens[:-1] == separator).nonzero().flatten().tolist()
    if keep == "first":
        return 0, (ends[0] if ends else len(tokens) - 1) + 1, len(ends) == before
    begins = [0] + [end + 1 for end in ends]
    at = min(before, len(ends))
    words = (tokens != separator).tolist()
    words[-1] = False
    if not before:
        found = (end + 1 for end in ends if any(words[:end]))
        return 0, next(found, len(tokens)), not ends
    while at and not any(words[begins[at] :]):
        at -= 1
    return begins[at], len(tokens), len(ends) == before == at


def cut(hypothesis: Hypothesis, separator: int, eos: int, before: int, keep: str) -> Tuple[Hypothesis, bool]:
    """Cut a window's hypothesis to the wanted sentence, and tell whether the window was well-formed."""
    tokens = hypothesis["tokens"]
    if not before and separator not in tokens.tolist():  # it is one
        return dict(hypothesis), True
    begin, end, well_formed = span(tokens, separator, before, keep)
    inside = torch.arange(len(tokens), device=tokens.device)
    kept = (inside >= begin) & (inside < end) & ((tokens != separator) | (inside == end - 1))
    sentence = dict(hypothesis)
    sentence["tokens"] = tokens[kept].clone()
    sentence["tokens"][-1] = eos
    sentence["positional_scores"] = hypothesis["positional_scores"][kept]
    attention = hypothesis.get("attention")
    if attention is not None and attention.dim() == 2 and attention.size(1) == len(tokens):
        sentence["attention"] = attention[:, kept]
    return sentence, well_formed


def keep_sentence(
    hypotheses: List[List[Hypothesis]],
    before: List[int],
    separator: int,
    eos: int,
    count: WindowCount,
    length_penalty: float = 1.0,
    normalize: bool = True,
    keep: str = "current",
    start: int = 0,
) -> List[List[Hypothesis]]:
    """Cut every hypothesis of a batch, the n-best windows of each row with ``before`` sentences, to its
    current one. Well-formed windows rank first, then the window's score decides. A sentence that several
    windows have is listed once, at its best rank. Its score is the sentence's own, normalised as the search
    does. The first ``start`` tokens are given, and do not count, unless there is no word."""
    ranked = []
    for row, expected in zip(hypotheses, before, strict=True):
        sentences = [cut(hypothesis, separator, eos, expected, keep) for hypothesis in row]
        sentences.sort(key=lambda pair: not pair[1])  # stable: within each group by window score
        merged: Dict[Tuple[int, ...], Hypothesis] = {}
        for sentence, sentence["well_formed"] in sentences:
            if start and len(sentence["tokens"]) > start + 1:
                for name in ("tokens", "positional_scores"):
                    sentence[name] = sentence[name][start:]
            score = sentence["positional_scores"].sum()
            if normalize:
                score = score / len(sentence["tokens"]) ** length_penalty
            sentence["score"] = score
            merged.setdefault(tuple(sentence["tokens"].tolist()), sentence)
        ranked.append(list(merged.values()))
        count.add(ranked[-1])
    return ranked
