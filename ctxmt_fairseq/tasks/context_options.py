"""The options that the three tasks share, and where their values come from."""

import logging
import math
from dataclasses import dataclass, field
from typing import Any, Dict, Optional

from fairseq.tasks.translation import TranslationConfig
from omegaconf import II

from ctxmt_fairseq.checkpoint_options import shown
from ctxmt_fairseq.criterions.highlighted_attention import PAPERS_LAYERS, parse_layers
from ctxmt_fairseq.data.windows import SELECTIONS, ContextOptions
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.search.current_sentence import KEEP

logger = logging.getLogger(__name__)

# Defaults are None: what the command line leaves open comes from the checkpoint, then from DEFAULTS.
DEFAULTS: Dict[str, Any] = {
    "source_context": 0,
    "source_context_after": 0,
    "target_context": 0,
    "target_context_on_source": 0,
    "context_selection": "document",
    "keep_sentence": "current",
}
SIZES = ("source_context", "source_context_after", "target_context", "target_context_on_source")
_HIDDEN = {"help": "internal: batches of every epoch depend on (seed, epoch) alone"}


@dataclass
class ContextConfig(TranslationConfig):
    """The options that the three tasks share: which sentences are context, in training and evaluation."""

    source_context: Optional[int] = field(
        default=None, metadata={"help": "previous source sentences (default: the checkpoint's, or 0)"}
    )
    source_context_after: Optional[int] = field(default=None, metadata={"help": "following source sentences"})
    target_context: Optional[int] = field(
        default=None, metadata={"help": "previous target sentences, on the target side"}
    )
    target_context_on_source: Optional[int] = field(
        default=None,
        metadata={"help": "previous target sentences on the source side; needs a joined dictionary"},
    )
    context_selection: Optional[str] = field(
        default=None, metadata={"help": f"which context: {', '.join(SELECTIONS)} (default: document)"}
    )
    keep_sentence: Optional[str] = field(
        default=None,
        metadata={"help": f"sentence of the decoded window to keep: {', '.join(KEEP)} (default: current)"},
    )
    sample_context_size: bool = field(
        default=False, metadata={"help": "draw each training example's context size from 0 to the maximum"}
    )
    coword_dropout: float = field(
        default=0.0,
        metadata={"help": "probability of masking a word of the current source sentence, in training"},
    )
    max_window_tokens: Optional[int] = field(
        default=None,
        metadata={"help": "leave out training examples whose source window is longer than this"},
    )
    max_sentence_tokens: Optional[int] = field(
        default=None,
        metadata={
            "help": "leave out training examples with an encoder input of more tokens than this: the current "
            "sentence, a context sentence; where an input joins sentences, so many for each of them"
        },
    )
    count_current_tokens: bool = field(
        default=False,
        metadata={
            "help": "make the batches that the same training sentences would have without context: "
            "--max-tokens counts current sentences alone, so that a step takes several times the memory"
        },
    )
    sentence_checkpoint: Optional[str] = field(
        default=None,
        metadata={
            "help": "start from this sentence-level model, of fairseq's transformer (context_gru: of its own "
            "kind) with the sizes of --arch: all parameters that it has are taken over"
        },
    )
    attention_highlights: Optional[str] = field(
        default=None,
        metadata={
            "help": "words of the training text that need context and the words that support them, as JSON "
            "lines (see the README), for --attention-weight"
        },
    )
    attention_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of the loss that pulls the attention of highlighted words towards their support, "
            "beside any criterion"
        },
    )
    attention_layers: str = field(
        default=PAPERS_LAYERS,
        metadata={"help": "the attentions that it pulls, and their layers"},
    )
    seed: int = II("common.seed")
    rebuild_batches: bool = field(default=True, metadata=_HIDDEN)
    reuse_dataloader: bool = field(default=False, metadata=_HIDDEN)
    persistent_workers: bool = field(default=False, metadata=_HIDDEN)


# The options that only the task metadata_context has, in a checkpoint's task state too.
METADATA_DEFAULTS: Dict[str, Any] = {"metadata_fields": "all", "current_vector": "yes"}


def saved_options(task_state: Optional[Dict[str, Any]], defaults: Dict[str, Any]) -> Dict[str, Any]:
    """The options in a checkpoint's task state.

    Args:
        defaults: the options of the task.

    Raises:
        BadInput: they are none, or one has another type than its default.
    """
    saved = (task_state or {}).get("context", {})
    if not isinstance(saved, dict):
        raise BadInput(f"the checkpoint's context options: expected a dictionary, found {shown(saved)}")
    for name in saved.keys() & defaults.keys():
        if type(saved[name]) is not type(defaults[name]):
            kind = type(defaults[name]).__name__
            raise BadInput(f"the checkpoint's {name}: expected {kind}, found {shown(saved[name])}")
    return {name: value for name, value in saved.items() if name in defaults}


def resolve_options(cfg: Any, state: Dict[str, Any], defaults: Dict[str, Any] = DEFAULTS) -> Dict[str, Any]:
    """Each option's value: the command line's, else the checkpoint's, else the default."""
    values = {}
    for name, default in defaults.items():
        value = getattr(cfg, name, None)
        values[name] = state.get(name, default) if value is None else value
    return values


def warn_of_more_context(options: Dict[str, Any], trained: Dict[str, Any]) -> None:
    """Warn where a model is about to see more sentences than in its training.

    Args:
        options: the values that count. trained: those of the checkpoint.
    """
    for name in SIZES:
        if name in trained and options[name] > trained[name]:
            logger.warning(
                "--%s %d: the model was trained with %d; windows larger than in training often make the "
                "translation much worse", name.replace("_", "-"), options[name], trained[name]
            )  # fmt: skip


def context_options(cfg: Any, state: Dict[str, Any], training: bool) -> ContextOptions:
    """The window of a split; sizes are sampled in training only."""
    values = resolve_options(cfg, state)
    del values["keep_sentence"]
    return ContextOptions(**values, sample_context_size=training and bool(cfg.sample_context_size))


def check(cfg: Any, state: Dict[str, Any], joined_dictionary: bool) -> None:
    """Stop on options that cannot work.

    Raises:
        BadInput: an option is out of range, or puts target text on the source side without a joint
            dictionary.
    """
    options = context_options(cfg, state, training=True)
    keep = resolve_options(cfg, state)["keep_sentence"]
    if keep not in KEEP:
        raise BadInput(f"--keep-sentence {keep}: expected one of {', '.join(KEEP)}")
    if not 0 <= cfg.coword_dropout < 1:
        raise BadInput(f"--coword-dropout {cfg.coword_dropout}: expected a probability below 1")
    parse_layers(cfg.attention_layers)
    if not 0 <= cfg.attention_weight < math.inf:
        raise BadInput(f"--attention-weight {cfg.attention_weight}: expected 0 or more")
    for name in ("max_window_tokens", "max_sentence_tokens"):
        value = getattr(cfg, name)
        if value is not None and value < 1:
            raise BadInput(f"--{name.replace('_', '-')} {value}: expected 1 or more")
    if options.target_text_on_source and not joined_dictionary:
        cause = (
            "--target-context-on-source"
            if options.target_context_on_source
            else f"--context-selection {options.context_selection}"
        )
        raise BadInput(f"{cause}: expected a joined dictionary (ctxmt preprocess --joined-dictionary)")
