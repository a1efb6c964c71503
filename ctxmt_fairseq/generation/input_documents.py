"""Text files of documents, and the line of the output that each sentence belongs to."""

import itertools
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput, named
from ctxmt_fairseq.text.documents import Documents, document_id
from ctxmt_fairseq.text.json_files import get, json_lines
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.text.text_lines import PathLike, check_count, iterate_lines, read_flags, read_sentences

ADDED = ("translation", "score")  # to the values of a record


class Translated(NamedTuple):
    """A sentence's translation; ``score`` is None if it is not asked for."""

    text: str
    score: Optional[float]


Render = Callable[["InputDocuments", Sequence[Optional[Translated]]], str]


def plain_lines(documents: "InputDocuments", found: Sequence[Optional[Translated]]) -> str:
    """A line for each line of the input; what is not translated has an empty one."""
    lines = [""] * documents.height
    for line, each in zip(documents.output_lines, found, strict=True):
        if each is not None:
            lines[line] = each.text if each.score is None else f"{each.score:.4f}\t{each.text}"
    return "".join(line + "\n" for line in lines)


@dataclass(frozen=True)
class InputDocuments:
    """Source text to translate.

    Attributes:
        sentences: source sentences.
        documents: their boundaries.
        current: (S,) bool; False for sentences that are only context.
        output_lines: (S,) the line of the output, from 0, that gets each sentence's translation.
        height: the number of lines of the output, which is that of the input.
        file: the input, for messages.
        before: lines of the file before these, for messages.
        render: makes the output's text of the S translations; None stands for what is not translated.
    """

    sentences: List[str]
    documents: Documents
    current: np.ndarray
    output_lines: np.ndarray
    height: int
    file: PathLike
    before: int = 0
    render: Render = plain_lines

    def place(self, sentence: int) -> str:
        """Name the place of a sentence in the input."""
        return f"{self.file}:{self.before + self.output_lines[sentence] + 1}"

    @classmethod
    def of_file(
        cls, file: PathLike, sentences: List[str], lines: Sequence[List[int]], height: int, **more: Any
    ) -> "InputDocuments":
        """Sentences that are all translated, with the lines of each document's, which may have none."""
        documents = Documents.from_lengths([len(each) for each in lines if each])
        numbers = np.fromiter(itertools.chain.from_iterable(lines), np.int64)
        return cls(sentences, documents, np.ones(len(sentences), bool), numbers, height, file, **more)


def separators_in_text(text: Any) -> Optional[str]:
    """Say how many sentences of a ``SourceText`` have the separator's name in them, and where; None: there
    are none. It is text there, which ``Subwords`` spells out."""
    places = [text.place(line) for line, sentence in enumerate(text.sentences) if SEPARATOR in sentence]
    return f"{SEPARATOR} is read as text in {len(places)} sentences: {named(places)}" if places else None


def read_with_ids(text: PathLike, docids: PathLike, current: Optional[PathLike] = None) -> InputDocuments:
    """Read a text, one document id per line and, if given, one 0 (only context) or 1 per line."""
    sentences = read_sentences(text)
    documents = Documents.read(docids, len(sentences))
    flags = np.ones(len(sentences), bool) if current is None else read_flags(current, len(sentences))
    return _aligned(sentences, documents, flags, text)


def read_parallel(prefix: PathLike, languages: Tuple[str, str]) -> Tuple[InputDocuments, List[str], str]:
    """Read ``PREFIX.SRC``, ``PREFIX.TGT`` and ``PREFIX.docids``, and ``PREFIX.current`` if it is there:
    source text and references, a line of each per sentence, and the file of the latter."""
    source, target = (f"{prefix}.{language}" for language in languages)
    flags = f"{prefix}.current"
    documents = read_with_ids(source, f"{prefix}.docids", flags if Path(flags).exists() else None)
    references = read_sentences(target)
    check_count(references, len(documents.sentences), source, target)
    return documents, references, target


