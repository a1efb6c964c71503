"""Makes the contrastive sets: which there are, what each tests, and their files, in the layouts of the public
suites and as ctxmt JSON lines."""

import json
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

from ctxmt_fairseq.corpora.demo_corpus.twins import Example, TwinMaker

SOURCE, TARGET, NEXT, METADATA = "source-previous", "target-previous", "source-next", "metadata"
File = Tuple[str, str]  # path below the contrastive folder, text
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


PLANS = (
    *(Plan(f"pronoun-distance-{far}", "opensubs", "pronoun", SOURCE, (far,),
           f"il/elle, ils/elles, le/la by the gender of the antecedent at distance {far}", TwinMaker.pronoun)
      for far in (1, 2, 3)),
    Plan("lexical-choice", "bawden", "lexical-choice", SOURCE, (1,),
         "one of two senses of an English word, by the previous source sentence", TwinMaker.lexical_choice),
    Plan("ellipsis", "voita", "ellipsis", SOURCE, (1,),
         "the verb that the English leaves out, by the previous sentence", TwinMaker.ellipsis),
    Plan("lexical-cohesion", "voita", "lexical-cohesion", TARGET, (1, 2, 3),
         "one of two French forms of a name or noun, as translated before", TwinMaker.cohesion),
    Plan("deixis", "voita", "deixis", TARGET, (1, 2, 3), "tu or vous, as translated before",
         TwinMaker.deixis),
    Plan("formality", "jsonl", "formality", METADATA, (0,),
         'tu or vous, by "Informal chit-chat" or "Formal conversation"', TwinMaker.formality),
    Plan("formality-unseen", "jsonl", "formality", METADATA, (0,),
         "tu or vous, by texts that no document has, in words of stated formality",
         TwinMaker.formality_unseen),
    Plan("speaker-gender", "jsonl", "speaker-gender", METADATA, (0,),
         "agreement with the speaker, by metadata", TwinMaker.speaker),
    Plan("addressee-gender", "jsonl", "addressee-gender", METADATA, (0,),
         "agreement with the addressee, by metadata", TwinMaker.addressee),
    Plan("cataphora", "jsonl", "cataphora", NEXT, (-1,),
         "il/elle, ils/elles by the gender of the thing that the next sentence names", TwinMaker.cataphora),
    Plan("formality-zero-shot", "jsonl", "formality", METADATA, (0,),
         "tu or vous, by texts that share no stem of a content word with any document",
         TwinMaker.formality_zero_shot),
)  # fmt: skip
# These sets test what the documents show of a register that they do not state.
IMPLIED_PLANS = (
    Plan("formality-genre", "jsonl", "formality", METADATA, (0,),
         "tu or vous, by a genre of the training documents", TwinMaker.implied_by_genre),
    Plan("formality-plot", "jsonl", "formality", METADATA, (0,),
         "tu or vous, by a plot of the training documents", TwinMaker.implied_by_plot),
    Plan("formality-previous", "jsonl", "formality", SOURCE, (1,),
         "tu or vous, by a previous sentence of the setting", TwinMaker.implied_by_sentence),
)  # fmt: skip


def contrastive_sets(
    maker: TwinMaker, examples: int, implied: bool = False
) -> Iterator[Tuple[Plan, List[Example]]]:
    """Make all sets, each with an even number of examples, twins side by side, which take its distances in
    turn."""
    for plan in PLANS + IMPLIED_PLANS * implied:
        made: List[Example] = []
        while len(made) < examples:
            made += plan.twin(maker, plan.distances[len(made) // 2 % len(plan.distances)])
        yield plan, made


def as_files(plan: Plan, examples: List[Example]) -> Iterator[File]:
    """Write a set's files in its format."""
    if plan.format == "opensubs":
        yield from _opensubs(plan, examples)
    else:
        write = {"bawden": _bawden, "voita": _voita, "jsonl": _json_lines}[plan.format]
        yield plan.path, write(plan, examples)


def index_entry(plan: Plan, examples: List[Example]) -> Dict[str, object]:
    keys = ("name", "path", "format", "phenomenon", "context")
    return {
        **{key: getattr(plan, key) for key in keys},
        "distances": sorted({example.distance for example in examples}),
        "examples": len(examples),
        "description": plan.description,
    }


def _right_then_wrong(example: Example) -> List[List[str]]:
    return [example.targets[example.correct], example.targets[1 - example.correct]]


def _opensubs(plan: Plan, examples: List[Example]) -> Iterator[File]:
    """Lopes et al. (2020): two lines per example, right then wrong, with N lines of context each."""
    most = min(example.current for example in examples)
    lines: Dict[str, List[str]] = {}
    for example in examples:
        source = example.source[: example.current + 1]
        for target in _right_then_wrong(example):
            for side, sentences in (("src", source), ("trg", target)):
                lines.setdefault(f"current.{side}", []).append(sentences[-1])
                for size in range(1, most + 1):
                    lines.setdefault(f"c{size}.context.{side}", []).extend(sentences[-1 - size : -1])
    for name, text in lines.items():
        yield f"{plan.path}/OpenSubs.{name}", "\n".join(text) + "\n"


def _bawden(plan: Plan, examples: List[Example]) -> str:
    """Bawden et al. (2018): a block per twin, each example with its previous sentence."""
    blocks = {}
    for first in range(0, len(examples), 2):
        twins = []
        for example in examples[first : first + 2]:
            right, wrong = (target[-2:] for target in _right_then_wrong(example))
            twins.append({"src": example.source[-2:], "trg": {"correct": right, "incorrect": wrong}})
        blocks[str(first // 2 + 1)] = {"type": "disambig", "examples": twins}
    return json.dumps(blocks, ensure_ascii=False, indent=2) + "\n"


def _voita(plan: Plan, examples: List[Example]) -> str:
    """Voita et al. (2019): whole windows, sentences joined by ``_eos``."""
    records = [
        {"src": " _eos ".join(example.source), "dst": [" _eos ".join(target) for target in example.targets],
         "true_ind": example.correct, "ctx_dist": example.distance}
        for example in examples
    ]  # fmt: skip
    return json.dumps(records, ensure_ascii=False, indent=1)


def _json_lines(plan: Plan, examples: List[Example]) -> str:
    """ctxmt JSON lines, as the package describes them."""
    lines = []
    for number, example in enumerate(examples, 1):
        own = {key: getattr(example, key) for key in ("source", "current", "targets", "correct")}
        meta = {} if example.meta is None else {"meta": example.meta}
        record = {"id": f"{plan.name}-{number}", "phenomenon": plan.phenomenon, "distance": example.distance,
                  "context": plan.context, **own, **meta}  # fmt: skip
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines)
