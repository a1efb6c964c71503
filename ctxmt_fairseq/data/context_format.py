"""What models want of the context, from the model to the batch."""

import copy
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.errors import BadInput


@dataclass(frozen=True)
class ContextFormat:
    """What a model reads besides fairseq's inputs; a model declares it as its ``context_format``.

    Attributes:
        kind: of context, from those that its task provides: "window" (where the current sentence stands),
            "rows" (sentences), "vectors", "tags"; "": none.
        bos: each sentence of "rows" begins with the dictionary's ``<s>``.
        joined: the sentences of "rows" in one sequence, joined with ``<sep>``.
        reuse: the model can take the states of current sentences for those of the context.
    """

    kind: str = ""
    bos: bool = False
    joined: bool = False
    reuse: bool = False


class WantedContext:
    """What the models of a task want: the task owns it, its datasets hold it and read it for every batch.

    They may be made before the first model, and then give fairseq's inputs alone.

    Args:
        provided: the kinds of context that the task can give.
        distinct: a batch holds each distinct sentence of the context once ("rows").
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
        """Give from now on what ``model`` wants, which is nothing for one of fairseq's own.

        Args:
            arch: its name, for messages.

        Raises:
            BadInput: its inputs are another task's; or they are not those of the model before it: fairseq
                gives all models of an ensemble the same.
        """
        wanted = getattr(model, "context_format", ContextFormat())
        if wanted.kind and wanted.kind not in self.provided:
            tasks = TASK_REGISTRY.items()
            able = sorted(name for name, task in tasks if wanted.kind in getattr(task, "provides", ()))
            raise BadInput(f"--arch {arch}: expected --task {' or '.join(able)}")
        known = self._adopted or wanted
        if known.kind != wanted.kind:
            kinds = " and ".join(form.kind or "none" for form in (known, wanted))
            raise BadInput(f"expected models with the same kind of context, found {kinds}")
        if known != wanted:
            raise BadInput(f"expected models that read the context alike, found {known}, {wanted}")
        self._adopted = wanted

    def once(self, distinct: bool) -> "WantedContext":
        """The same, as it is now, for a dataset of its own: each distinct sentence once, or not."""
        wanted = copy.copy(self)
        wanted.distinct = distinct
        return wanted
