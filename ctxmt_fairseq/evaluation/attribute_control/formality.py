"""Judges the formality of translations by the annotated phrases of contrastive references (CoCoA-MT, IWSLT
2022), such as ``[F]Haben Sie[/F] das gehört?``, with several prompts as context (MTCue, appendix D).

The rules are those of the shared task (Nadejde et al. 2022; Anastasopoulos et al. 2022). Translations with
phrases of both references or of neither do not count for the accuracy, and their number is reported.
"""

import functools
import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import aligned_table, records_table
from ctxmt_fairseq.evaluation.attribute_control import judging
from ctxmt_fairseq.evaluation.attribute_control.formal_references import (
    FORMAL,
    FORMALITIES,
    INFORMAL,
    ContrastiveReference,
)
from ctxmt_fairseq.evaluation.attribute_control.judging import RIGHT, WRONG, Occurs, OutcomeCount, words_among
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

# The paper's first list of genres has a comma at its end.
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


def read_prompts(path: PathLike) -> Dict[str, List[str]]:
    """Read the prompts for each formality, in their order and each once.

    A line is ``formal TAB prompt``, ``informal TAB prompt``, or a prompt alone, which is tried for both, as
    MTCue's evaluation tried every context for either attribute (appendix D). Blank lines are skipped.
    """
    prompts: Dict[str, List[str]] = {formality: [] for formality in FORMALITIES}
    for number, line in enumerate(iterate_lines(path), 1):
        parts = [single_spaces(part) for part in line.split("\t", 1)]
        wanted, text = parts if len(parts) == 2 else ("", parts[0])
        if not wanted and not text:
            continue
        if wanted and wanted not in FORMALITIES or not text:
            either = f"a prompt, or {' or '.join(FORMALITIES)}, a tab and a prompt"
            raise BadInput(f"write {either}; found {line[:60]!r}", path, number)
        for formality in [wanted] if wanted else FORMALITIES:
            if text not in prompts[formality]:
                prompts[formality].append(text)
    for formality, texts in prompts.items():
        if not texts:
            raise BadInput(f"expected prompts for {formality} translation, found none", path)
    return prompts


# (sentences, metadata of each) -> translations
Translate = Callable[[List[str], Sequence[Mapping[str, str]]], List[str]]
FEW = 30  # formal or informal translations; even if all are right, the 95 % interval begins at 88.6


def formality_of(translation: str, reference: ContrastiveReference, occurs: Occurs = words_among) -> str:
    """``FORMAL`` or ``INFORMAL``; or ``BOTH`` or ``NEITHER`` (see ``outcome``)."""
    found = judging.outcome(translation, reference.formal.phrases, reference.informal.phrases, occurs)
    return {RIGHT: FORMAL, WRONG: INFORMAL}.get(found, found)


@dataclass(frozen=True)
class FormalityRun:
    """The translations of a set's sentences, and what ``formality_of`` says of each, when one formality was
    wanted by a prompt, if there was one."""

    wanted: str
    prompt: Optional[str]
    translations: Sequence[str]
    labels: Sequence[str]

    @property
    def count(self) -> OutcomeCount:
        """How many translations have the wanted formality."""
        other = INFORMAL if self.wanted == FORMAL else FORMAL
        return OutcomeCount.of({self.wanted: RIGHT, other: WRONG}.get(label, label) for label in self.labels)

    def as_dict(self) -> Dict[str, Any]:
        return {"wanted": self.wanted, "prompt": self.prompt, **self.count.as_dict()}


