"""Which models a task can feed, and which can be fed together."""

from typing import Any, Iterable, List

from fairseq.tasks import TASK_REGISTRY

from ctxmt_fairseq.errors import BadInput


def architecture(cfg: Any) -> str:
    """The name of a model to be built."""
    return getattr(cfg, "arch", None) or cfg._name


def check_provided(wanted: Iterable[str], provided: Iterable[str], cfg: Any) -> None:
    """Raises BadInput: the model of ``cfg`` wants inputs that its task does not provide."""
    if set(wanted) <= set(provided):
        return
    able = [name for name, task in TASK_REGISTRY.items() if set(wanted) <= set(getattr(task, "provides", ()))]
    raise BadInput(f"--arch {architecture(cfg)}: expected --task {' or '.join(sorted(able))}")


def check_alike(first: List[str], other: List[str]) -> None:
    """Raises BadInput: two models of an ensemble want other inputs; fairseq gives all of them the same."""
    if first != other:
        names = " and ".join(", ".join(names) or "none" for names in (first, other))
        raise BadInput(f"expected models with the same context inputs, found {names}")
