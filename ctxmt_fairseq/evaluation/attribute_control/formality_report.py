"""A model's formality with each of several prompts as context, and the table of it (MTCue, appendix D)."""

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from tqdm.auto import tqdm

from ctxmt_fairseq.evaluation.attribute_control.formality import (
    FORMAL,
    FORMALITIES,
    INFORMAL,
    ContrastiveReference,
    count_formality,
    formality_of,
)
from ctxmt_fairseq.evaluation.attribute_control.outcomes import OutcomeCount, mean, percent
from ctxmt_fairseq.evaluation.attribute_control.phrases import Occurs, words_among
from ctxmt_fairseq.tables import aligned_table

# (sentences, metadata of each) -> translations
Translate = Callable[[List[str], Sequence[Mapping[str, str]]], List[str]]

# Appendix D; it prints the first list of genres with a comma at its end.
PROMPTS: Dict[str, Tuple[str, ...]] = {
    FORMAL: (
        "Formal conversation",
        "Hannah Larsen, meet Sonia Jimenez. One of my favourite nurses.",
        "In case anything goes down we need all the manpower alert, not comfortably numb.",
        "Biography, Drama",
        "A musician travels a great distance to return an instrument to his elderly teacher",
    ),
    INFORMAL: (
        "Informal chit-chat",
        "I'm gay for Jamie.",
        "What else can a pathetic loser do?",
        "Drama, Family, Romance",
        "Animation, Adventure, Comedy",
    ),
}


FEW = 30  # decided translations: if all are right, the accuracy's 95 % interval still begins at 88.6


@dataclass(frozen=True)
class FormalityRun:
    """The translations of a set's sentences when one formality was wanted.

    Attributes:
        wanted: ``FORMAL`` or ``INFORMAL``.
        prompt: the context; None without one.
        translations, labels: one per sentence, and ``formality_of`` each.
    """

    wanted: str
    prompt: Optional[str]
    translations: Sequence[str]
    labels: Sequence[str]

    @property
    def count(self) -> OutcomeCount:
        return count_formality(self.wanted, self.labels)

    def as_dict(self) -> Dict[str, Any]:
        return {"wanted": self.wanted, "prompt": self.prompt, **self.count.as_dict()}


