"""Which latent group a sentence's tokens are assigned to: a heat map of tokens and groups.

For a caching_transformer with --shortening group (every token's weights sum to 1) or select (every group's
do), as figure 3 of the sequence-shortening paper. The groups are those of the sentence itself: its context
may be given as for the other analyses, but does not change them.

Example: ctxmt analyse groups checkpoint_best.pt --sentence "What's your plan?" --output groups.png
"""

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Map
from ctxmt_fairseq.cli.options.model import OfModel
from ctxmt_fairseq.cli.options.text import MAP, Sentence


class Groups(OfModel):
    text: Sentence
    output: Map = option(MAP, Map("groups.png"))

    def run(self) -> None:
        from ctxmt_fairseq.analysis.group_use import token_groups, used_groups
        from ctxmt_fairseq.analysis.labelled_map import write_map

        passage = self.text.read()
        loaded = self.model.load_one(self.path, self.text.metadata)
        groups = token_groups(loaded, passage.sentences[passage.current])
        print(f"{len(groups.rows)} tokens in {used_groups(groups.values)} of {len(groups.columns)} groups\n")
        print(*write_map(self.output, groups, annotate=True, highest=1.0), sep="\n")
