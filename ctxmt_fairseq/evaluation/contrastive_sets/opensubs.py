"""The English-French pronoun sets of Lopes et al. (2020): text files with two lines for each example."""

import re
from pathlib import Path
from typing import Any, Iterator, List, Optional, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    Candidate,
    ContrastiveExample,
    Sentences,
    drop_padding,
    make_example,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat
from ctxmt_fairseq.text.json_files import Place
from ctxmt_fairseq.text.text_lines import PathLike, read_sentences

PRONOUNS = {"il", "elle", "ils", "elles", "le", "la"}


@FORMATS.register("opensubs")
class OpenSubs(ContrastiveFormat):
    """``PREFIX.current.{src,trg}`` and the context files ``PREFIX.cN.context.{src,trg}``.

    The current files have two lines for each example, the correct translation and the wrong one. The files of
    N context sentences have 2N lines for each example, because the context is repeated for both candidates.
    The public extraction leaves all N lines empty if the document has fewer than N earlier sentences; an
    example takes its widest context that is not empty.

    The phenomenon is the correct pronoun; the files give no distance.

    Scoring: sum over the current sentence, because Lopes et al. (2020, "Document-level Neural MT: A
    Systematic Comparison") follow the protocol of ContraPro.
    """

    files = "a folder with a file *.current.src"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return any(path.glob("*.current.src"))

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        prefix = _prefix(path)
        source_path = path / f"{prefix}.current.src"
        source = read_sentences(source_path)
        if not source or len(source) % 2:
            raise BadInput(f"expected two lines per example, found {len(source)} lines", source_path)
        target = _read_lines(path / f"{prefix}.current.trg", len(source))
        count = len(source) // 2
        contexts = _read_contexts(path, prefix, count)
        for index in range(count):
            first = 2 * index
            place = Place(source_path, first + 2)
            if source[first] != source[first + 1]:
                correct = "the line before, which has the correct candidate"
                raise place.error(f"expected the same source as on {correct}")
            own = [context[index] for context in contexts]
            before, *sides = max(own, key=lambda sides: len(sides[0]), default=((), (), ()))
            texts = target[first : first + 2]
            yield make_example(
                place,
                id=str(index + 1),
                source_before=before,
                source=source[first],
                candidates=list(map(Candidate, sides, texts)),
                phenomenon=_pronoun(*texts),
            )


def _prefix(folder: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.current.src"))
    if len(names) != 1:
        raise BadInput(f"expected one file *.current.src, found {len(names)}", folder)
    return names[0][: -len(".current.src")]


def _read_lines(path: Path, expected: int) -> List[str]:
    lines = read_sentences(path)
    if len(lines) != expected:
        raise BadInput(f"expected {expected} lines, found {len(lines)}", path)
    return lines


def _read_contexts(folder: Path, prefix: str, count: int) -> List[List[Tuple[Sentences, ...]]]:
    """The source context and both candidates' target contexts, by size and then by example."""
    name = re.compile(re.escape(prefix) + r"\.c([1-9][0-9]*)\.context\.src")
    matches = (name.fullmatch(file.name) for file in folder.iterdir())
    sizes = sorted(int(match.group(1)) for match in matches if match)
    contexts = []
    for size in sizes:
        stem = f"{prefix}.c{size}.context"
        source, target = (_read_lines(folder / f"{stem}.{side}", 2 * size * count) for side in ("src", "trg"))
        rows = []
        for start in range(0, len(source), 2 * size):
            middle, end = start + size, start + 2 * size
            if source[start:middle] != source[middle:end]:
                message = "expected the same source context as the correct candidate has"
                raise BadInput(message, folder / f"{stem}.src", middle + 1)
            rows.append(drop_padding(source[start:middle], target[start:middle], target[middle:end]))
        contexts.append(rows)
    return contexts


def _pronoun(correct: str, wrong: str) -> str:
    """The pronoun of the correct translation that the wrong one replaces."""
    words = (re.findall(r"\w+", text.lower()) for text in (correct, wrong))
    pairs = zip(*words, strict=False)
    return next((a for a, b in pairs if a != b and {a, b} <= PRONOUNS), "pronoun")
