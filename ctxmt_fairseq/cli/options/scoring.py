"""How translations are scored, and how often samples are drawn."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Literal, Optional, Sequence

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int, whole_number
from ctxmt_fairseq.base.paths import STANDARD, Input
from ctxmt_fairseq.cli.options.device import Device

if TYPE_CHECKING:
    from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
    from ctxmt_fairseq.evaluation.significance.measures import SacrebleuMeasure

TOKENIZER = "BLEU's tokenizer, as sacrebleu's (default: that of the data folder's language, or else 13a)"


class Tokens(OptionGroup):
    """What counts as a word, and as the same word."""

    tokenize: Optional[str] = option(TOKENIZER, metavar="NAME")
    lowercase: bool = option("ignore case, in BLEU and in chrF")


class Metric(Tokens):
    """One measure of translations, of a command that reads no data folder."""

    tokenize: Optional[str] = option("BLEU's tokenizer, as sacrebleu's (default: 13a)", metavar="NAME")
    metric: Literal["bleu", "chrf1", "chrf2", "chrf3"] = option("what is scored", "bleu")

    def measure(self) -> "SacrebleuMeasure":
        from ctxmt_fairseq.evaluation.significance.measures import measure

        return measure(self.metric, self.tokenize, self.lowercase)


class Resampling(OptionGroup):
    samples: int = option("of tests and intervals", 10_000, whole_number(100, 10**7))
    seed: int = option("of the samples", 1, option_types.seed)

    def __str__(self) -> str:
        return f"{self.samples} samples, seed {self.seed}"


def sentences_before(needs: str = "") -> Any:
    """A field that has COMET score whole documents."""
    how: Any = {"nargs": "?", "const": 2, "metavar": "K"}
    text = f"score each sentence with the K sentences before it ({needs}K is 2 if left out; default: "
    return option(f"{text}sentences alone)", 0, non_negative_int, **how)


class Comet(OptionGroup):
    """COMET, of every command that scores translations."""

    heading = "COMET (needs the extra comet, or its scores as --comet-json)"

    comet: List[str] = option(
        "COMET against REF: folders with hparams.yaml and checkpoints/model.ckpt, or names on the Hugging "
        "Face hub, such as wmt20-comet-da or wmt22-comet-da",
        [],
        metavar="MODEL",
    )
    quality_estimation: List[str] = option(
        "models of COMET that score without REF, such as wmt20-comet-qe-da", [], metavar="MODEL"
    )
    comet_json: List[Input] = option(
        "the scores of HYP, whatever its name there, that Unbabel's comet-score --to_json wrote",
        [],
        metavar="FILE",
    )
    source: Optional[Input] = option("the sentences that were translated, line by line")
    comet_context: int = sentences_before("needs --docids; ")
    comet_batch_size: int = option("sentences scored together", 16)
    hardware: Device

    @property
    def models(self) -> List[str]:
        return [*self.comet, *self.quality_estimation, *self.comet_json]

    def scores(
        self,
        hypotheses: Sequence[str],
        reference: Optional[str],
        docids: Optional[str],
        current: Optional[str],
    ) -> List[List["CometScore"]]:
        """The score by each model of each file of translations; those of HYP are kept in HYP.comet.jsonl."""
        if not self.models:
            for name in ("source", "comet_context"):
                if getattr(self, name):
                    flag = name.replace("_", "-")
                    raise BadInput(f"--{flag} needs --comet, --quality-estimation or --comet-json")
            return [[] for _ in hypotheses]
        if STANDARD in hypotheses:
            raise BadInput("COMET keeps its scores beside HYP: give a file, not standard input")
        if self.source is None:
            raise BadInput("COMET needs --source, the sentences that were translated")
        if self.comet and reference is None:
            raise BadInput("--comet needs REF; give models that need none as --quality-estimation")
        from ctxmt_fairseq.evaluation.comet.comet_models import load_comet
        from ctxmt_fairseq.evaluation.comet.comet_scoring import comet_score
        from ctxmt_fairseq.evaluation.comet.inputs import read_comet_text
        from ctxmt_fairseq.evaluation.comet.unbabel_json import UnbabelScores

        scores: List[List[Any]] = [[] for _ in hypotheses]
        for names, against in ((self.comet, reference), (self.quality_estimation, None)):
            if not names:
                continue
            texts = [read_comet_text(self.source, name, against, docids, current) for name in hypotheses]
            for model in map(load_comet, names):
                for found, text, name in zip(scores, texts, hypotheses, strict=True):
                    cache = Path(f"{name}.comet.jsonl")
                    how = self.comet_context, cache, self.comet_batch_size, self.hardware.chosen == "cpu"
                    found.append(comet_score(text, model, *how))
                    _report_lengths(name, found[-1])
        for known in map(UnbabelScores, self.comet_json):
            for found, name in zip(scores, hypotheses, strict=True):
                text = read_comet_text(self.source, name, reference, docids, current)
                found.append(known.score(text, name))
        return scores


def _report_lengths(name: str, score: "CometScore") -> None:
    for count, what in (
        (score.shortened, "have fewer sentences of context, to fit the encoder"),
        (score.too_long, "are longer than the encoder reads: COMET cuts off their end"),
    ):
        if count:
            lines = len(score.segments)
            print(f"ctxmt: warning: {name}: {score.title}: {count} of {lines} lines {what}", file=sys.stderr)