@dataclass(frozen=True)
class FormalityReport:
    """Accuracies of the wanted formality.

    Attributes:
        plain: a run for each formality without prompt: a model without context, or any system's translations.
        prompted: the runs with prompts, in order; none for a system's translations.
    """

    plain: Sequence[FormalityRun]
    prompted: Sequence[FormalityRun] = ()

    def runs(self, wanted: str) -> List[FormalityRun]:
        """The prompted runs of one formality."""
        return [run for run in self.prompted if run.wanted == wanted]

    def best(self, wanted: str) -> FormalityRun:
        """The run with the highest accuracy; of equal ones the first (appendix D)."""
        return max(
            self.runs(wanted), key=lambda run: -1.0 if run.count.accuracy is None else run.count.accuracy
        )

    def summaries(self) -> Dict[str, Dict[str, Optional[float]]]:
        """Accuracies formal, informal and their average: plain, mean over the prompts, best prompts."""
        accuracy = {"plain": {run.wanted: run.count.accuracy for run in self.plain}}
        if self.prompted:
            accuracy["mean"] = {
                wanted: mean([run.count.accuracy for run in self.runs(wanted)]) for wanted in FORMALITIES
            }
            accuracy["best"] = {wanted: self.best(wanted).count.accuracy for wanted in FORMALITIES}
        return {
            name: {**values, "average": mean([values[wanted] for wanted in FORMALITIES])}
            for name, values in accuracy.items()
        }

    def as_dict(self) -> Dict[str, Any]:
        """For JSON; ``accuracy`` is the average of the best prompts, or of the plain runs without prompts."""
        summaries = self.summaries()
        return {
            "accuracy": summaries["best" if self.prompted else "plain"]["average"],
            "sentences": len(self.plain[0].labels),
            "summaries": summaries,
            "best_prompts": {wanted: self.best(wanted).prompt for wanted in FORMALITIES if self.prompted},
            "best_decided": {
                wanted: self.best(wanted).count.decided for wanted in FORMALITIES if self.prompted
            },
            "runs": [run.as_dict() for run in (*self.plain, *self.prompted)],
        }

    def table(self, plain: str) -> str:
        """The runs, and below them the accuracies of both formalities and their average, as aligned tables.

        Args:
            plain: what the runs without prompt are called.
        """
        rows = [["wanted: context", "accuracy %", "right", "wrong", "both", "neither"]]
        for run in (*self.plain, *self.prompted):
            count = run.count
            numbers = map(str, (count.right, count.wrong, count.both, count.neither))
            rows.append([f"{run.wanted}: {run.prompt or plain}", percent(count.accuracy), *numbers])
        names = {"plain": plain, "mean": "mean over the prompts", "best": "best prompts"}
        summary = [["accuracy %", *FORMALITIES, "average"]]
        for name, values in self.summaries().items():
            summary.append([names[name], *map(percent, values.values())])
        lines = [aligned_table(rows), "", aligned_table(summary)]
        if self.prompted:
            lines += ["", *map(self._best_line, FORMALITIES)]
        return "\n".join(lines)

    def _best_line(self, wanted: str) -> str:
        best = self.best(wanted)
        decided, sentences = best.count.decided, len(best.labels)
        warning = f"\nwarning: its accuracy rests on {decided} of {sentences} translations"
        return f"best {wanted} prompt: {best.prompt}{warning if decided < FEW else ''}"

    def example_lines(self, references: Sequence[ContrastiveReference]) -> Iterator[str]:
        """One JSON object per run and sentence: what was wanted and what came out."""
        for run in (*self.plain, *self.prompted):
            for number, (translation, label) in enumerate(zip(run.translations, run.labels, strict=True), 1):
                record = {
                    "line": number,
                    "wanted": run.wanted,
                    "prompt": run.prompt,
                    "translation": translation,
                    "formality": label,
                    "reference": getattr(references[number - 1], run.wanted).text,
                }
                yield json.dumps(record, ensure_ascii=False)


def judge(
    translations: Mapping[str, Sequence[str]],
    references: Sequence[ContrastiveReference],
    occurs: Occurs = words_among,
    prompt: Optional[str] = None,
) -> List[FormalityRun]:
    """A run for each wanted formality.

    Args:
        translations: by wanted formality, one per reference.
    """
    return [
        FormalityRun(
            wanted,
            prompt,
            texts,
            [
                formality_of(text, reference, occurs)
                for text, reference in zip(texts, references, strict=True)
            ],
        )
        for wanted, texts in translations.items()
    ]


def control_formality(
    translate: Translate,
    sentences: List[str],
    references: Sequence[ContrastiveReference],
    prompts: Mapping[str, Sequence[str]] = PROMPTS,
    occurs: Occurs = words_among,
) -> FormalityReport:
    """Translate all sentences without context and with each prompt as their only context.

    Args:
        prompts: by the formality that each shall bring about; one may stand under both.
    """

    def translations(prompt: Optional[str]) -> List[str]:
        return translate(sentences, [{} if prompt is None else {"": prompt}] * len(sentences))

    plain = translations(None)
    prompted: List[FormalityRun] = []
    translated: Dict[str, List[str]] = {}  # a prompt may be tried for both formalities
    wanted_prompts = [(wanted, prompt) for wanted in FORMALITIES for prompt in prompts[wanted]]
    for wanted, prompt in tqdm(wanted_prompts, unit="prompt", disable=None):
        if prompt not in translated:
            translated[prompt] = translations(prompt)
        prompted += judge({wanted: translated[prompt]}, references, occurs, prompt)
    return FormalityReport(judge(dict.fromkeys(FORMALITIES, plain), references, occurs), prompted)
