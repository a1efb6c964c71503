"""The options of COMET, of every command that scores translations."""

from pathlib import Path
from typing import Any, List, Optional, Sequence


def add_comet_options(parser: Any) -> None:
    """``--comet``, ``--quality-estimation`` and what goes with them."""
    from ctxmt_fairseq.option_types import non_negative_int, positive_int

    comet = parser.add_argument_group("COMET (needs the extra comet)")
    comet.add_argument("--comet", nargs="+", default=[], metavar="MODEL",
                       help="COMET against REF: folders with hparams.yaml and checkpoints/model.ckpt, or "
                       "names on the Hugging Face hub, such as wmt20-comet-da or wmt22-comet-da")  # fmt: skip
    comet.add_argument("--quality-estimation", nargs="+", default=[], metavar="MODEL",
                       help="models of COMET that score without REF, such as wmt20-comet-qe-da")  # fmt: skip
    comet.add_argument("--source", metavar="FILE", help="the sentences that were translated, line by line")
    comet.add_argument("--comet-context", type=non_negative_int, nargs="?", const=2, default=0, metavar="K",
                       help="document level, with --docids: each sentence behind K sentences before it (K: 2 "
                       "if left out; default: sentences alone)")  # fmt: skip
    comet.add_argument("--comet-batch-size", type=positive_int, default=16, metavar="N",
                       help="sentences (default: %(default)s)")  # fmt: skip
    comet.add_argument("--cpu", action="store_true", help="leave a GPU alone")


def comet_scores(args: Any, hypotheses: Sequence[str], reference: Optional[str]) -> List[List[Any]]:
    """For each file of translations a ``CometScore`` of each model of the options.

    The scores of ``HYP`` are kept in ``HYP.comet.jsonl``.

    Raises:
        BadInput: options or files that do not go together.
    """
    from ctxmt_fairseq.errors import BadInput

    if not args.comet and not args.quality_estimation:
        for option in ("source", "comet_context"):
            if getattr(args, option):
                raise BadInput(f"--{option.replace('_', '-')}: expected --comet or --quality-estimation")
        return [[] for _ in hypotheses]
    if args.source is None:
        raise BadInput("COMET: expected --source, the sentences that were translated")
    if args.comet and reference is None:
        raise BadInput("--comet: expected REF; models that need none belong to --quality-estimation")
    from ctxmt_fairseq.evaluation.comet.inputs import read_comet_text
    from ctxmt_fairseq.evaluation.comet.models import load_comet
    from ctxmt_fairseq.evaluation.comet.scores import comet_score

    scores: List[List[Any]] = [[] for _ in hypotheses]
    for names, against in ((args.comet, reference), (args.quality_estimation, None)):
        if not names:
            continue
        texts = [
            read_comet_text(args.source, name, against, args.docids, args.current) for name in hypotheses
        ]
        for model in map(load_comet, names):
            for found, text, name in zip(scores, texts, hypotheses, strict=True):
                cache = Path(f"{name}.comet.jsonl")
                options = (args.comet_context, cache, args.comet_batch_size, args.cpu)
                found.append(comet_score(text, model, *options))
                _report_lengths(name, found[-1])
    return scores


def _report_lengths(name: str, score: Any) -> None:
    import sys

    for count, what in (
        (score.shortened, "have fewer sentences of context, to fit the encoder"),
        (score.too_long, "are longer than the encoder reads: COMET cuts off their end"),
    ):
        if count:
            lines = len(score.segments)
            print(f"ctxmt: {name}: {score.title}: {count} of {lines} lines {what}", file=sys.stderr)
