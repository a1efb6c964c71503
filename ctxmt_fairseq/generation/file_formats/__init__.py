"""Files that are translated as they are: what ``ctxmt translate`` reads by the ending of their names.

A format is a class, which ``register_file_format`` gives its endings, also from ``--user-dir``.
"""

import importlib
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Callable, ClassVar, Dict, List, NamedTuple, Optional, Tuple, Type, TypeVar, Union

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.input_documents import InputDocuments
from ctxmt_fairseq.text.text_lines import open_text

LARGEST = 1 << 28  # bytes of a file that is kept in memory
_OTHERS = {  # a file with such an ending holds no sentences, line by line
    **dict.fromkeys((".docx", ".odt", ".rtf", ".pdf", ".epub"), "save it as text, a paragraph a line"),
    **dict.fromkeys((".pptx", ".xlsx", ".ods", ".csv"), "save it as .tsv"),
    ".markdown": "call it .md",
    ".pot": "call it .po",
    ".xhtml": "call it .html",
    ".ndjson": "call it .jsonl",
}


_ALIKE = {".htm": ".html", ".xlf": ".xliff", ".ssa": ".ass"}


class Reading(NamedTuple):
    """How a file is read.

    Attributes:
        source: the column with the text.
        document: the column with the document's id.
        pause: seconds between subtitles that end a document.
    """

    source: str = "source"
    document: str = "document"
    pause: float = 7.0


def ending_of(path: str) -> str:
    """How the name of a file ends, in small letters, whether it is compressed or not."""
    return Path(re.sub(r"\.(gz|xz|bz2|zst)$", "", path.lower())).suffix


def check_same_kind(source: str, output: str) -> None:
    """Raises BadInput: an output is called like another kind of file than its source."""
    kind, other = (_ALIKE.get(ending_of(path), ending_of(path)) for path in (source, output))
    if kind != other and (other in FORMATS or other in _OTHERS):
        raise BadInput(
            f"is written as {source} is: choose a name with {ending_of(source)} at its end", output
        )


class FileFormat(ABC):
    """A file of sentences; all that is no sentence comes out as it went in.

    Args:
        path: the file, which is read here, and refused if it is not of this format.
    """

    whole: ClassVar[bool] = True  # nothing can stand beside a translation, such as its score

    def __init__(self, path: str, how: Reading):
        self.path, self.how, self.ending = path, how, ending_of(path)

    @abstractmethod
    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        """Its sentences; ``render`` makes a file of the same kind of their translations."""

    def lines(self) -> List[str]:
        """The lines of the file, with their ends; only ``\\n`` ends a line."""
        return re.findall(r"[^\n]*\n|[^\n]+", self.text())

    def text(self) -> str:
        """The file as UTF-8, with its own line ends."""
        with open_text(self.path) as stream:
            content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise BadInput(f"is larger than {LARGEST >> 20} MiB", self.path)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise BadInput("is not UTF-8: convert it first, such as with iconv", self.path, line) from None
        if "\0" in text:
            raise BadInput("expected text, found NUL", self.path, text.count("\n", 0, text.index("\0")) + 1)
        return text


Format = TypeVar("Format", bound=Type[FileFormat])
FORMATS: Dict[str, Union[str, Type[FileFormat]]] = {  # our own by the names of their modules
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa"), "subtitles"),
    **dict.fromkeys((".po", ".xliff", ".xlf", ".html", ".htm", ".md"), "toolkit"),
    ".tsv": "table",
}


def register_file_format(*endings: str) -> Callable[[Format], Format]:
    """Register a format under the endings of its files (``.xyz``)."""

    def register(cls: Format) -> Format:
        FORMATS.update(dict.fromkeys(endings, cls))
        return cls

    return register


def file_format(path: str) -> Optional[Type[FileFormat]]:
    """The format of a file by its name; None: plain text, line by line. Others that are known are refused."""
    ending = ending_of(path)
    found: Any = FORMATS.get(ending)
    if isinstance(found, str):
        module = importlib.import_module(f"{__name__}.{found}")
        found = getattr(module, found.title())
    if found is None and ending in _OTHERS:
        raise BadInput(f"files of the kind {ending} are not read: {_OTHERS[ending]}", path)
    return found
