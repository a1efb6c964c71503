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

from typing import Any

from ctxmt_fairseq.cli.scoring_options import add_scoring_options, score_corpus
from ctxmt_fairseq.corpora.transforms.scores import Score, domain
from ctxmt_fairseq.option_types import name

SIDES = ("in_domain", "general")


def add_arguments(parser: Any) -> None:
    for side, title in zip(SIDES, ("the domain", "the crawl"), strict=True):
        flag = f"--{side.replace('_', '-')}"
        parser.add_argument(flag, type=name, required=True, metavar="MODEL", help=f"a model of {title}")
        parser.add_argument(f"{flag}-data", type=name, metavar="DIR",
                            help="its data folder (default: the one of the training)")  # fmt: skip
        parser.add_argument(f"{flag}-subwords", type=name, metavar="DIR",
                            help="whose subwords it reads (default: --subwords)")  # fmt: skip
    parser.add_argument("--subwords", type=name, metavar="DIR", help="whose subwords both read")
    add_scoring_options(parser)


def run(args: Any) -> None:
    score_corpus(args, "domain", ["domain", *SIDES], lambda: _scorer(args))


def _scorer(args: Any) -> Score:
    from ctxmt_fairseq.corpora.subwords import Subwords
    from ctxmt_fairseq.generation.language_models import cross_entropies, load_language_model

    models = []
    for side in SIDES:
        folder = getattr(args, f"{side}_subwords") or args.subwords
        subwords = Subwords.load(folder, args.target_lang) if folder else None
        path, data = getattr(args, side), getattr(args, f"{side}_data")
        model = load_language_model(path, data, "cpu" if args.cpu else None, args.max_tokens)
        models.append((model, subwords))

    def score(pairs):
        texts = [pair.target for pair in pairs]
        in_domain, general = (cross_entropies(model, texts, subwords) for model, subwords in models)
        return domain(in_domain, general), in_domain, general

    return score
