"""Commands as dataclasses: a field is an option, its annotation says what the option takes.

    class Lengths(Command):
        '''Scores by the length of the source sentence: the text of --help.'''

        source: Input = argument("SRC", "the sentences that were translated, one per line")
        edges: List[int] = option("the last length of each bucket", [10, 20, 30])
        metric: Metric  # a group of options, and what is done with them
        json: Optional[Output] = option("write the numbers there too")

        def run(self) -> None: ...

What is Optional or has a default may be left out; a list takes several values, a bool is a flag, a Literal
one of several words. Numbers are positive where no other type is named. ``cli/arguments.py`` makes the
command line of it.
"""

import dataclasses
import inspect
import sys
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterator, List, Optional, Type

from ctxmt_fairseq.paths import Input, Language, Output


def argument(metavar: str, help: str, default: Any = None) -> Any:
    """A field that is given by its place on the command line."""
    return _field(default, metavar=metavar, help=help)


def option(
    help: str, default: Any = None, type: Optional[Callable[[str], Any]] = None, flag: str = "", **how: Any
) -> Any:
    """A field that is given by name.

    Args:
        type: what makes its value of the text; by default the annotation does.
        flag: its name, where that is not the field's; several with blanks between.
        how: further arguments of ``argparse.ArgumentParser.add_argument``.
    """
    return _field(default, flag=flag, help=help, **({"type": type} if type else {}), **how)


def group(options: Type["OptionGroup"]) -> Any:
    """A field that holds a group of options; nothing need be said where the annotation is the group."""
    return dataclasses.field(default_factory=options, metadata={"group": options})


def _field(default: Any, **how: Any) -> Any:
    if isinstance(default, list):
        return dataclasses.field(default_factory=default.copy, metadata={**how, "default": default})
    return dataclasses.field(default=default, metadata={**how, "default": default})


class OptionGroup:
    """Options that belong together, and what is done with them; its subclasses are dataclasses.

    Attributes:
        heading: under which --help shows them; "" among those of the command.
        exclusive: at most one of them is given, and exactly one if one is ``required``.
    """

    heading: ClassVar[str] = ""
    exclusive: ClassVar[bool] = False
    required: ClassVar[bool] = False

    if TYPE_CHECKING:

        def __init__(self, **options: Any): ...

    def __init_subclass__(cls) -> None:
        for name, kind in vars(cls).get("__annotations__", {}).items():
            if isinstance(kind, type) and issubclass(kind, OptionGroup) and name not in vars(cls):
                setattr(cls, name, group(kind))
        cls.__doc__ = cls.__doc__ or sys.modules[cls.__module__].__doc__
        dataclasses.dataclass(eq=False, repr=False, kw_only=True)(cls)

    def settings(self) -> Dict[str, Any]:
        """The value of every option by its name, those of groups among them."""
        found: Dict[str, Any] = {}
        for name, value in vars(self).items():
            found.update(value.settings() if isinstance(value, OptionGroup) else {name: value})
        return found


class Command(OptionGroup):
    """A command."""

    @classmethod
    def help(cls) -> str:
        """Its docstring, or that of its module."""
        return inspect.cleandoc(cls.__doc__ or "")

    def run(self) -> Optional[int]:
        """Do it; returns the exit code, if it is not 0."""
        raise NotImplementedError

    def start(self) -> Optional[int]:
        """``run``, once it is certain that the outputs can be written; what is read stays as it is."""
        from ctxmt_fairseq.files import check_outputs, keeping

        values = list(_flat(self.settings().values()))
        languages: List[str] = [value for value in values if isinstance(value, Language)]
        outputs = [value for value in values if isinstance(value, Output)]
        read = (path for value in values if isinstance(value, Input) for path in value.files(languages))
        with keeping(read):
            for output in outputs:
                output.check()
            check_outputs(*(path for output in outputs for path in output.files()))
            return self.run()


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value
