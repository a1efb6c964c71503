"""What is trained: the sizes and schedules of the two stages, and the rows of the tables."""

import re
from dataclasses import dataclass, replace
from typing import Dict, List, Mapping, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli import systems as known
from evidence.texts import HELP, SUBTITLES, Text

VOCABULARY = 2000  # pieces of one joint SentencePiece model

TRANSFORMER = f"--share-all-embeddings {known.SIZES['small'].dimensions}"
GRU = f"--share-all-embeddings {known.SIZES['small'].gru}"
TRAINING = f"""{known.COMMON} --dropout 0.1 --max-tokens 750
    --num-workers 0 --cpu --log-format json --log-interval 100
    --no-epoch-checkpoints --save-interval-updates 250 --keep-interval-updates 1 --validate-interval 100000"""


@dataclass(frozen=True)
class Stage:
    """A training on a data folder (``corpus.prepare``): so many updates with these flags of fairseq-train.

    Attributes:
        second: whether it goes on from a sentence-level model of seed 1.
        finds: how its data tells where context matters: a name of ``FINDERS``, whose models say what context
            saves on every word; ``tags``, those of ``ctxmt corpus tag``; "" for nothing.
    """

    data: str
    updates: int
    flags: str
    second: bool = False
    finds: str = ""


def _second(data: str, updates: int, flags: str = "", finds: str = "") -> Stage:
    """With a learning rate that falls to 0."""
    schedule = f"--lr 7e-4 --lr-scheduler polynomial_decay --warmup-updates 200 --total-num-update {updates}"
    return Stage(data, updates, f"{schedule} {flags}", second=True, finds=finds)


# The first learns to translate single sentences. The second goes on from it, for every system and the control
# alike, as long on the same sentences: those with a context and an ambiguous pronoun. Before, all that have a
# context were tried, for a short time.
SENTENCE = "--lr 2e-3 --warmup-updates 400"
LONG = "--dropout 0.2 --save-interval-updates 500"
STAGES = {
    "sentence": Stage("data", 10000, SENTENCE),
    # As the first stage begins, for candidates for its size: twice the batch, half as many updates.
    "search": Stage("data", 700, f"{SENTENCE} --max-tokens 1500"),
    "search-4000": Stage("data-4000", 700, f"{SENTENCE} --max-tokens 1500"),
    "context": _second("data-pronouns", 10000, LONG),
    "even": _second("data-pronouns-even", 10000, LONG),
    "odd": _second("data-pronouns-odd", 10000, LONG),
    **{
        f"{kind}{stage}": _second(f"data-{kind}{data}", 10000, f"{LONG} {weights}", finds=finds)
        for finds, kind in (("whole", ""), ("halves", "halves-"))
        for stage, data, weights in (
            ("weighted", "weighted", "--token-weights cxmi"),
            ("selected", "selected", ""),
            ("selected-weighted", "selected", "--token-weights cxmi"),
        )
    },
    "everything": _second("data-context", 10000, LONG),
    "starts": _second("data-starts", 10000, LONG),
    "upsampled": _second("data-upsampled", 10000, f"{LONG} --upsample pronoun=5", finds="tags"),
    "tagged": _second("data-tagged", 10000, f"{LONG} --token-weights pronoun=5", finds="tags"),
    "short": _second("data-context", 2800),
    "help": _second("data", 6000, LONG),
    "help-tagged": _second("data-tagged", 6000, f"{LONG} --token-weights tags", finds="tags"),
}

# --max-tokens counts a batch's context too: with these sizes an update of the second stage has about as many
# current sentences in every row: 26.6 (subtitles), 25.8 (help pages). (--count-current-tokens would keep that
# number, with windows that are mostly pads.)
DISCOUNTED = "--criterion context_discounted_label_smoothed_cross_entropy"
WINDOWS = f"{known.SYSTEMS['windows'].words} {DISCOUNTED}"
S2TO2 = f"{WINDOWS} --source-context 1 --target-context 1 --max-tokens 1440 --context-discount 1"
S4TO4 = f"{WINDOWS} --source-context 3 --target-context 3 --max-tokens 2350 --context-discount 1"
CD, SHIFT = "--context-discount 0.01", "--segment-positions shift"
RESTART = "--segment-positions restart"  # docs/results/protocol.md, what costs windows their BLEU


def _multi_source(name: str) -> str:
    return f"{known.SYSTEMS[name].words} --source-context 1 --target-context-on-source 1 --max-tokens 1970"


