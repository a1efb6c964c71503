"""What models read of the context: the part of the contract for authors that concerns batches.

A model says it as its ``context_format``. Its task puts such a context into every batch, as ``context`` of
``net_input``, and the model's encoder gets it as the one argument of ``encode_context``.
"""

from dataclasses import dataclass
from typing import Any, Optional, Tuple

from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.base.errors import BadInput


@dataclass(frozen=True)
class ContextFormat:
    """The context that a model reads besides fairseq's inputs, of a batch of B examples.

    The model has it as ``context_format``, an attribute of its class, or a property where an option decides.
    ``context`` is then a dictionary with the entries of its kind, tensors but for ``sizes``:

    - "window" (task ``document_window``): the context is in the source window, in which ``current_segment``
      (B,) sentences are before the current one; ``current_span`` (B, 2) is its first token and the first
      after it, pads not counted.
    - "rows" (task ``multi_source``): R sentences to encode, ``tokens`` (R, L), right-padded; ``index`` (B, C)
      says which of them are an example's C context sentences, -1 for none; ``distances`` and ``roles`` (B, C)
      say where each is (``context_options.Column``). ``sizes`` are the numbers of tokens, on the host
      (``ContextSizes``).
    - "vectors" (task ``metadata_context``): ``vectors`` (B, M, D) and their ``distances`` (B, M), which are
      named in ``absence``; ``rows`` (B, M) of the context store.
    - "tags" (task ``metadata_context``): ``tags`` (B, M), -1 for none, and ``distances`` (B, M).
    - each of them: ``target_context_sizes`` (B,), the sentences before the current one in the target window.

    Attributes:
        kind: one of these; "": the model reads fairseq's inputs alone.
        bos: whether each sentence of "rows" begins with the dictionary's ``<s>``.
        joined: whether the context sentences of an example are one sequence of "rows", joined with ``<sep>``,
            so that C is 1.
        reuse: whether the model takes the states of a context sentence that is also a current one of the
            batch from there: ``reused`` (Q,) names the Q rows of these, and ``index`` counts them before
            those of ``tokens``. A batch without such sentences has no such entry.
    """

    kind: str = ""
    bos: bool = False
    joined: bool = False
    reuse: bool = False


class ContextRequest:
    """What the models of a task, which provides some kinds of context, read: the task owns it, and its
    datasets look there for every batch. If they are made before the first model, batches have fairseq's
    inputs alone. With so many ``exchanges`` the criterion compares each sentence's context with random ones
    in validation."""

    exchanges = 0

    def __init__(self, provided: Tuple[str, ...] = ()):
        self.provided = provided
        self._adopted: Optional[ContextFormat] = None

    @property
    def format(self) -> ContextFormat:
        """What the models read."""
        return self._adopted or ContextFormat()

    def adopt(self, model: Any, arch: str) -> None:
        """Give from now on what ``model`` reads, which is nothing for one of fairseq's own. The models of an
        ensemble must read the same, because fairseq gives it to all of them."""
        asked = getattr(model, "context_format", ContextFormat())
        if asked.kind and asked.kind not in self.provided:
            provided = {name: getattr(task, "provides", ()) for name, task in TASK_REGISTRY.items()}
            able = sorted(name for name, kinds in provided.items() if asked.kind in kinds)
            if not able:
                kinds = ", ".join(sorted(set().union(*provided.values())))
                raise BadInput(f"--arch {arch}: expected a context of the kinds {kinds}, found {asked}")
            raise BadInput(f"--arch {arch} needs --task {' or '.join(able)}")
        known = self._adopted or asked
        if known.kind != asked.kind:
            found = f"{known.kind or 'none'} and {asked.kind or 'none'}"
            raise BadInput(f"an ensemble needs models with the same kind of context, found {found}")
        if known != asked:
            raise BadInput(f"an ensemble needs models that read the context alike, found {known}, {asked}")
        self._adopted = asked
