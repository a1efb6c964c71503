"""Beam search whose hypotheses must hold certain terms."""

import math
from typing import Any, List, Optional

import torch
from fairseq.search import LexicallyConstrainedBeamSearch
from fairseq.token_generation_constraints import UnorderedConstraintState
from torch import Tensor


class TermSearch(LexicallyConstrainedBeamSearch):
    """fairseq's lexically constrained search (Post and Vilar, 2018; Hu et al., 2019), in any order of terms.

    Unlike fairseq's, a term is whole words, sentences without terms are searched as ever, and a sentence
    that comes to its greatest length without its terms ends there.

    Args:
        goes_on, open, elides: BoolTensors (V,), subwords that go on the word before them, whose word goes on
            behind them, and that end with an apostrophe, behind which a word begins without a blank.
        joined: LongTensor (V,), each subword without the blank before it, or itself.
    """

    def __init__(self, dictionary: Any, goes_on: Tensor, open: Tensor, elides: Tensor, joined: Tensor):
        super().__init__(dictionary, "unordered")
        self.goes_on, self.open, self.elides, self.joined = goes_on, open, elides, joined

    constraint_states: Any

    def step(self, step: int, lprobs: Tensor, scores: Optional[Tensor], tokens: Any = None, ids: Any = None):
        if bool(lprobs[..., self.eos + 1 :].isneginf().all()):  # the greatest length
            nothing = [UnorderedConstraintState.create(torch.tensor([0]))] * lprobs.size(1)
            self.constraint_states = [
                states if any(state.finished for state in states) else nothing
                for states in self.constraint_states
            ]
        self.last = tokens[:, -1].view(lprobs.shape[:2]).cpu()
        self.goes_on = self.goes_on.to(lprobs.device)
        for sentence, states in enumerate(self.constraint_states):
            for row, state in enumerate(states if states[0].root.num_constraints else ()):
                self._keep_words_whole(lprobs[sentence, row], state, self.last[sentence, row])
        return super().step(step, lprobs, scores, tokens, ids)

    def _keep_words_whole(self, lprobs: Tensor, state: Any, last: Tensor) -> None:
        """Change the log-probabilities (V,) of what follows the subword ``last``."""
        begin, children = [*state.root.next_tokens()], {} if state.is_root else state.node.children
        inside = [token for token, node in children.items() if state.generated[node] < node.num_constraints]
        allowed = lprobs[inside].clone()
        if state.node.terminal:
            lprobs.masked_fill_(self.goes_on, -math.inf)
        if self.open[last]:
            lprobs[begin] = -math.inf
        if self.elides[last]:
            lprobs[begin] = lprobs[self.joined[begin]]
        lprobs[inside] = allowed

    def step_sentence(self, step: int, sentno: int, lprobs: Tensor, states: List[Any], *candidates: Tensor):
        """Choose candidates of a sentence; on the CPU, because many small steps look at them."""
        beams, indices, scores = (each.cpu() for each in candidates)
        best = scores[: self.num_cands], indices[: self.num_cands], beams[: self.num_cands]
        if not states[0].root.num_constraints:
            return *best, states[:1] * self.num_cands
        found = super().step_sentence(step, sentno, lprobs.cpu(), states, beams, indices, scores)
        if bool(found[0].isneginf().all()):  # none of the terms can come here
            found = *best, [states[beam].advance(token) for _, token, beam in zip(*best, strict=True)]
        order = found[0].isneginf().sort(stable=True).indices
        scores, indices, beams = (each[order] for each in found[:3])
        begin = torch.tensor([*states[0].root.next_tokens()])
        elided = self.elides[self.last[sentno, beams]] & torch.isin(indices, begin)
        indices = torch.where(elided, self.joined[indices], indices)
        return scores, indices, beams, [found[3][at] for at in order.tolist()]

    def update_constraints(self, active_hypos: Tensor) -> None:
        super().update_constraints(active_hypos.cpu())
