"""Scores of the domain: is the target sentence like text of the domain, rather than like the crawl?

dom = min(exp(-(H_in - H_gen)), 1), with H the cross-entropies of the target sentence in nats per word
(between white space, and the sentence's end) by a language model of the domain, such as news, and one of the
crawl. The thesis prints max, and the difference with the opposite sign; its text says what is meant. A
sentence that is longer than a model can read has the score 0.

A model is a transformer_lm of fairseq (a checkpoint, whose data folder has its dict.txt), or one of kenlm
(.arpa, .binary, ..) if kenlm is installed. Their units may differ: --subwords names a data folder of
"ctxmt preprocess" whose text steps and subwords cut the text for both, --in-domain-subwords and
--general-subwords for one; else the units are words between white space.

A line of the file has a hash of the pair, dom, H_in and H_gen, with tabs between them.

Example: ctxmt corpus filter domain text/right --in-domain news.pt --general crawl.pt --subwords data \\
             --source-lang en --target-lang cs --scores domain.tsv
"""

from typing import TYPE_CHECKING, Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Folder, Input
from ctxmt_fairseq.cli.options.pair_scores import ScoredPairs

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.transforms.scores import Score


class Domain(ScoredPairs):
    columns = ("domain", "in_domain", "general")

    in_domain: Input = option("a model of the domain", metavar="MODEL")
    in_domain_data: Optional[Folder] = option("its data folder (default: the one of the training)")
    in_domain_subwords: Optional[Folder] = option("whose subwords it reads (default: --subwords)")
    general: Input = option("a model of the crawl", metavar="MODEL")
    general_data: Optional[Folder] = option("its data folder (default: the one of the training)")
    general_subwords: Optional[Folder] = option("whose subwords it reads (default: --subwords)")
    subwords: Optional[Folder] = option("whose subwords both read")

    def scorer(self) -> "Score":
        from ctxmt_fairseq.corpora.subwords import Subwords
        from ctxmt_fairseq.corpora.transforms.scores import domain
        from ctxmt_fairseq.generation.language_models import cross_entropies, load_language_model

        models = []
        for path, data, own in (
            (self.in_domain, self.in_domain_data, self.in_domain_subwords),
            (self.general, self.general_data, self.general_subwords),
        ):
            folder = own or self.subwords
            subwords = Subwords.load(folder, self.target_lang) if folder else None
            model = load_language_model(path, data, "cpu" if self.cpu else None, self.max_tokens)
            models.append((model, subwords))

        def score(pairs):
            texts = [pair.target for pair in pairs]
            in_domain, general = (cross_entropies(model, texts, subwords) for model, subwords in models)
            return domain(in_domain, general), in_domain, general

        return score
