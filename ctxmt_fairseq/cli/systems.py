"""Reads ``systems.yaml``: what ``fairseq-train`` is told of a system and of a size. Imports no torch."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence

import yaml


@dataclass(frozen=True)
class System:
    """A row of the table; what an attribute means stands in ``systems.yaml``."""

    purpose: str
    paper: str
    task: str
    architecture: str
    options: str = ""
    context: str = ""

    @property
    def words(self) -> str:
        """What makes the system, without its size and the extent of its context."""
        return f"--task {self.task} --arch {self.architecture} {self.options}".strip()


@dataclass(frozen=True)
class Size:
    """Dimensions, and settings of the training that suit them."""

    purpose: str
    training: str
    start: str = ""
    suffix: str = ""
    transformer: str = ""
    dimensions: str = ""
    gru: str = ""

    def architecture(self, name: str) -> str:
        """fairseq's name of an architecture in this size."""
        return self.transformer if self.transformer and name == "transformer" else name + self.suffix

    def dimensions_of(self, architecture: str) -> str:
        if architecture.startswith("context_gru"):
            return self.gru
        return "" if re.match("fconv|lstm", architecture) else self.dimensions  # which have others


PAPERS = Path(__file__).with_name("papers.bib")
_TABLE = yaml.safe_load(Path(__file__).with_name("systems.yaml").read_text(encoding="utf-8"))
COMMON: str = _TABLE["common"]
END: str = _TABLE["end"]
SYSTEMS: Dict[str, System] = {name: System(**row) for name, row in _TABLE["systems"].items()}
SIZES: Dict[str, Size] = {name: Size(**row) for name, row in _TABLE["sizes"].items()}


# Options of the tables that go with another one: they are left out where the user's own choice has none.
OF_CHOICES = {
    "--label-smoothing": ("--criterion", "label_smoothed|context_"),
    "--context-discount": ("--criterion", "context_"),
    "--adam-betas": ("--optimizer", "adam$|cpu_adam"),
    "--warmup-updates": ("--lr-scheduler", "inverse_sqrt|cosine|fixed|polynomial|reduce_lr|step"),
}


def read_options(words: Sequence[str]) -> Dict[str, List[str]]:
    """Options of a command line with their values; of those that name the same the last counts, and what
    stands before the first is under ""."""
    found: Dict[str, List[str]] = {"": []}
    values = found[""]
    for word in words:
        if re.match("--|-[a-z]$", word):
            option, equals, value = word.partition("=")
            found.pop(option, None)
            values = found[option] = [value] if equals else []
        else:
            values.append(word)
    return found
