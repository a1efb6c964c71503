"""Commands as classes whose typed fields are options, as a dataclass has them:

    class Lengths(Command):
        '''Scores by the length of the source sentence: the text of --help.'''

        source: Input = argument("SRC", "the sentences that were translated, one per line")
        edges: List[int] = option("the last length of each bucket", [10, 20, 30])
        metric: Metric  # a group of options, and what is done with them
        json: Optional[Output] = option("write the numbers there too")

        def run(self) -> None: ...

The annotation says what an option takes. What is Optional or has a default may be left out; a list takes
several values, a bool is a flag, a Literal one of several words. Numbers are positive where no other type is
named. ``cli/arguments.py`` makes the command line of it. These are plain classes, because dataclasses would
add 7 ms to the 60 ms that a --help takes.
"""

import sys
import textwrap
from contextlib import ExitStack, redirect_stdout, suppress
from contextvars import copy_context
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Optional, TextIO, Type, TypeVar, get_origin

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import STANDARD, Input, Language, Output
from ctxmt_fairseq.base.put_off import put_back

Group = TypeVar("Group", bound="OptionGroup")


class Field:
    """What the parser must know of an option, or of a group of options.

    Attributes:
        annotation: of the field.
        how: arguments of ``argparse.ArgumentParser.add_argument``; an option by name has its ``flag``. Of
            options that are no command's, what their class reads.
        group: whose options the field holds; nothing need be said where the annotation is the group.
    """

    annotation: Any = None

    def __init__(self, default: Any = None, group: Optional[Type["OptionGroup"]] = None, **how: Any):
        self.default, self.group, self.how = default, group, how

    def value(self) -> Any:
        """Where none is given."""
        if self.group is not None:
            return self.group()
        return list(self.default) if isinstance(self.default, list) else self.default


def argument(metavar: str, help: str, default: Any = None) -> Any:
    """A field that is given by its place on the command line."""
    return Field(default, metavar=metavar, help=help)


def option(
    help: str, default: Any = None, type: Optional[Callable[[str], Any]] = None, flag: str = "", **how: Any
) -> Any:
    """A field that is given by name.

    Args:
        type: what makes its value of the text; by default the annotation does.
        flag: its name, where that is not the field's; several with blanks between.
        how: further arguments of ``add_argument``.
    """
    how = {**how, "type": type} if type else how
    return Field(default, help=help, flag=flag, **how)


class OptionGroup:
    """Options that belong together, and what is done with them.

    Attributes:
        heading: under which --help shows them; "" among those of the command.
        exclusive: at most one of them is given, and exactly one if one is ``required``.
        own_fields, all_fields: by name, those of this class, and those that it inherits before them.
    """

    heading: ClassVar[str] = ""
    exclusive: ClassVar[bool] = False
    required: ClassVar[bool] = False
    own_fields: ClassVar[Dict[str, Field]] = {}
    all_fields: ClassVar[Dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        cls.own_fields = {}
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if get_origin(annotation) is not ClassVar:
                field = vars(cls).get(name)
                if isinstance(annotation, type) and issubclass(annotation, OptionGroup):
                    field = field or Field(group=annotation)
                if not isinstance(field, Field):
                    raise TypeError(f"{cls.__name__}.{name}: expected argument(..), option(..) or group")
                cls.own_fields[name], field.annotation = field, annotation
        bases: List[Any] = [base for base in reversed(cls.__mro__) if issubclass(base, OptionGroup)]
        cls.all_fields = {name: field for base in bases for name, field in base.own_fields.items()}

    def __init__(self, **values: Any):
        for name, field in self.all_fields.items():
            setattr(self, name, values.pop(name) if name in values else field.value())
        if values:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(values)}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def begin(self, end: ExitStack) -> None:
        """Do what the options say of the whole command, before its work, and note what is to be undone."""
        for value in vars(self).values():
            if isinstance(value, OptionGroup):
                value.begin(end)

    def changed(self: Group, **values: Any) -> Group:
        """Copy it with other values."""
        return type(self)(**{**vars(self), **values})

    def settings(self) -> Dict[str, Any]:
        """The value of every option by its name, those of groups among them."""
        found: Dict[str, Any] = {}
        for name in self.all_fields:
            value = getattr(self, name)
            found.update(value.settings() if isinstance(value, OptionGroup) else {name: value})
        return found


class Command(OptionGroup):
    """A command. If it ``passes_on``, options that are not its own (``others``) are for another program."""

    passes_on: ClassVar[bool] = False
    others = tuple[str, ...]()

    @classmethod
    def help(cls) -> str:
        """Its docstring, or that of its module."""
        first, _, rest = (cls.__doc__ or sys.modules[cls.__module__].__doc__ or "").partition("\n")
        return f"{first}\n{textwrap.dedent(rest)}".strip()

    def run(self) -> Optional[int]:
        """Do it; returns the exit code, if it is not 0."""
        raise NotImplementedError

    def inputs(self) -> List[Input]:
        """What is read."""
        return [value for value in _flat(self.settings().values()) if isinstance(value, Input)]

    def start(self) -> Optional[int]:
        """``run``, once it is certain that the outputs can be written; what is read stays as it is."""
        with ExitStack() as end:
            end.callback(put_back)
            return copy_context().run(self._start, end)

    def _start(self, end: ExitStack) -> Optional[int]:
        from ctxmt_fairseq.base.loggers import quiet_libraries

        quiet_libraries()
        self.begin(end)
        values, inputs = list(_flat(self.settings().values())), self.inputs()
        outputs = [value for value in values if isinstance(value, Output)]
        if inputs.count(Input(STANDARD)) > 1:
            raise BadInput("- is standard input, which only one option can read: give files for the others")
        if not (inputs or outputs):
            return self.run()
        from ctxmt_fairseq.base.files import check_outputs, keeping

        languages = [value for value in values if isinstance(value, Language)]
        with keeping(path for value in inputs for path in value.files(languages)):
            for output in outputs:
                output.check()
            check_outputs(*(path for output in outputs for path in output.files()))
            if not outputs:
                return self.run()
            with redirect_stdout(_ReadInPart(sys.stdout)):  # type: ignore[type-var]
                return self.run()


class _ReadInPart:
    """Standard output of a command that writes files, too: they are written though nobody reads this to its
    end, as with "| head"."""

    def __init__(self, stream: TextIO):
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> None:
        with suppress(BrokenPipeError):
            self.stream.write(text)

    def flush(self) -> None:
        with suppress(BrokenPipeError):
            self.stream.flush()


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value
