"""How models say what they want of the context, so that batches have it."""

import copy
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.errors import BadInput


@dataclass(frozen=True)
class ContextFormat:
    """What a model reads besides fairseq's inputs; a model declares it as its ``context_format``.

    Attributes:
        kind: the kind of context, which its task must provide: "window" (where the current sentence is),
            "rows" (sentences), "vectors", "tags"; "": none.
        bos: whether each sentence of "rows" begins with the dictionary's ``<s>``.
        joined: whether the sentences of "rows" are one sequence, joined with ``<sep>``.
        reuse: whether the model can take the states of current sentences for those of the context.
    """

    kind: str = ""
    bos: bool = False
    joined: bool = False
    reuse: bool = False


class WantedContext:
    """What the models of a task want. The task owns it; its datasets have it and read it for every batch.

    Datasets may be made before the first model; then batches have fairseq's inputs alone.

    Args:
        provided: the kinds of context that the task can give.
        distinct: whether a batch has each distinct sentence of the context once ("rows").
    """

    def __init__(self, provided: Tuple[str, ...] = (), distinct: bool = False):
        self.provided = provided
        self.distinct = distinct
        self._adopted: Optional[ContextFormat] = None

    @property
    def format(self) -> ContextFormat:
        """What the models want."""
        return self._adopted or ContextFormat()

    def adopt(self, model: Any, arch: str) -> None:
        """Want from now on what ``model`` wants; a model of fairseq's own wants nothing.

        Args:
            arch: its name, for messages.

        Raises:
            BadInput: the model needs another task; or it wants something else than the model before it, while
                fairseq gives all models of an ensemble the same inputs.
        """
        wanted = getattr(model, "context_format", ContextFormat())
        if wanted.kind and wanted.kind not in self.provided:
            tasks = TASK_REGISTRY.items()
            able = sorted(name for name, task in tasks if wanted.kind in getattr(task, "provides", ()))
            raise BadInput(f"--arch {arch} needs --task {' or '.join(able)}")
        known = self._adopted or wanted
        if known.kind != wanted.kind:
            kinds = " and ".join(form.kind or "none" for form in (known, wanted))
            raise BadInput(f"an ensemble needs models with the same kind of context, found {kinds}")
        if known != wanted:
            raise BadInput(f"an ensemble needs models that read the context alike, found {known}, {wanted}")
        self._adopted = wanted

    def once(self, distinct: bool) -> "WantedContext":
        """Copy it, as it is now, for a dataset that has each distinct sentence once, or not."""
        wanted = copy.copy(self)
        wanted.distinct = distinct
        return wanted