@dataclass(frozen=True)
class System:
    """A row of the tables.

    Attributes:
        stage: which training, of ``STAGES``.
        flags: of fairseq-train, beside those of the stage.
        seeds: as many as are wanted.
        text: what is learned and translated.
        family: rows ``FAMILYsentence``, from which the second stage starts, and ``FAMILYcontrol``.
        size: flags of the architecture's size.
        amp: whether the second stage may have matrix products in bfloat16 (where they are fast).
    """

    stage: str
    flags: str
    seeds: Tuple[int, ...] = (1, 2, 3)
    text: Text = SUBTITLES
    family: str = ""
    size: str = TRANSFORMER
    amp: bool = True

    @property
    def reads_context(self) -> bool:
        return bool(re.search(r"-context(-on-source)? [1-9]", self.flags))

    @property
    def reads_target(self) -> bool:
        """Whether target sentences are context, on either side."""
        return bool(re.search(r"--target-context(-on-source)? [1-9]", self.flags))

    @property
    def reads_windows(self) -> bool:
        """Whether source and target are windows, which can have other sizes than in training."""
        return "--target-context " in self.flags

    @property
    def arch(self) -> str:
        return re.findall(r"--arch (\S+)", self.flags)[-1]

    @property
    def embeds(self) -> bool:
        """Whether its context are sentence vectors, from a store."""
        return "--task metadata_context" in self.flags


REQUIRED: Dict[str, System] = {
    "sentence": System("sentence", WINDOWS),
    "control": System("context", f"{WINDOWS} --max-tokens 820"),
    "s2to2": System("context", S2TO2),
    "s2to2+CD": System("context", f"{S2TO2} {CD}"),
    "s2to2+shift+CD": System("context", f"{S2TO2} {CD} {SHIFT}"),
    "caching": System("context", _multi_source("caching")),
    "gated": System("context", _multi_source("gated")),
}
# With one seed, but for three of them. 2-to-1 has one target sentence, and so more sentences a token.
FURTHER: Dict[str, System] = {
    name: System("context", flags, (1,))
    for name, flags in {
        "s2to2+restart": f"{S2TO2} {RESTART}",
        "s2to2+restart+CD": f"{S2TO2} {RESTART} {CD}",
        "s2to2+restart+sizes": f"{S2TO2} {RESTART} --sample-context-size",
        "s2to2+restart+CD+sizes": f"{S2TO2} {RESTART} {CD} --sample-context-size",
        "s4to4": S4TO4,
        "s4to4+CD": f"{S4TO4} {CD}",
        "s4to4+shift+CD": f"{S4TO4} {CD} {SHIFT}",
        "s4to4+CD+sizes": f"{S4TO4} {CD} --sample-context-size",
        "2-to-1": f"{WINDOWS} --source-context 1 --max-tokens 1260",
        "s2to2+restart+CD+margin": f"{S2TO2} {RESTART} {CD} --criterion context_margin",
        "dual-encoder": _multi_source("dual-encoder"),
        "context-encoder": _multi_source("context-encoder"),
        "grouping": _multi_source("grouping"),
        "selecting": f"{_multi_source('grouping')} --shortening select",
        "averaging": f"{_multi_source('caching')} --shortening sentence",
        "gated+sizes": f"{_multi_source('gated')} --sample-context-size",
        "gated+coword": f"{_multi_source('gated')} --coword-dropout 0.1",
        "MTCue": f"{known.SYSTEMS['mtcue'].words} --source-context 1 --max-tokens 820",
        "CUE": f"{known.SYSTEMS['cue'].words} --source-context 1 --max-tokens 820",
    }.items()
}
RESTARTED = ("s2to2+restart", "s2to2+restart+CD")
for name in ("s2to2+restart", "2-to-1", "MTCue", "grouping", "selecting"):
    FURTHER[name] = replace(FURTHER[name], seeds=(1, 2, 3))
# The two best, trained on what FINDERS found: the loss weighted word by word, other sentences, and both.
# (s2to2+restart+CD decides more pronouns, and costs BLEU.)
BEST = {
    "gated": f"{_multi_source('gated')} {DISCOUNTED} --context-discount 1",
    "s2to2+restart": FURTHER["s2to2+restart"].flags,
}
FOUND_BY_HALVES = {
    "halves+weights": "halves-weighted",
    "halves+selection": "halves-selected",
    "halves+selection+weights": "halves-selected-weighted",
}
# The same, found by a model that was trained on the text that it searches; the loss weighted by the tags of
# phenomena; and all sentences that have a context: once, or several times where a tag is.
FINDINGS = {
    "weights": "weighted",
    "selection": "selected",
    "selection+weights": "selected-weighted",
    "tags": "tagged",
    "everything": "everything",
    "everything+upsampling": "upsampled",
}
NEEDS: Dict[str, System] = {
    **{
        f"{row}+{name}": System(stage, flags)
        for row, flags in BEST.items()
        for name, stage in FOUND_BY_HALVES.items()
    },
    **{f"gated+{name}": System(stage, BEST["gated"], (1,)) for name, stage in FINDINGS.items()},
    # Windows that also train on sentences which begin a document.
    **{f"{row}+starts": replace(FURTHER[row], stage="starts", seeds=(1,)) for row in RESTARTED},
}
# What rows are compared with that a machine trained without bfloat16.
FURTHER["float32-control"] = replace(REQUIRED["control"], seeds=(1,), amp=False)
# Without bfloat16 machines with and without AVX-512 train them alike, digit by digit.
GRUS: Dict[str, System] = {
    f"GRU-{name}": System(
        stage, f"{flags} {known.SYSTEMS['gru'].words}", (1,), family="GRU-", size=GRU, amp=False
    )
    for name, (stage, flags) in {
        "sentence": ("sentence", WINDOWS),
        "control": ("context", f"{WINDOWS} --max-tokens 820"),
        "s2to2": ("context", S2TO2),
    }.items()
}
# Of documents on help pages: the sentence-level model, the control and the best system with context (by the
# validation loss of seed 1) with three seeds, the others with one, as all in a second language.
BEST_HELP = "caching"
HELP_FLAGS = {
    "sentence": WINDOWS,
    "control": WINDOWS,
    "s2to2": S2TO2,
    "s2to2+restart": f"{S2TO2} {RESTART}",
    "s4to4+restart": f"{S4TO4} {RESTART} --max-tokens 2750",
    "s4to4+shift+CD": f"{FURTHER['s4to4+shift+CD'].flags} --max-tokens 2750",
    "caching": f"{_multi_source('caching')} --source-context 5 --target-context-on-source 5"
    " --max-tokens 8000",
}
OF_HELP: Dict[str, System] = {}
for language in ("de", "fr"):
    for name, flags in HELP_FLAGS.items():
        several = language == "de" and name in ("sentence", "control", BEST_HELP)
        OF_HELP[f"{language}-help-{name}"] = System(
            "sentence" if name == "sentence" else "help",
            flags,
            (1, 2, 3) if several else (1,),
            HELP[language],
            family=f"{language}-help-",
        )
