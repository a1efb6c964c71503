"""The contrastive sets: which there are, and what each tests."""

from dataclasses import dataclass
from typing import Callable, Iterator, List, Tuple

from ctxmt_fairseq.corpora.demo_corpus.twins import Example, TwinMaker

SOURCE, TARGET, NEXT, METADATA = "source-previous", "target-previous", "source-next", "metadata"
SUFFIXES = {"opensubs": "", "bawden": ".json", "voita": ".json", "jsonl": ".jsonl"}


@dataclass(frozen=True)
class Plan:
    """A set to make; the fields but the last are those of ``sets.json``.

    Attributes:
        twin: draws a twin of this set for a distance; no examples if the twin was not new.
    """

    name: str
    format: str
    phenomenon: str
    context: str
    distances: Tuple[int, ...]
    description: str
    twin: Callable[[TwinMaker, int], List[Example]]

    @property
    def path(self) -> str:
        """The set's file or folder below ``contrastive``."""
        return self.name + SUFFIXES[self.format]


@dataclass(frozen=True)
class ContrastiveSet:
    """A set's plan and its examples, twins side by side."""

    plan: Plan
    examples: List[Example]


def _pronoun(distance: int) -> Plan:
    description = f"il/elle, ils/elles, le/la by the gender of the antecedent at distance {distance}"
    return Plan(
        f"pronoun-distance-{distance}",
        "opensubs",
        "pronoun",
        SOURCE,
        (distance,),
        description,
        TwinMaker.pronoun,
    )


PLANS = (
    _pronoun(1),
    _pronoun(2),
    _pronoun(3),
    Plan(
        "lexical-choice",
        "bawden",
        "lexical-choice",
        SOURCE,
        (1,),
        "one of two senses of an English word, by the previous source sentence",
        TwinMaker.lexical_choice,
    ),
    Plan(
        "ellipsis",
        "voita",
        "ellipsis",
        SOURCE,
        (1,),
        "the verb that the English leaves out, by the previous sentence",
        TwinMaker.ellipsis,
    ),
    Plan(
        "lexical-cohesion",
        "voita",
        "lexical-cohesion",
        TARGET,
        (1, 2, 3),
        "one of two French forms of a name or noun, as translated before",
        TwinMaker.cohesion,
    ),
    Plan(
        "deixis", "voita", "deixis", TARGET, (1, 2, 3), "tu or vous, as translated before", TwinMaker.deixis
    ),
    Plan(
        "formality",
        "jsonl",
        "formality",
        METADATA,
        (0,),
        'tu or vous, by "Informal chit-chat" or "Formal conversation"',
        TwinMaker.formality,
    ),
    Plan(
        "formality-unseen",
        "jsonl",
        "formality",
        METADATA,
        (0,),
        "tu or vous, by texts that no document has, in words of stated formality",
        TwinMaker.formality_unseen,
    ),
    Plan(
        "speaker-gender",
        "jsonl",
        "speaker-gender",
        METADATA,
        (0,),
        "agreement with the speaker, by metadata",
        TwinMaker.speaker,
    ),
    Plan(
        "addressee-gender",
        "jsonl",
        "addressee-gender",
        METADATA,
        (0,),
        "agreement with the addressee, by metadata",
        TwinMaker.addressee,
    ),
    Plan(
        "cataphora",
        "jsonl",
        "cataphora",
        NEXT,
        (-1,),
        "il/elle, ils/elles by the gender of the thing that the next sentence names",
        TwinMaker.cataphora,
    ),
    Plan(
        "formality-zero-shot",
        "jsonl",
        "formality",
        METADATA,
        (0,),
        "tu or vous, by texts that share no stem of a content word with any document",
        TwinMaker.formality_zero_shot,
    ),
)
# What the documents show of a register that they do not state.
IMPLIED_PLANS = (
    Plan(
        "formality-genre",
        "jsonl",
        "formality",
        METADATA,
        (0,),
        "tu or vous, by a genre of the training documents",
        TwinMaker.implied_by_genre,
    ),
    Plan(
        "formality-plot",
        "jsonl",
        "formality",
        METADATA,
        (0,),
        "tu or vous, by a plot of the training documents",
        TwinMaker.implied_by_plot,
    ),
    Plan(
        "formality-previous",
        "jsonl",
        "formality",
        SOURCE,
        (1,),
        "tu or vous, by a previous sentence of the setting",
        TwinMaker.implied_by_sentence,
    ),
)


def contrastive_sets(maker: TwinMaker, examples: int, implied: bool = False) -> Iterator[ContrastiveSet]:
    """All sets, each with ``examples`` (an even number) examples, its distances in turn.

    Args:
        implied: also the sets of what implies the register.
    """
    for plan in PLANS + IMPLIED_PLANS * implied:
        made: List[Example] = []
        while len(made) < examples:
            made += plan.twin(maker, plan.distances[len(made) // 2 % len(plan.distances)])
        yield ContrastiveSet(plan, made)
