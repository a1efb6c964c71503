"""A command line that the fuzzer starts from, and the options that it may add."""

import shlex
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence

Options = Dict[str, Optional[Sequence[str]]]  # good values; None: a flag


@dataclass(frozen=True)
class Command:
    """What the fuzzer spoils.

    Attributes:
        name: of the row in the table.
        line: a command line that works; names of files are those of the samples.
        inputs: how the names of the samples begin that it reads.
        weight: how often it is drawn, compared with the others: what is dear is drawn seldom.
        options: those that may be added.
        fixed: the line stays as it is; without its mistake it would work for hours.
    """

    name: str
    line: str
    inputs: str
    weight: int
    options: Options = field(default_factory=dict)
    fixed: bool = False

    @property
    def arguments(self) -> List[str]:
        return shlex.split(self.line)


def given(text: str) -> Options:
    """Options from text: ``--name`` with values joined by ``|``, or without."""
    options: Options = {}
    for part in text.split("--")[1:]:
        name, *values = part.split()
        options[f"--{name}"] = values[0].split("|") if values else None
    return options


LANGUAGES = "--source-lang en --target-lang fr"
