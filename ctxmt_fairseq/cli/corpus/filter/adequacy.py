"""Scores of adequacy: does one side translate the other? By dual conditional cross-entropy.

adq = exp(-(|A - B| + (A + B) / 2)), from 0 to 1 (Junczys-Dowmunt 2018). A is the cross-entropy of the target
sentence given the source in nats per word (between white space, and the sentence's end), by a model that was
trained on clean text; B that of the other direction. A pair that is longer than a model can read has the
score 0. Sentences are scored without context.

A line of the file has a hash of the pair, adq, A and B, with tabs between them.

Example: ctxmt corpus filter adequacy text/right --forward en-cs.pt --backward cs-en.pt --source-lang en \\
             --target-lang cs --scores adequacy.tsv
"""

from typing import Callable, Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Joined
from ctxmt_fairseq.cli.options.pair_scores import ScoredPairs
from ctxmt_fairseq.cli.options.user_folder import TRUST


class Adequacy(ScoredPairs):
    columns = ("adequacy", "forward", "backward")

    forward: Joined = option(
        "a checkpoint, source to target; several joined by ':' are an ensemble", metavar="MODEL"
    )
    forward_data: Optional[Folder] = option("its data folder (default: the one of the training)")
    backward: Joined = option(
        "a checkpoint, target to source; several joined by ':' are an ensemble", metavar="MODEL"
    )
    backward_data: Optional[Folder] = option("its data folder (default: the one of the training)")

    trust_checkpoint: bool = TRUST

    def scorer(self) -> Callable:
        from ctxmt_fairseq.corpora.transforms.pair_scores import adequacy
        from ctxmt_fairseq.generation.cross_entropy import cross_entropies
        from ctxmt_fairseq.generation.loading import load_models

        both = []
        for path, data, expected in (
            (self.forward, self.forward_data, self.languages),
            (self.backward, self.backward_data, self.languages[::-1]),
        ):
            loaded = load_models(path, data, device=self.hardware.chosen, trust=self.trust_checkpoint)
            if loaded.languages != expected:
                found = "-".join(loaded.languages)
                raise BadInput(f"expected a model {'-'.join(expected)}, found {found}", path)
            both.append(loaded)

        def score(pairs):
            sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
            forward, backward = (
                cross_entropies(loaded, *texts, self.max_tokens)
                for loaded, texts in zip(both, (sides, sides[::-1]), strict=True)
            )
            return adequacy(forward, backward), forward, backward

        return score
