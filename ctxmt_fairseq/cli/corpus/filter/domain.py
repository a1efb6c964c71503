"""Scores of the domain: is the target sentence like text of the domain, rather than like the crawl?

dom = min(exp(-(H_in - H_gen)), 1), with H the cross-entropies of the target sentence in nats per word
(between white space, and the sentence's end) by a language model of the domain, such as news, and one of the
crawl. The thesis prints max, and the difference with the opposite sign; its text says what is meant. A
sentence that is longer than a model can read has the score 0.

A model is a transformer_lm of fairseq (a checkpoint, whose data folder has its dict.txt), or one of kenlm
(.arpa, .binary, ..) if kenlm is installed. --subwords names a data folder of "ctxmt preprocess", whose text
steps and subwords cut the text for both; without it the units are words between white space.

A line of the file has a hash of the pair, dom, H_in and H_gen, with tabs between them.

Example: ctxmt corpus filter domain text/right --in-domain news.pt --general crawl.pt --subwords data \\
             --source-lang en --target-lang cs --scores domain.tsv
"""

from typing import Callable, Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Folder, Input
from ctxmt_fairseq.cli.options.pair_scores import ScoredPairs


class Domain(ScoredPairs):
    columns = ("domain", "in_domain", "general")

    in_domain: Input = option("a model of the domain", metavar="MODEL")
    in_domain_data: Optional[Folder] = option("its data folder (default: the one of the training)")
    general: Input = option("a model of the crawl", metavar="MODEL")
    general_data: Optional[Folder] = option("its data folder (default: the one of the training)")
    subwords: Optional[Folder] = option("whose subwords both read", metavar="DATA")

    def scorer(self) -> Callable:
        from ctxmt_fairseq.corpora.subwords import Subwords
        from ctxmt_fairseq.corpora.transforms.pair_scores import domain
        from ctxmt_fairseq.generation.cross_entropy import language_cross_entropies, load_language_model

        subwords = Subwords.load(self.subwords, self.target_lang) if self.subwords else None
        models = [
            load_language_model(path, data, self.hardware.chosen, self.max_tokens)
            for path, data in ((self.in_domain, self.in_domain_data), (self.general, self.general_data))
        ]

        def score(pairs):
            texts = [pair.target for pair in pairs]
            in_domain, general = (language_cross_entropies(model, texts, subwords) for model in models)
            return domain(in_domain, general), in_domain, general

        return score