@dataclass(frozen=True)
class FormalityReport:
    """Accuracies of the wanted formality: a ``plain`` run for each without prompt (of a model without
    context, or of any system), and a model's runs with prompts, in order."""

    plain: Sequence[FormalityRun]
    prompted: Sequence[FormalityRun] = ()

    def runs(self, wanted: str) -> List[FormalityRun]:
        """The prompted runs of one formality."""
        return [run for run in self.prompted if run.wanted == wanted]

    def best(self, wanted: str) -> FormalityRun:
        """The run with the highest accuracy, the first if several have it (appendix D)."""
        return max(self.runs(wanted), key=lambda run: (run.count.decided > 0, run.count.accuracy or 0.0))

    def summaries(self) -> Dict[str, Dict[str, Optional[float]]]:
        """The accuracies without prompts, as mean over the prompts, and of the best prompts."""
        accuracy = {"plain": {run.wanted: run.count.accuracy for run in self.plain}}
        if self.prompted:
            accuracy["mean"] = {
                wanted: judging.mean([run.count.accuracy for run in self.runs(wanted)])
                for wanted in FORMALITIES
            }
            accuracy["best"] = {wanted: self.best(wanted).count.accuracy for wanted in FORMALITIES}
        return {
            name: {**values, "average": judging.mean([values[wanted] for wanted in FORMALITIES])}
            for name, values in accuracy.items()
        }

    def as_dict(self) -> Dict[str, Any]:
        """For JSON; ``accuracy`` is the average for the best prompts, or else for the plain runs."""
        summaries = self.summaries()
        best = {wanted: self.best(wanted) for wanted in FORMALITIES if self.prompted}
        return {
            "accuracy": summaries["best" if self.prompted else "plain"]["average"],
            "sentences": len(self.plain[0].labels),
            "summaries": summaries,
            "best_prompts": {wanted: run.prompt for wanted, run in best.items()},
            "best_decided": {wanted: run.count.decided for wanted, run in best.items()},
            "runs": [run.as_dict() for run in (*self.plain, *self.prompted)],
        }

    def table(self, plain: str) -> str:
        """Two aligned tables: the runs (``plain``: those without prompt), and the accuracies."""
        columns = {"wanted: context": "{name}", "accuracy %": "{shown}", **judging.COUNTS}
        runs = (
            {"name": f"{run.wanted}: {run.prompt or plain}", **run.count.cells()}
            for run in (*self.plain, *self.prompted)
        )
        names = {"plain": plain, "mean": "mean over the prompts", "best": "best prompts"}
        summary = [["accuracy %", *FORMALITIES, "average"]]
        for name, values in self.summaries().items():
            summary.append([names[name], *map(judging.percent, values.values())])
        lines = [records_table(runs, columns), "", aligned_table(summary)]
        if self.prompted:
            lines += ["", *map(self._best_line, FORMALITIES)]
        return "\n".join(lines)

    def _best_line(self, wanted: str) -> str:
        best = self.best(wanted)
        decided, sentences = best.count.decided, len(best.labels)
        warning = f"\nwarning: its accuracy rests on {decided} of {sentences} translations"
        return f"best {wanted} prompt: {best.prompt}{warning if decided < FEW else ''}"

    def example_lines(self, references: Sequence[ContrastiveReference]) -> Iterator[str]:
        """One JSON object for each run and sentence: what was wanted and what came out."""
        for run in (*self.plain, *self.prompted):
            rows = zip(run.translations, run.labels, references, strict=True)
            for number, (translation, label, reference) in enumerate(rows, 1):
                record = {"line": number, "wanted": run.wanted, "prompt": run.prompt,
                          "translation": translation, "formality": label,
                          "reference": getattr(reference, run.wanted).text}  # fmt: skip
                yield json.dumps(record, ensure_ascii=False)


def judge(
    translations: Mapping[str, Sequence[str]],
    references: Sequence[ContrastiveReference],
    occurs: Occurs = words_among,
    prompt: Optional[str] = None,
) -> List[FormalityRun]:
    """A run for each wanted formality, from the translations of all references by wanted formality."""
    runs = []
    for wanted, texts in translations.items():
        labels = [formality_of(*both, occurs) for both in zip(texts, references, strict=True)]
        runs.append(FormalityRun(wanted, prompt, texts, labels))
    return runs


def control_formality(
    translate: Translate,
    sentences: List[str],
    references: Sequence[ContrastiveReference],
    prompts: Mapping[str, Sequence[str]] = PROMPTS,
    occurs: Occurs = words_among,
) -> FormalityReport:
    """Translate all sentences without context, and with each prompt, listed by the formality that it asks
    for, as their only context. A prompt may be in both lists."""

    @functools.cache  # a prompt may be tried for both formalities
    def translations(prompt: Optional[str]) -> List[str]:
        return translate(sentences, [{} if prompt is None else {"": prompt}] * len(sentences))

    plain = judge(dict.fromkeys(FORMALITIES, translations(None)), references, occurs)
    prompted: List[FormalityRun] = []
    wanted_prompts = [(wanted, prompt) for wanted in FORMALITIES for prompt in prompts[wanted]]
    for wanted, prompt in tqdm(wanted_prompts, unit="prompt", disable=None):
        prompted += judge({wanted: translations(prompt)}, references, occurs, prompt)
    return FormalityReport(plain, prompted)
