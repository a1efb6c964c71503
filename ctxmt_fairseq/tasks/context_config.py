"""Makes fairseq's configuration of a task: the ``ContextOptions`` and the options that concern no context."""

from dataclasses import dataclass, make_dataclass
from typing import Any, Optional, Type

from fairseq.tasks.translation import TranslationConfig
from omegaconf import II

from ctxmt_fairseq.criterions.attention_regularisation import PAPERS_LAYERS
from ctxmt_fairseq.data.context_options import ContextOptions, explained

# How target windows are decoded.
DECODINGS = {
    "prefix": "the target context (earlier translations) is forced, and the current sentence decoded",
    "window": "whole target windows are decoded, and the current sentence is cut out",
}
_INTERNAL = "internal: the batches of an epoch depend on nothing but (seed, epoch)"


@dataclass
class TrainingConfig(TranslationConfig):
    """The options that the three tasks share and that concern no context."""

    sentence_checkpoint: Optional[str] = explained(
        None,
        "start from this sentence-level model, of fairseq's transformer (context_gru: of its own kind) with "
        "the sizes of --arch: all parameters that it has are taken over",
    )
    attention_highlights: Optional[str] = explained(
        None,
        "words of the training text that need context and the words that support them, as JSON lines (see "
        "docs/training.md), for --attention-weight",
    )
    attention_weight: float = explained(
        0.0,
        "weight of the loss that pulls the attention of highlighted words towards their support, beside any "
        "criterion",
    )
    attention_layers: str = explained(PAPERS_LAYERS, "the attentions that it pulls, and their layers")
    valid_contrast: Optional[str] = explained(
        None,
        "contrastive sets, joined by ':', whose accuracy each validation measures as ctxmt contrast does: "
        "contrast_accuracy of all, and contrast_accuracy_NAME of each",
    )
    valid_contrast_examples: Optional[int] = explained(
        None, "score at most so many examples of each set, drawn at random, always the same (default: all)"
    )
    decoding: str = explained("prefix", "; ".join(f"{name}: {how}" for name, how in DECODINGS.items()))
    seed: int = II("common.seed")
    reuse_dataloader: bool = explained(False, _INTERNAL)
    persistent_workers: bool = explained(False, _INTERNAL)


def config_of(options: Type[ContextOptions], name: str, module: str, base: type = TrainingConfig) -> Any:
    """Make fairseq's dataclass of a task, ``name`` in ``module``, with these options of the context.

    An option that the command line does not give is None: its value is the checkpoint's, or else the default.
    """
    made = []
    for option, each in options.all_fields.items():
        help = each.how["help"]
        if each.how["training"]:
            made.append((option, each.annotation, explained(each.default, help)))
        else:
            help += f" (default: the checkpoint's, or {each.default})"
            made.append((option, Optional[each.annotation], explained(None, help)))
    config = make_dataclass(name, made, bases=(base,))
    config.__module__ = module
    return config
