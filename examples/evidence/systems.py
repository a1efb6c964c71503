"""What is trained: the sizes and schedules of the two stages, and the rows of the tables."""

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

VOCABULARY = 2000  # pieces of one joint SentencePiece model

# Of every system: two layers of 192 units on each side, tied embeddings.
MODEL = """--share-all-embeddings
    --encoder-layers 2 --encoder-embed-dim 192 --encoder-ffn-embed-dim 512 --encoder-attention-heads 4
    --decoder-layers 2 --decoder-embed-dim 192 --decoder-ffn-embed-dim 512 --decoder-attention-heads 4"""
TRAINING = """--optimizer adam --adam-betas (0.9,0.98) --label-smoothing 0.1 --dropout 0.1
    --max-tokens 750 --num-workers 0 --cpu --log-format json --log-interval 100
    --no-epoch-checkpoints --save-interval-updates 250 --keep-interval-updates 1 --validate-interval 100000"""


@dataclass(frozen=True)
class Stage:
    """A training on a data folder (``corpus.prepare``): so many updates with these flags of fairseq-train.

    Attributes:
        second: whether it goes on from the sentence-level model of seed 1.
    """

    data: str
    updates: int
    flags: str
    second: bool = False


def _second(data: str, updates: int, flags: str = "") -> Stage:
    """With a learning rate that falls to 0."""
    schedule = f"--lr 7e-4 --lr-scheduler polynomial_decay --warmup-updates 200 --total-num-update {updates}"
    return Stage(data, updates, f"{schedule} {flags}", second=True)


# The first learns to translate single sentences. The second goes on from it, for every system and the control
# alike, as long on the same sentences: those with a context and an ambiguous pronoun. Before, all that have a
# context were tried, for a short time.
SENTENCE = "--lr 2e-3 --lr-scheduler inverse_sqrt --warmup-updates 400"
STAGES = {
    "sentence": Stage("data", 10000, SENTENCE),
    # As the first stage begins, for candidates for its size: twice the batch, half as many updates.
    "search": Stage("data", 700, f"{SENTENCE} --max-tokens 1500"),
    "search-4000": Stage("data-4000", 700, f"{SENTENCE} --max-tokens 1500"),
    "context": _second("data-pronouns", 10000, "--dropout 0.2 --save-interval-updates 500"),
    "short": _second("data-context", 2800),
}

# --max-tokens counts a batch's context too: with these sizes an update of the second stage has about as many
# current sentences in every row, 26.6. (--count-current-tokens would keep that number, with windows that are
# mostly pads.)
WINDOWS = """--task document_window --arch concat_transformer
    --criterion context_discounted_label_smoothed_cross_entropy"""
S2TO2 = f"{WINDOWS} --source-context 1 --target-context 1 --max-tokens 1440"
MULTI_SOURCE = """--task multi_source --criterion label_smoothed_cross_entropy
    --source-context 1 --target-context-on-source 1 --max-tokens 1970"""


@dataclass(frozen=True)
class System:
    """A row of the tables.

    Attributes:
        stage: which training, of ``STAGES``.
        flags: of fairseq-train, beside those of the stage.
        seeds: as many as are wanted.
    """

    stage: str
    flags: str
    seeds: Tuple[int, ...] = (1, 2, 3)

    @property
    def reads_context(self) -> bool:
        return "-context 1" in self.flags or "-context-on-source 1" in self.flags


SYSTEMS: Dict[str, System] = {
    "sentence": System("sentence", WINDOWS),
    "control": System("context", f"{WINDOWS} --max-tokens 820"),
    "s2to2": System("context", S2TO2),
    "s2to2+CD": System("context", f"{S2TO2} --context-discount 0.01"),
    "s2to2+shift+CD": System("context", f"{S2TO2} --context-discount 0.01 --segment-positions shift"),
    "caching": System("context", f"{MULTI_SOURCE} --arch caching_transformer"),
    "gated": System("context", f"{MULTI_SOURCE} --arch gated_context_transformer"),
}
# What did not suffice: evaluated, and run by name alone.
ATTEMPTS: Dict[str, System] = {
    "short-control": System("short", WINDOWS, (1,)),
    "short-s2to2": System("short", S2TO2, (1,)),
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
START = ("sentence", 1)  # the run that the second stage starts from

Run = Tuple[str, int]  # a row and a seed


def chosen(names: Sequence[str], seeds: int = 0) -> List[Run]:
    """The runs of names such as ``gated`` (all seeds), ``gated.2`` and ``search``; of none, all systems',
    first seeds first.

    Args:
        seeds: the first so many of each system; 0 for all.

    Raises:
        ValueError: a name that is none.
    """
    if not names:
        every = [(row, seed) for row, system in SYSTEMS.items() for seed in system.seeds[: seeds or None]]
        return sorted(every, key=lambda run: (run[1], run != START))
    runs = []
    for name in names:
        if name == "search":
            runs += [(row, seed) for row, system in SEARCH.items() for seed in system.seeds]
            continue
        row, _, seed = (name, "", "") if name in ALL else name.rpartition(".")  # names may have dots
        if row not in ALL or seed and not seed.isdigit():
            raise ValueError(f"{name}: expected search, ROW or ROW.SEED, with ROW one of {', '.join(ALL)}")
        runs += [(row, int(seed))] if seed else [(row, each) for each in ALL[row].seeds]
    return list(dict.fromkeys(runs))
