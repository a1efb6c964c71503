"""Formality of translations by the annotated phrases of contrastive references (CoCoA-MT, IWSLT 2022).

The facts are those of the shared task: a translation is formal if annotated phrases of its formal reference
occur in it and none of its informal reference, and the other way round; the accuracy of a wanted formality is
the share of the translations that have it among those that have either. Translations with phrases of both or
of neither reference count nowhere, and so are reported. (Nadejde et al. 2022; Anastasopoulos et al. 2022)
"""

from dataclasses import dataclass
from typing import Dict, List, Mapping, Sequence, Tuple

from ctxmt_fairseq.data.documents import PathLike, read_sentences
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.annotated_references import (
    OPEN,
    AnnotatedReference,
    check_aligned,
    read_annotated,
)
from ctxmt_fairseq.evaluation.attribute_control.outcomes import RIGHT, WRONG, OutcomeCount, outcome
from ctxmt_fairseq.evaluation.attribute_control.phrases import Occurs, words_among

FORMAL, INFORMAL = "formal", "informal"
FORMALITIES = (FORMAL, INFORMAL)


@dataclass(frozen=True)
class ContrastiveReference:
    """A formal and an informal reference of one sentence."""

    formal: AnnotatedReference
    informal: AnnotatedReference


def read_references(
    formal: Sequence[PathLike], informal: Sequence[PathLike], beside: Mapping[str, Sequence[PathLike]]
) -> Tuple[List[ContrastiveReference], Dict[str, List[str]]]:
    """Annotated files (one of each formality per domain, say), one after the other.

    Args:
        beside: further files of the same lines, by the option that names them: sentences or translations.

    Returns:
        the references, and the lines of each option.

    Raises:
        BadInput: not as many files of one kind as of another, files of different lengths, a malformed
            annotation, or a formality without any.
    """
    for option, paths in (("--informal", informal), *beside.items()):
        if len(paths) != len(formal):
            raise BadInput(
                f"{option}: expected as many files as for --formal, {len(formal)}, found {len(paths)}"
            )
    references: List[ContrastiveReference] = []
    lines: Dict[str, List[str]] = {option: [] for option in beside}
    for number, pair in enumerate(zip(formal, informal, strict=True)):
        sides = [read_annotated(path) for path in pair]
        others = [paths[number] for paths in beside.values()]
        texts = [read_sentences(path) for path in others]
        check_aligned([*pair, *others], [*map(len, sides), *map(len, texts)])
        references += map(ContrastiveReference, *sides)
        for option, text in zip(beside, texts, strict=True):
            lines[option] += text
    for path, name in ((formal[0], FORMAL), (informal[0], INFORMAL)):
        if not any(getattr(reference, name).phrases for reference in references):
            raise BadInput(f"expected {name} references with phrases marked by {OPEN}, found none", path)
    return references, lines


def formality_of(translation: str, reference: ContrastiveReference, occurs: Occurs = words_among) -> str:
    """``FORMAL``, ``INFORMAL``, or as ``outcome`` both or neither."""
    found = outcome(translation, reference.formal.phrases, reference.informal.phrases, occurs)
    return {RIGHT: FORMAL, WRONG: INFORMAL}.get(found, found)


def count_formality(wanted: str, labels: Sequence[str]) -> OutcomeCount:
    """How many translations have the wanted formality.

    Args:
        wanted: ``FORMAL`` or ``INFORMAL``.
        labels: ``formality_of`` each translation.
    """
    other = INFORMAL if wanted == FORMAL else FORMAL
    return OutcomeCount.of({wanted: RIGHT, other: WRONG}.get(label, label) for label in labels)
