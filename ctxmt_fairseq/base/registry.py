"""The names that an option may have, each with the class behind it."""

from typing import Callable, Dict, Iterator, List, Mapping, TypeVar

from ctxmt_fairseq.base.errors import BadInput

Value = TypeVar("Value")


class Registry(Mapping[str, Value]):
    """A mapping from names to classes, in the order of their registration; an unknown name is ``BadInput``,
    in which an entry is called ``what``, such as "a fusion"."""

    def __init__(self, what: str):
        self.what = what
        self._values: Dict[str, Value] = {}

    def register(self, *names: str) -> Callable[[Value], Value]:
        """A decorator that registers a class under one or several names, which must be new."""

        def add(value: Value) -> Value:
            for name in names:
                if name in self._values:
                    raise ValueError(f"{self.what} named {name} is registered already")
                self._values[name] = value
            return value

        return add

    def __getitem__(self, name: str) -> Value:
        """Raises BadInput: no such name."""
        if name not in self._values:
            raise BadInput(f"expected {self.what} from {', '.join(self)}, found {name!r}")
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def where(self, holds: Callable[[Value], bool]) -> List[str]:
        """The names of the entries for which ``holds`` is true."""
        return [name for name, value in self._values.items() if holds(value)]
