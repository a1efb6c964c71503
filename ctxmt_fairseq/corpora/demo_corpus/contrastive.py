"""Makes the contrastive sets: which there are, and what each tests."""

from typing import Callable, Iterator, List, NamedTuple, Tuple

from ctxmt_fairseq.corpora.demo_corpus.twins import Example, TwinMaker

SOURCE, TARGET, NEXT, METADATA = "source-previous", "target-previous", "source-next", "metadata"
SUFFIXES = {"opensubs": "", "bawden": ".json", "voita": ".json", "jsonl": ".jsonl"}


class Plan(NamedTuple):
    """A set to make; the fields but the last are those of ``sets.json``. ``twin`` draws one for a distance,
    and gives no examples if it is not new."""

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


class ContrastiveSet(NamedTuple):
    """A set's plan and its examples, twins side by side."""

    plan: Plan
    examples: List[Example]


def _about(name: str, format: str, context: str, distances: Tuple[int, ...], description: str, twin) -> Plan:
    """A set whose phenomenon is its name."""
    return Plan(name, format, name, context, distances, description, twin)


def _pronoun(far: int) -> Plan:
    description = f"il/elle, ils/elles, le/la by the gender of the antecedent at distance {far}"
    return Plan(
        f"pronoun-distance-{far}", "opensubs", "pronoun", SOURCE, (far,), description, TwinMaker.pronoun
    )


def _formality(name: str, description: str, twin, context: str = METADATA, distance: int = 0) -> Plan:
    return Plan(name, "jsonl", "formality", context, (distance,), f"tu or vous, by {description}", twin)


PLANS = (
    *map(_pronoun, (1, 2, 3)),
    _about("lexical-choice", "bawden", SOURCE, (1,),
           "one of two senses of an English word, by the previous source sentence", TwinMaker.lexical_choice),
    _about("ellipsis", "voita", SOURCE, (1,),
           "the verb that the English leaves out, by the previous sentence", TwinMaker.ellipsis),
    _about("lexical-cohesion", "voita", TARGET, (1, 2, 3),
           "one of two French forms of a name or noun, as translated before", TwinMaker.cohesion),
    _about("deixis", "voita", TARGET, (1, 2, 3), "tu or vous, as translated before", TwinMaker.deixis),
    _formality("formality", '"Informal chit-chat" or "Formal conversation"', TwinMaker.formality),
    _formality("formality-unseen", "texts that no document has, in words of stated formality",
               TwinMaker.formality_unseen),
    _about("speaker-gender", "jsonl", METADATA, (0,), "agreement with the speaker, by metadata",
           TwinMaker.speaker),
    _about("addressee-gender", "jsonl", METADATA, (0,), "agreement with the addressee, by metadata",
           TwinMaker.addressee),
    _about("cataphora", "jsonl", NEXT, (-1,),
           "il/elle, ils/elles by the gender of the thing that the next sentence names", TwinMaker.cataphora),
    _formality("formality-zero-shot", "texts that share no stem of a content word with any document",
               TwinMaker.formality_zero_shot),
)  # fmt: skip
# These sets test what the documents show of a register that they do not state.
IMPLIED_PLANS = (
    _formality("formality-genre", "a genre of the training documents", TwinMaker.implied_by_genre),
    _formality("formality-plot", "a plot of the training documents", TwinMaker.implied_by_plot),
    _formality("formality-previous", "a previous sentence of the setting", TwinMaker.implied_by_sentence,
               SOURCE, 1),
)  # fmt: skip


def contrastive_sets(maker: TwinMaker, examples: int, implied: bool = False) -> Iterator[ContrastiveSet]:
    """Make all sets, each with an even number of examples, which take its distances in turn."""
    for plan in PLANS + IMPLIED_PLANS * implied:
        made: List[Example] = []
        while len(made) < examples:
            made += plan.twin(maker, plan.distances[len(made) // 2 % len(plan.distances)])
        yield ContrastiveSet(plan, made)
