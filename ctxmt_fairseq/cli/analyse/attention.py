"""How a sentence's tokens attend to its context: a heat map of attention weights, averaged over heads.

For gated_context_transformer (its last encoder layer; figure 5 of Voita et al. 2018),
context_encoder_transformer (every layer of encoder and decoder), and dual_encoder_transformer and
caching_transformer (every decoder layer) with --context-fusion serial, parallel, separate or hierarchical;
for mtcue_transformer (every decoder layer), whose context is whole texts; and for models of windows
(concat_transformer, transformer): the decoder's attention to the source window, or the encoder's to itself,
where the columns have the current sentence, too. Useful is the attention to
words: without <bos>, <eos> and punctuation.

Example: ctxmt analyse attention checkpoint_best.pt --document talk.en --line 12 --output attention.png
"""

from typing import Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Map
from ctxmt_fairseq.cli.options.model import OfModel
from ctxmt_fairseq.cli.options.text import MAP, SIDE, Sentence, Side


class Attention(OfModel):
    side: Side = option(SIDE)
    layer: Optional[int] = option("from 1 (default: the last that attends to context)")
    target: Optional[str] = option(
        "the translation that the decoder reads (default: the model's own, beam 4)", metavar="TEXT"
    )
    text: Sentence
    output: Map = option(MAP, Map("attention.png"))

    def run(self) -> None:
        from ctxmt_fairseq.analysis.attention_map import attention_map
        from ctxmt_fairseq.analysis.labelled_map import write_map

        passage = self.text.read()
        loaded = self.model.load_one(self.path, self.text.metadata)
        attention = attention_map(loaded, passage, self.side, self.layer, self.target)
        print(attention.table())
        if attention.mean_useful is not None:
            print(f"\nuseful, mean over the words: {attention.mean_useful:.3f}")
        print("", *write_map(self.output, attention.map, attention.as_dict()), sep="\n")