def read_blank_line_documents(text: PathLike) -> InputDocuments:
    """Read a text with blank lines between documents; it cannot have empty sentences."""
    return _blank_line_documents(read_sentences(text), text)


def iterate_documents(text: PathLike) -> Iterator[InputDocuments]:
    """Yield the documents of such a text as soon as each has ended, with the blank line after it."""
    lines: List[str] = []
    before = 0
    for line in iterate_lines(text):
        lines.append(line.strip())
        if any(lines[-2:]) and not lines[-1]:
            yield _blank_line_documents(lines, text, before)
            before, lines = before + len(lines), []
    if lines:
        yield _blank_line_documents(lines, text, before)


def _blank_line_documents(read: Sequence[str], text: PathLike, before: int = 0) -> InputDocuments:
    lines: List[List[int]] = [[]]
    for number, sentence in enumerate(read):
        if sentence:
            lines[-1].append(number)
        else:
            lines.append([])
    sentences = [sentence for sentence in read if sentence]
    return InputDocuments.of_file(text, sentences, lines, len(read), before=before)


def read_joined(text: PathLike, joint: str) -> InputDocuments:
    """Read a document from each line, its sentences joined by ``joint``: the last one is translated, the
    others are its context. ctxpro and others publish the inputs of their test sets like this."""
    rows = [[part.strip() for part in line.split(joint)] for line in read_sentences(text)]
    lengths = [len(row) for row in rows]
    if max(lengths, default=1) == 1:
        raise BadInput(f"expected sentences joined by {joint!r}, found none", text)
    documents = Documents.from_lengths(lengths)
    flags = np.zeros(documents.sentences, bool)
    flags[documents.starts[1:] - 1] = True
    lines = np.repeat(np.arange(len(rows)), lengths)
    return InputDocuments([part for row in rows for part in row], documents, flags, lines, len(rows), text)


def read_json_lines(path: PathLike, source: str = "source", document: str = "document") -> InputDocuments:
    """Read one object per line: a text and its document's id (by these keys), ``current`` (true or false),
    which may be missing, and whatever else is to be written beside the translation."""
    sentences, ids, flags, records = [], [], [], []
    for place, record in json_lines(path):
        text = get(place, record, source, str)
        if document not in record:
            raise place.error(f'expected {{"{source}": ..., "{document}": ...}}')
        of, current = record[document], record.get("current", True)
        name = document_id(str(of)) if isinstance(of, (str, int)) else ""
        if not name or not isinstance(current, bool):
            raise place.error(f"{document} must not be empty, and current must be true or false")
        if "\n" in text or "\0" in text:
            raise place.error(f"{source} must be one line of text")
        if taken := [key for key in ADDED if key in record]:
            raise place.error(f"rename {taken[0]!r}, which the output adds")
        sentences.append(text.strip())
        ids.append(name)
        flags.append(current)
        records.append(record)
    read = _aligned(sentences, Documents.from_ids(ids), np.array(flags, bool), path)

    def render(_: InputDocuments, found: Sequence[Optional[Translated]]) -> str:
        lines = []
        for record, each in zip(records, found, strict=True):
            values = zip(ADDED, each or (), strict=False)
            added = {key: value for key, value in values if value is not None}
            lines.append(json.dumps({**record, **added}, ensure_ascii=False) + "\n")
        return "".join(lines)

    return replace(read, render=render)


def read_metadata(name: PathLike, documents: InputDocuments) -> List[Dict[str, str]]:
    """Read each sentence's metadata from a file of JSON objects, or from beside the text of this prefix."""
    lines = MetadataFiles.named(name).of_lines(documents.height)
    return [lines[line] for line in documents.output_lines]


def _aligned(sentences: List[str], documents: Documents, flags: np.ndarray, file: PathLike) -> InputDocuments:
    return InputDocuments(sentences, documents, flags, np.arange(len(sentences)), len(sentences), file)
