"""The options of context, each declared once.

A field is an option of fairseq's commands (``tasks/context_config.py``) and of ``ctxmt``'s, a keyword of
``Translator``, and, unless it concerns training alone, a value that is saved in checkpoints.
"""

import re
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, TypeVar

from ctxmt_fairseq.base.command import Field, OptionGroup
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import plain_number

SELECTIONS = ("document", "random", "shuffled", "empty", "absent", "reference", "swapped")
KEEP = ("current", "first")
PREVIOUS_SOURCE, FOLLOWING_SOURCE, TARGET = range(3)  # the roles of context sentences
Options = TypeVar("Options", bound="ContextOptions")


def option(
    default: Any,
    help: str,
    fits: Optional[Callable[[Any], Any]] = None,
    expected: str = "",
    training: bool = False,
    offered: bool = True,
) -> Any:
    """Declare an option.

    Args:
        fits, expected: tells which values it may have, and what an error says was expected; None always fits.
        training: whether it concerns training alone, so that evaluations and checkpoints do not know it.
        offered: whether the commands of ``ctxmt`` that run a model have it.
    """
    return Field(default, help=help, fits=fits, expected=expected, training=training, offered=offered)


def explained(default: Any, help: str) -> Any:
    """A field of fairseq's own configurations, with its text in --help."""
    from dataclasses import field  # late: it takes longer than the help of a command

    return field(default=default, metadata={"help": help})


def sentences(help: str) -> Any:
    return option(0, help, lambda value: 0 <= value <= 100, "a number of sentences from 0 to 100")


def one_of(choices: Tuple[str, ...], help: str, **more: Any) -> Any:
    names = ", ".join(choices)
    return option(choices[0], f"{help}: {names}", choices.__contains__, f"one of {names}", **more)


def tokens(help: str) -> Any:
    return option(None, help, lambda value: value >= 1, "1 or more", training=True)


def probability(help: str) -> Any:
    return option(0.0, help, lambda value: 0 <= value < 1, "a probability below 1", training=True)


def times_by_tag(text: str, least: float = 1, most: float = 100) -> Dict[str, float]:
    """Read ``pronoun=3,formality=1.5``: how often an example with a tag is seen, or what a word with
    it weighs, from ``least`` to ``most``; {}: it is no such text."""
    found = [re.fullmatch(r"([^=,\s]+)=([0-9]{1,4}(?:\.[0-9]{1,6})?)", part) for part in text.split(",")]
    times = {each[1]: float(each[2]) for each in found if each}
    complete = len(times) == len(found) and all(least <= value <= most for value in times.values())
    return times if complete else {}


class Column(NamedTuple):
    """A place for a context sentence: so many lines from the current one (0: its translation)."""

    target: bool
    offset: int

    @property
    def distance(self) -> int:
        return abs(self.offset) or 1

    @property
    def role(self) -> int:
        return TARGET if self.target else PREVIOUS_SOURCE if self.offset < 0 else FOLLOWING_SOURCE


class ContextOptions(OptionGroup):
    """The options that say which sentences are context; a task may have more."""

    source_context: int = sentences("previous source sentences")
    source_context_after: int = sentences("following source sentences")
    target_context: int = sentences("previous target sentences, on the target side")
    target_context_on_source: int = sentences(
        "previous target sentences on the source side; needs a joined dictionary"
    )
    context_selection: str = one_of(SELECTIONS, "which context")
    keep_sentence: str = one_of(KEEP, "sentence of the decoded window to keep", offered=False)
    sample_context_size: bool = option(
        False, "draw each training example's context size from 0 to the maximum", training=True
    )
    coword_dropout: float = probability(
        "probability of masking a word of the current source sentence, in training"
    )
    max_window_tokens: Optional[int] = tokens(
        "leave out training examples whose source window is longer than this"
    )
    max_sentence_tokens: Optional[int] = tokens(
        "leave out training examples with an encoder input of more tokens than this: the current "
        "sentence, a context sentence; where an input joins sentences, so many for each of them"
    )
    count_current_tokens: bool = option(
        False,
        "make the batches that the same training sentences would have without context: "
        "--max-tokens counts current sentences alone, so that a step takes several times the memory",
        training=True,
    )

    token_weights: Optional[str] = option(
        None,
        "weights of the target words in the loss: a file with a line of numbers for each line of the "
        "training text; tags, or TAG=W,..., for those of DATA/train.SRC-TGT.tags.jsonl; or cxmi, for the "
        "output of ctxmt probe --words at DATA/train.SRC-TGT.words.jsonl",
        training=True,
    )
    need_weight: float = option(
        5.0,
        "with --token-weights tags or cxmi, the weight of a word with a tag, or where context saves a bit",
        lambda value: 0 <= value <= 1000,
        "a number from 0 to 1000",
        training=True,
    )
    upsample: Optional[str] = option(
        None,
        "TAG=3, or several with commas between: see an example with this tag (of "
        "DATA/train.SRC-TGT.tags.jsonl) 3 times in an epoch; 2.5: twice, and once more in half of the epochs",
        times_by_tag,
        "TAG=TIMES, from 1 to 100, such as pronoun=3,formality=1.5",
        training=True,
    )

    def __init__(self, **values: Any):
        super().__init__(**values)
        for name, each in self.all_fields.items():
            value, fits = getattr(self, name), each.how["fits"]
            if value is not None and fits is not None and not fits(value):
                raise BadInput(f"{flag(name)} {value}: expected {each.how['expected']}")

    @classmethod
    def travelling(cls) -> Dict[str, Any]:
        """The options that are saved in checkpoints, with their defaults."""
        return {name: each.default for name, each in cls.all_fields.items() if not each.how["training"]}

    def evaluated(self: Options) -> Options:
        """Copy them without what concerns training alone."""
        training = {name: each.default for name, each in self.all_fields.items() if each.how["training"]}
        return self.changed(**training)

    @property
    def columns(self) -> Tuple[Tuple[Column, ...], Tuple[Column, ...]]:
        """The context sentences of the source side and of the target side, in their order."""
        if self.context_selection == "absent":
            return (), ()
        source = [*before(True, self.target_context_on_source), *before(False, self.source_context)]
        source += [Column(False, offset) for offset in range(1, self.source_context_after + 1)]
        if self.context_selection == "reference":  # a sanity check: it is all the source context
            source = [Column(True, 0)]
        return tuple(source), tuple(before(True, self.target_context))

    @property
    def reach(self) -> int:
        """How far the farthest context sentence is from the current one."""
        return max(getattr(self, name) for name in SIZES)

    @property
    def target_text_on_source(self) -> bool:
        """Whether an encoder reads source and target text, which needs a joined dictionary."""
        return self.target_context_on_source > 0 or self.context_selection in ("reference", "swapped")


