"""Scores of adequacy: does one side translate the other? By dual conditional cross-entropy.

adq = exp(-(|A - B| + (A + B) / 2)), from 0 to 1 (Junczys-Dowmunt 2018). A is the cross-entropy of the target
sentence given the source in nats per word (between white space, and the sentence's end), by a model that was
trained on clean text; B that of the other direction. A pair that is longer than a model can read has the
score 0. Sentences are scored without context.

A line of the file has a hash of the pair, adq, A and B, with tabs between them.

Example: ctxmt corpus filter adequacy text/right --forward en-cs.pt --backward cs-en.pt --source-lang en \\
             --target-lang cs --scores adequacy.tsv
"""

from typing import Any

from ctxmt_fairseq.cli.scoring_options import add_scoring_options, score_corpus
from ctxmt_fairseq.corpora.transforms.scores import Score, adequacy
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.option_types import name, names


def add_arguments(parser: Any) -> None:
    for side, title in (("forward", "source to target"), ("backward", "target to source")):
        parser.add_argument(f"--{side}", type=names, required=True, metavar="MODEL",
                            help=f"a checkpoint, {title}; several joined by ':' are an ensemble")  # fmt: skip
        parser.add_argument(f"--{side}-data", type=name, metavar="DIR",
                            help="its data folder (default: the one of the training)")  # fmt: skip
    add_scoring_options(parser)


def run(args: Any) -> None:
    score_corpus(args, "adequacy", ["adequacy", "forward", "backward"], lambda: _scorer(args))


def _scorer(args: Any) -> Score:
    from ctxmt_fairseq.generation.cross_entropy import cross_entropies
    from ctxmt_fairseq.generation.loading import load_models

    languages = args.source_lang, args.target_lang
    both = []
    for path, data, expected in (
        (args.forward, args.forward_data, languages),
        (args.backward, args.backward_data, languages[::-1]),
    ):
        loaded = load_models(path, data, device="cpu" if args.cpu else None)
        if loaded.languages != expected:
            raise BadInput(f"expected a model {'-'.join(expected)}, found {'-'.join(loaded.languages)}", path)
        both.append(loaded)

    def score(pairs):
        sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
        forward, backward = (
            cross_entropies(loaded, *texts, args.max_tokens)
            for loaded, texts in zip(both, (sides, sides[::-1]), strict=True)
        )
        return adequacy(forward, backward), forward, backward

    return score
