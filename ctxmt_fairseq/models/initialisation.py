"""Starting a context-aware model from a sentence-level one."""

import copy
import logging
from pathlib import Path
from typing import Any, Dict

import torch
from fairseq.models.transformer import TransformerModel

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.safe_checkpoints import read

logger = logging.getLogger(__name__)


def sentence_model_shapes(args: Any, task: Any) -> Dict[str, torch.Size]:
    """The parameters of fairseq's transformer with these options: their names and shapes."""
    args = copy.deepcopy(args)
    args.encoder_embed_path = args.decoder_embed_path = None
    with torch.device("meta"):  # without memory, and without a random number
        model = TransformerModel.build_model(args, task)
    return {name: parameter.shape for name, parameter in model.named_parameters()}


def load_sentence_model(model: Any, path: str) -> None:
    """Take over every parameter of the checkpoint ``path`` that ``model`` has too, and say what was not.

    Args:
        model: with ``sentence_parameters``, see ``SeparateContextModel``.

    Raises:
        BadInput: no such checkpoint, one that says what it may not, or one of another model: it lacks a
            parameter of a sentence-level model, or has one of another shape (another size, or another
            dictionary).
    """
    checkpoint = Path(path)
    saved, own = read(checkpoint, sections=("model",))["model"], model.state_dict()
    new = sorted(name for name, _ in model.named_parameters() if name not in saved)
    missing = [name for name in new if name in model.sentence_parameters]
    if missing:
        raise BadInput(
            f"expected a sentence-level model of this size, found one without {missing[0]}", checkpoint
        )
    common = {name: value for name, value in saved.items() if name in own}
    for name, value in common.items():
        if value.shape != own[name].shape:
            shapes = tuple(own[name].shape), tuple(value.shape)
            raise BadInput(f"{name}: expected the shape {shapes[0]}, found {shapes[1]}", checkpoint)
    model.load_state_dict(dict(common), strict=False)  # which may add to it
    for what, names in (("new", new), ("not used", sorted(saved.keys() - own.keys()))):
        logger.info("%s: %d parameters %s: %s", path, len(names), what, ", ".join(names) or "none")
    logger.info("%s: %d parameters taken over", path, len(common))
