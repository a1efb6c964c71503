"""The names that an option may have, each with the class behind it."""

from typing import Callable, Dict, List, TypeVar

from ctxmt_fairseq.base.errors import BadInput

Value = TypeVar("Value")


class Registry(Dict[str, Value]):
    """Classes by name, in the order of their registration; an unknown name is ``BadInput``, in which an entry
    is called ``what``, such as "a fusion"."""

    def __init__(self, what: str):
        super().__init__()
        self.what = what

    def register(self, *names: str) -> Callable[[Value], Value]:
        """A decorator that registers a class under one or several names, which must be new."""

        def add(value: Value) -> Value:
            for name in names:
                if name in self:
                    raise ValueError(f"{self.what} named {name} is registered already")
                self[name] = value
            return value

        return add

    def __missing__(self, name: str) -> Value:
        raise BadInput(f"expected {self.what} from {', '.join(self)}, found {name!r}")

    def where(self, holds: Callable[[Value], bool]) -> List[str]:
        """The names of the entries for which ``holds`` is true."""
        return [name for name, value in self.items() if holds(value)]
