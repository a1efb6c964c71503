"""Names of files, folders and languages: the type of an option says whether a command reads or writes it."""

import os
import re
from typing import Any, ClassVar, Iterator, Sequence, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import check_matplotlib

STANDARD = "-"  # standard input or output; a file that is called so is "./-"
_OF_FOLDER = r"ctxmt\.json|dict\..+\.txt|spm\..+|results\.json|train\.log"
_OF_CORPUS = r"[a-z]{2}|docids|current|meta\..*"


class FileName(str):
    """The name of something on the disk; a ``str``, because fairseq and JSON take nothing else."""

    metavar: ClassVar[str] = "FILE"
    checked: ClassVar[Any] = staticmethod(option_types.name)  # raises ArgumentTypeError

    def __new__(cls, text: str) -> "FileName":
        return super().__new__(cls, cls.checked(text))


class Language(FileName):
    """A language's name, as the end of a file's name."""

    metavar = "LANG"
    checked = staticmethod(option_types.language)


class Input(FileName):
    """A file or folder that is read, or several of them with a comma or colon between."""

    def parts(self) -> Iterator[str]:
        yield from {str(self), *re.split("[,:]", self)} - {""}

    def files(self, languages: Sequence[str] = ()) -> Iterator[str]:
        """What must stay as it is: what is there, and what is read of a folder in these languages."""
        for part in self.parts():
            if os.path.exists(part):
                yield part
                read = (entry for entry in _entries(part) if re.fullmatch(_OF_FOLDER, entry))
                yield from (os.path.join(part, entry) for entry in read)


class Folder(Input):
    metavar = "DIR"


class Joined(Input):
    """Names of files or folders joined by ``os.pathsep``, none of them empty."""

    checked = staticmethod(option_types.names)


class Prefix(Input):
    """How the names of a corpus' files begin."""

    metavar = "PREFIX"

    def files(self, languages: Sequence[str] = ()) -> Iterator[str]:
        yield from super().files(languages)
        for part in self.parts():
            folder, start = os.path.split(part)
            for entry in _entries(folder or "."):
                end = entry[len(start) + 1 :]
                if entry == f"{start}.{end}" and (end in languages or re.fullmatch(_OF_CORPUS, end)):
                    yield os.path.join(folder, entry)


class Weighted(Prefix):
    """PREFIX, or PREFIX=RATIO."""

    metavar = "PREFIX[=RATIO]"

    def parts(self) -> Iterator[str]:
        yield from {str(self), self.rpartition("=")[0]} - {""}


class Named(Input):
    """PATH, or NAME=PATH."""

    metavar = "NAME=FILE"

    def parts(self) -> Iterator[str]:
        places = (place for place, character in enumerate(self) if character == "=")
        for text in (str(self), *(self[place + 1 :] for place in places)):
            yield from Input.parts(Input(text)) if text.strip() else ()


class Output(FileName):
    """A file that is written; ``beside`` are suffixes of the files with a picture's numbers."""

    beside: ClassVar[Tuple[str, ...]] = ()

    def check(self) -> None:
        """Raises BadInput: it cannot be made, whatever it is to hold."""

    def files(self) -> Iterator[str]:
        """What is known from the beginning to be written."""
        yield self
        yield from (os.path.splitext(self)[0] + suffix for suffix in self.beside)


class OutputFolder(Output):
    """A folder that is written; who writes it says when that cannot be."""

    metavar = "DIR"

    def files(self) -> Iterator[str]:
        yield from ()


class SharedFolder(OutputFolder):
    """A folder that several processes of a command look into; the first writes it."""


class OutputPrefix(OutputFolder):
    """How the names of several files begin that are written."""

    metavar = "PREFIX"
    checked = staticmethod(option_types.prefix)


class Picture(Output):
    """A picture, for which matplotlib is needed."""

    metavar = "FILE.png"

    def check(self) -> None:
        if os.path.splitext(self)[1] != ".png":
            raise BadInput("the name of a picture must end in .png", self)
        check_matplotlib()


class Chart(Picture):
    """A picture with its numbers in FILE.csv."""

    beside = (".csv",)


class Map(Picture):
    """A picture with its numbers in FILE.tsv and FILE.json."""

    beside = (".tsv", ".json")


class Scatter(Picture):
    """A picture of points, with them in FILE.csv and the rest in FILE.json."""

    beside = (".csv", ".json")


def _entries(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()
