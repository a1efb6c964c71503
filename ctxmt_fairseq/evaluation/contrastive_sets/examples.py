"""What a contrastive set consists of, whatever its format."""

from dataclasses import dataclass, field, replace
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.text.json_files import Place

Sentences = Tuple[str, ...]


class Convention(NamedTuple):
    """How the log-probabilities of a candidate's tokens become one score: their "sum" or "mean", over the
    "current" sentence with its ``</s>``, or over the "window", with the target context."""

    reduction: str
    span: str

    def __str__(self) -> str:
        return f"{self.reduction}-{self.span}"


CONVENTIONS = tuple(Convention(r, s) for r in ("sum", "mean") for s in ("current", "window"))


@dataclass(frozen=True)
class Candidate:
    """One translation to choose from, and its target context, farthest sentence first, which belongs to it
    because the contexts of candidates differ in some suites."""

    before: Sentences
    current: str


@dataclass(frozen=True)
class ContrastiveExample:
    """A source sentence in context, and candidate translations of which one is correct.

    Attributes:
        source_before, source_after: the farthest previous sentence first, the nearest following one first.
        correct: the index of the correct candidate.
        distance: how many sentences back the sentence is that decides the choice; 0: the current one; -1: the
            following one; None: unknown.
        meta: other properties of the example that the suite gives.
        metadata: metadata that a model may read as context (task ``metadata_context``): texts by field.
    """

    id: str
    source_before: Sentences
    source: str
    source_after: Sentences
    candidates: Tuple[Candidate, ...]
    correct: int
    phenomenon: str
    distance: Optional[int]
    meta: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ContrastiveSet:
    """The examples of a suite in one of ``FORMATS``, and its own way to score them, of which the format's
    docstring says where it comes from. Its name is that of the file, without extension, or folder."""

    name: str
    format: str
    examples: Tuple[ContrastiveExample, ...]
    convention: Convention = Convention("sum", "current")


def make_example(
    place: Place, *, source_before: Sequence[str] = (), source_after: Sequence[str] = (), **fields: Any
) -> ContrastiveExample:
    """Make an example of its fields: check it, and merge identical candidates. By default the first one is
    correct, and the distance is unknown.

    ``ellipsis_infl`` of Voita et al. lists some candidates twice, which could only tie. One of its examples
    lists nothing but the correct candidate: it stays as it is, and is reported as a tie.
    """
    before, after = tuple(source_before), tuple(source_after)
    known: Dict[str, Any] = {"correct": 0, "distance": None, **fields}
    example = ContrastiveExample(source_before=before, source_after=after, **known)
    candidates, correct = tuple(example.candidates), example.correct
    if len(candidates) < 2:
        raise place.error(f"expected at least two candidates, found {len(candidates)}")
    if not 0 <= correct < len(candidates):
        raise place.error(f"expected a correct index from 0 to {len(candidates) - 1}, found {correct}")
    if not example.source.strip() or not all(candidate.current.strip() for candidate in candidates):
        raise place.error("the current sentence is empty, or a candidate's translation of it")
    distinct = tuple(dict.fromkeys(candidates))
    if len(distinct) == 1:
        distinct = candidates
    return replace(example, candidates=distinct, correct=distinct.index(candidates[correct]))


def example_of_texts(
    place: Place, source: Sequence[str], targets: Sequence[Sequence[str]], current: int = -1, **others: Any
) -> ContrastiveExample:
    """``make_example`` from whole texts, of which the target ones (of each candidate) end with the current
    sentence, and the source has it as number ``current`` (default: the last)."""
    current %= len(source)
    for target in targets:
        if len(target) != current + 1:
            wanted = f"{current + 1} target sentences, up to and including the current one"
            raise place.error(f"expected {wanted}, found {len(target)}")
    return make_example(
        place, source_before=source[:current], source=source[current], source_after=source[current + 1 :],
        candidates=[Candidate(tuple(target[:-1]), target[-1]) for target in targets], **others,
    )  # fmt: skip


def texts_of(examples: Iterable[ContrastiveExample]) -> Tuple[List[str], List[str]]:
    """The distinct source sentences of a set, and its distinct target sentences."""
    sides: Tuple[Dict[str, None], Dict[str, None]] = {}, {}
    for example in examples:
        sides[0].update(dict.fromkeys((*example.source_before, example.source, *example.source_after)))
        for candidate in example.candidates:
            sides[1].update(dict.fromkeys((*candidate.before, candidate.current)))
    return list(sides[0]), list(sides[1])


def drop_padding(*sides: Sequence[str]) -> Tuple[Sentences, ...]:
    """Contexts line by line, farthest first, without leading lines that are empty on all sides."""
    padding = next((at for at, lines in enumerate(zip(*sides, strict=True)) if any(lines)), len(sides[0]))
    return tuple(tuple(side[padding:]) for side in sides)
