"""Starting a context-aware model from a sentence-level one."""

import logging
from pathlib import Path

from torch import nn

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.fairseq_fixes import peek

logger = logging.getLogger(__name__)


def load_sentence_model(model: nn.Module, path: str) -> None:
    """Take over every parameter of the checkpoint ``path`` that ``model`` has too, and say what was not.

    Raises:
        BadInput: no such checkpoint, a parameter of another shape (another size, or another dictionary), or
            no parameter in common.
    """
    saved = peek(Path(path))["model"]
    own = model.state_dict()
    common = {name: value for name, value in saved.items() if name in own and value.dim()}
    for name, value in common.items():
        if value.shape != own[name].shape:
            shapes = tuple(own[name].shape), tuple(value.shape)
            raise BadInput(f"{name}: expected the shape {shapes[0]}, found {shapes[1]}", Path(path))
    if not common:
        raise BadInput("expected a transformer; it has no parameter in common with this model", Path(path))
    model.load_state_dict(common, strict=False)
    for what, names in (("new", own.keys() - saved.keys()), ("not used", saved.keys() - own.keys())):
        logger.info("%s: %d parameters %s: %s", path, len(names), what, ", ".join(sorted(names)) or "none")
    logger.info("%s: %d parameters taken over", path, len(common))