class WindowOptions(ContextOptions):
    """The options of the task ``document_window``."""

    window_tokens: int = option(
        0,
        "take context sentences, the nearest first, while the source window, and the target context, have at "
        "most so many tokens (0: as many sentences as the other options say)",
        lambda value: 0 <= value < 2**20,
        "a number of tokens, or 0",
    )
    no_separator: bool = option(
        False,
        "nothing stands between the sentences of a source window: a flag tells them apart "
        "(--segment-positions flag), or nothing does; without --target-context",
        offered=False,
    )
    context_end: str = one_of(
        ("separator", "eos"),
        "what ends the context in a window: <sep> (the papers' rule), or </s>, on both sides, and also where "
        "there is no context (the program of Fernandes et al. 2021)",
        offered=False,
    )


class RowsOptions(ContextOptions):
    """The options of the task ``multi_source``."""

    batch_runs: int = option(
        0,
        "cut batches from runs of this many consecutive sentences, and encode each sentence of a batch once "
        "(0: batches of any sentences)",
        lambda value: value >= 0,
        "a number of sentences, or 0",
        training=True,
    )

    missing_context: str = one_of(
        ("none", "empty"),
        "what is in the place of context that a document does not have, nothing (the papers' rule) or a "
        "sentence without words (the program of sequence shortening)",
        offered=False,
    )

    def evaluated(self) -> "RowsOptions":
        """As of every task; but a training's validation makes its batches of spans, too."""
        return super().evaluated().changed(batch_runs=self.batch_runs)


class VectorOptions(ContextOptions):
    """The options of the task ``metadata_context``."""

    metadata_fields: str = option("all", "metadata to use: all, none, or names joined by commas")
    current_vector: str = one_of(("yes", "no"), "whether the current sentence's own vector is context too")
    context_dropout: float = probability(
        "probability of leaving out a vector, in training; one of a sample's always stays"
    )


# Every option of every task, by its name.
ALL = {**WindowOptions.all_fields, **RowsOptions.all_fields, **VectorOptions.all_fields}
SIZES = ("source_context", "source_context_after", "target_context", "target_context_on_source")


def given_options(options: Mapping[str, Any], known: Mapping[str, Any]) -> Dict[str, Any]:
    """Check options by the ``known`` ones, without those that are None; a path becomes text."""
    given = {name: plain_number(value) for name, value in options.items() if value is not None}
    given.update({name: str(value) for name, value in given.items() if isinstance(value, Path)})
    for name, value in given.items():
        if name not in known:
            raise BadInput(f"{flag(name)}: the models' task has no such option; it has {', '.join(known)}")
        if type(value) is not type(known[name]):
            raise BadInput(f"{flag(name)}: expected {type(known[name]).__name__}, found {value!r}")
    return given


def before(target: bool, size: int) -> Tuple[Column, ...]:
    """The columns of previous sentences, the farthest first."""
    return tuple(Column(target, -distance) for distance in range(size, 0, -1))


def flag(name: str) -> str:
    """The name of an option on the command line."""
    return "--" + name.replace("_", "-")