OF_HELP["fr-help-s2to2+restart+tags"] = replace(OF_HELP["fr-help-s2to2+restart"], stage="help-tagged")
SYSTEMS = {**REQUIRED, **NEEDS, **FURTHER, **GRUS, **OF_HELP}
# What finds for others, and what did not suffice: evaluated, and run by name alone.
ATTEMPTS: Dict[str, System] = {
    "gated-even": System("even", BEST["gated"], (1,)),
    "gated-odd": System("odd", BEST["gated"], (1,)),
    "short-control": System("short", WINDOWS, (1,)),
    "short-s2to2+CD": System("short", f"{S2TO2} {CD}", (1,)),
}
EVALUATED = {**SYSTEMS, **ATTEMPTS}
# Candidates: validated, not evaluated, and run by the name "search" alone. Their flags override the above.
SEARCH: Dict[str, System] = {
    "search-base": System("search", WINDOWS, (1,)),
    "search-256-units": System("search", f"{WINDOWS} --encoder-embed-dim 256 --decoder-embed-dim 256", (1,)),
    "search-128-units": System("search", f"{WINDOWS} --encoder-embed-dim 128 --decoder-embed-dim 128", (1,)),
    "search-3-layers": System("search", f"{WINDOWS} --encoder-layers 3 --decoder-layers 3", (1,)),
    "search-lr-1e-3": System("search", f"{WINDOWS} --lr 1e-3", (1,)),
    "search-dropout-0.3": System("search", f"{WINDOWS} --dropout 0.3", (1,)),
    "search-750-tokens": System("search", f"{WINDOWS} --max-tokens 750 --max-update 1400", (1,)),
    "search-4000-pieces": System("search-4000", f"{WINDOWS} --max-tokens 1350", (1,)),
}
ALL = {**EVALUATED, **SEARCH}

Run = Tuple[str, int]  # a row and a seed
Finders = Mapping[str, Run]  # of parts of the training text
# Find where context matters, for all seeds: by what each word of the training text gains from it, and not
# from that of another document. Against no context, which these do not know, most of it is noise; and with
# --sample-context-size ``gated`` learns to leave its context out (docs/results/protocol.md).
FINDERS: Dict[str, Finders] = {
    "whole": {"context": ("gated", 1)},
    "halves": {"context-even": ("gated-odd", 1), "context-odd": ("gated-even", 1)},
}


def control_of(row: str) -> str:
    """The row that was trained as long, on the same text, without context."""
    return f"{ALL[row].family}control"


def start_of(row: str) -> Run:
    """The run that the second stage of a row starts from."""
    return f"{ALL[row].family}sentence", 1


def chosen(names: Sequence[str], seeds: int = 0) -> List[Run]:
    """The runs of names such as ``gated`` (all seeds), ``gated.2`` and ``search``; of none, all systems':
    the required before the others, first seeds first.

    Args:
        seeds: the first so many of each system that is named without one; 0 for all.

    Raises:
        BadInput: a name that is none.
    """
    if not names:
        every = [(row, seed) for row, system in SYSTEMS.items() for seed in system.seeds[: seeds or None]]
        return sorted(every, key=lambda run: (run[0] not in REQUIRED, run[1]))
    runs = []
    for name in names:
        if name == "search":
            runs += [(row, seed) for row, system in SEARCH.items() for seed in system.seeds]
        elif name in ALL:  # some names have dots
            runs += [(name, seed) for seed in ALL[name].seeds[: seeds or None]]
        else:
            row, _, seed = name.rpartition(".")
            if row not in ALL or not re.fullmatch("[1-9][0-9]{0,3}", seed):
                rows = ", ".join(ALL)
                raise BadInput(f"{name}: expected search, ROW or ROW.SEED, with ROW one of {rows}")
            runs.append((row, int(seed)))
    return list(dict.fromkeys(runs))
