"""Something to do as soon as a library has been imported, by whomever; it is not imported for that."""

import sys
import threading
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, Optional, Sequence


class AfterImport(MetaPathFinder):
    """Calls a function as soon as a library has been imported.

    The function may import modules of a package of its own that import the library too. Where one of these
    is the first to do so, it is not whole yet, and what imports it would fail; then the function is called
    as soon as the outermost of them is whole. What the function raises, that import raises; it is called
    again after the next one.

    Args:
        library: the top-level module to wait for.
        package: the function's own package.
        function: takes nothing; called a second time, it does nothing.
    """

    def __init__(self, library: str, package: str, function: Callable[[], Any]):
        self.library = library
        self.package = package
        self.function = function
        self._here = _Thread()

    def install(self) -> None:
        """Call the function, if the library is there already, or wait for it."""
        if sys.modules.get(self.library) is not None:
            self.function()
        elif self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Optional[ModuleType] = None
    ) -> Optional[ModuleSpec]:
        """Where the other finders find a module; its loader is watched, if it is one to wait for."""
        if name != self.library and not name.startswith(f"{self.package}."):
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Watched(spec.loader, self)
        return spec

    def execute(self, loader: Loader, module: ModuleType) -> None:
        """Execute a module; call the function if the library came with it and it was the outermost."""
        outermost, self._here.inside = not self._here.inside, True
        try:
            loader.exec_module(module)
            if module.__name__ == self.library:
                self._here.imported = True
            if outermost and self._here.imported and self.library in sys.modules:
                self.function()
                sys.meta_path.remove(self)
        finally:
            self._here.inside = not outermost


class _Thread(threading.local):
    """Only the thread that imports the library calls the function: two would wait for each other's imports.

    Attributes:
        inside: a module is being imported.
        imported: the library was.
    """

    inside = False
    imported = False


class _Watched(Loader):
    """A module's own loader; the module shows no trace of the watching."""

    def __init__(self, loader: Loader, waiting: AfterImport):
        self._loader = loader
        self._waiting = waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._waiting.execute(self._loader, module)
