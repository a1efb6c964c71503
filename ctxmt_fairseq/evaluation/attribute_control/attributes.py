"""Whether translations agree with attributes, such as the speaker's gender (Vincent et al. 2022, and MTCue,
section 3.2)."""

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.base.groups import grouped
from ctxmt_fairseq.base.tables import aligned_table, records_table
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.evaluation.attribute_control import judging
from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import AttributeExample
from ctxmt_fairseq.evaluation.attribute_control.judging import COUNTS, Occurs, OutcomeCount, mean, percent
from ctxmt_fairseq.evaluation.metrics import Translation, score_translation

Outcomes = Mapping[str, str]  # attribute -> outcome, of one translation


@dataclass(frozen=True)
class AttributeReport:
    """Outcomes of a set's translations, counted: by attribute and by value (``speaker = feminine``), over
    sentences that show it; of each sentence's attributes taken together by ``AttributeExample.combination``,
    and over all sentences."""

    attributes: Mapping[str, OutcomeCount]
    values: Mapping[str, OutcomeCount]
    combinations: Mapping[str, OutcomeCount]
    together: OutcomeCount

    @property
    def accuracy(self) -> Optional[float]:
        """The mean over the attributes, in percent: the one number of the EAMT 2022 task."""
        return mean([count.accuracy for count in self.attributes.values()])

    def as_dict(self) -> Dict[str, Any]:
        groups = {kind: getattr(self, kind) for kind in ("attributes", "values", "combinations")}
        counts = {
            kind: {name: one.as_dict() for name, one in group.items()} for kind, group in groups.items()
        }
        return {"accuracy": self.accuracy, **counts, "together": self.together.as_dict()}

    def table(self, plain: Optional["AttributeReport"] = None) -> str:
        """All counts as an aligned table, beside the accuracies of the set without context."""
        columns = {"": "{name}", "accuracy %": "{shown}", "no context %": "{plain}", **COUNTS}
        if plain is None:
            del columns["no context %"]
        beside = {name: percent(count.accuracy) for name, count in plain._rows()} if plain else {}
        records = [{"name": name, "plain": beside.get(name), **count.cells()} for name, count in self._rows()]
        means = {"shown": percent(self.accuracy), "plain": percent(plain.accuracy if plain else None)}
        records.append({"name": "mean over the attributes", **means, **dict.fromkeys(COUNTS, "")})
        return records_table(records, columns)

    def _rows(self) -> Iterator[Tuple[str, OutcomeCount]]:
        yield from self.attributes.items()
        yield from self.values.items()
        if self.combinations != self.values:  # some translations show several attributes
            yield from ((f"together: {name}", count) for name, count in self.combinations.items())
        yield "together: all", self.together


def judge_attributes(
    examples: Sequence[AttributeExample], translations: Sequence[str], occurs: Occurs = judging.whole_words
) -> List[Outcomes]:
    """For each example the outcome of each attribute that its translation shows."""
    return [
        {name: judging.outcome(text, one.expected[name], one.wrong[name], occurs) for name in one.expected}
        for one, text in zip(examples, translations, strict=True)
    ]


def attribute_report(examples: Sequence[AttributeExample], outcomes: Sequence[Outcomes]) -> AttributeReport:
    """Count the outcomes in each group; groups are sorted by name."""
    shown = [
        (example, name, found)
        for example, by_name in zip(examples, outcomes, strict=True)
        for name, found in by_name.items()
    ]
    joint = [judging.joint_outcome(list(by_name.values())) for by_name in outcomes]
    return AttributeReport(
        attributes=_count((name, found) for _, name, found in shown),
        values=_count((f"{name} = {example.attributes[name]}", found) for example, name, found in shown),
        combinations=_count(zip([example.combination for example in examples], joint, strict=True)),
        together=OutcomeCount.of(joint),
    )


def _count(named: Iterable[Tuple[str, str]]) -> Dict[str, OutcomeCount]:
    return {name: OutcomeCount.of(outcomes) for name, outcomes in sorted(grouped(named).items())}


def example_lines(
    examples: Sequence[AttributeExample], translations: Sequence[str], outcomes: Sequence[Outcomes]
) -> Iterator[str]:
    """One JSON object for each example: the attributes that were wanted, and the outcomes."""
    rows = zip(examples, translations, outcomes, strict=True)
    for number, (example, translation, by_name) in enumerate(rows, 1):
        record = {"line": number, "source": example.source, "attributes": dict(example.attributes),
                  "translation": translation, "outcomes": dict(by_name)}  # fmt: skip
        yield json.dumps(record, ensure_ascii=False)


Scores = Dict[str, Dict[str, float]]  # translation -> metric -> score


def reference_scores(
    examples: Sequence[AttributeExample],
    translations: Mapping[str, Optional[Sequence[str]]],
    steps: TextSteps,
) -> Scores:
    """The corpus scores of every translation (by name, if it was made), in the surface form of the system's
    target text; empty if not all examples have references."""
    references = [example.reference for example in examples if example.reference is not None]
    if len(references) < len(examples):
        return {}
    compared = [steps.surface(reference) for reference in references]
    found: Scores = {}
    for name, lines in translations.items():
        if lines is not None:
            text = Translation([steps.surface(line.strip()) for line in lines], [compared])
            scores = score_translation(text, steps.bleu_tokenizer, steps.lowercase)
            found[name] = {score.name: score.score for score in scores}
    return found


def scores_table(scores: Scores) -> str:
    """A row for each metric."""
    metrics = next(iter(scores.values()))
    rows = [["", *scores], *([name, *(f"{each[name]:.2f}" for each in scores.values())] for name in metrics)]
    return aligned_table(rows)
