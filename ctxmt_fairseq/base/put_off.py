"""Modules that take a third of a command's start and are needed by tasks alone that no context model has.

fairseq imports all its tasks and criterions; of those, ``sentence_prediction`` and ``audio_classification``
take functions from sklearn.metrics and scipy.stats. While fairseq is imported, stand-ins give functions that
import the module when they are called. Whoever wants more of such a module gets the module itself.
"""

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Iterator, NamedTuple

_MODULES = ("sklearn", "sklearn.metrics", "scipy.stats")


class _StandIn(ModuleType):
    def __init__(self, name: str):
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        self.__path__ = _Folder(self)  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return lambda *args, **kwargs: getattr(self.itself(), name)(*args, **kwargs)

    def itself(self) -> ModuleType:
        put_back()
        return importlib.import_module(self.__name__)


class _Folder(NamedTuple):
    """Where Python looks for the modules below a stand-in."""

    of: _StandIn

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.of.itself().__path__)


def put_off() -> None:
    """Put the stand-ins in place until ``put_back``, unless fairseq or a module is there already."""
    if "fairseq" in sys.modules or any(name in sys.modules for name in _MODULES):
        return
    sys.modules.update({name: _StandIn(name) for name in _MODULES})
    sys.modules["sklearn"].metrics = sys.modules["sklearn.metrics"]  # type: ignore[attr-defined]


def put_back() -> None:
    """Take the stand-ins away; the functions that somebody has of them go on working."""
    for name in _MODULES:
        if isinstance(sys.modules.get(name), _StandIn):
            del sys.modules[name]
