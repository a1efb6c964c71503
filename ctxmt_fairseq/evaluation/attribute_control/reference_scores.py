"""BLEU and chrF of translations whose attributes are controlled, where the set has references."""

from typing import Dict, Mapping, Optional, Sequence

from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import AttributeExample
from ctxmt_fairseq.evaluation.metrics import Translation, score_translation
from ctxmt_fairseq.tables import aligned_table

Scores = Dict[str, Dict[str, float]]  # translation -> metric -> score


def reference_scores(
    examples: Sequence[AttributeExample],
    translations: Mapping[str, Optional[Sequence[str]]],
    steps: TextSteps,
) -> Scores:
    """Corpus scores of every translation; empty without references.

    Args:
        translations: by name, one line per example; None: not translated.
        steps: of the system's target text, of which both take the surface form.
    """
    references = [example.reference for example in examples if example.reference is not None]
    if len(references) < len(examples):
        return {}
    compared = [steps.surface(reference) for reference in references]
    return {
        name: {
            score.name: score.score
            for score in score_translation(
                Translation([steps.surface(line.strip()) for line in lines], [compared]),
                lowercase=steps.lowercase,
            )
        }
        for name, lines in translations.items()
        if lines is not None
    }


def scores_table(scores: Scores) -> str:
    """A row for each metric."""
    metrics = next(iter(scores.values()))
    rows = [["", *scores], *([name, *(f"{each[name]:.2f}" for each in scores.values())] for name in metrics)]
    return aligned_table(rows)
