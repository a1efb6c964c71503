"""Finds the context of ContraPro's examples in documents or in the suite's context files."""

import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import Sentences, drop_padding
from ctxmt_fairseq.text.json_files import Place, get
from ctxmt_fairseq.text.text_lines import check_count, read_sentences

LIMIT = 32  # sentences kept on either side: far more than any model here reads


class Context(NamedTuple):
    """The sentences around an example: previous ones farthest first, following ones nearest first."""

    source_before: Sentences = ()
    target_before: Sentences = ()
    source_after: Sentences = ()


class Segment(NamedTuple):
    """An example's current sentence, its line (from 1) in the document, and how many candidates it has."""

    place: Place
    document: str
    line: int
    source: str
    candidates: int

    @classmethod
    def of(cls, place: Place, record: Any) -> "Segment":
        """Read the place from one of ContraPro's JSON objects."""
        line = get(place, record, "segment id", int)
        if line < 1:
            raise place.error(f"expected 'segment id' to be a line number from 1, found {line}")
        document, source = (get(place, record, key, str) for key in ("document id", "src segment"))
        return cls(place, document, line, source, 1 + len(get(place, record, "errors", list)))


def find_contexts(folder: Path, segments: Sequence[Segment]) -> List[Context]:
    """The context of every segment, at most ``LIMIT`` sentences before it and after it.

    The folder has either

    - documents, at any depth: ``document id`` names the target file (``YEAR/YEAR_FILM_ID.de``), the source
      file has the same name with another extension, and ``segment id`` is the current line, from 1; or
    - context files ``NAME.context.SRC`` and ``NAME.context.TGT`` with N lines for each candidate, farthest
      first, and no following sentences. Lines before the beginning of the document are padding and are left
      out.

    The letters of a source line must be those of ``src segment``.
    """
    if not folder.is_dir():
        raise BadInput("expected a folder of documents or of context files", folder)
    if any(folder.glob("*.context.*")):
        return _from_context_files(folder, segments)
    return _from_documents(folder, segments)


def _from_context_files(folder: Path, segments: Sequence[Segment]) -> List[Context]:
    (source_file, source), (target_file, target) = _read_context_files(folder, segments[0].document)
    check_count(target, len(source), source_file.name, target_file)
    candidates = sum(segment.candidates for segment in segments)
    size, rest = divmod(len(source), candidates)
    if rest or not size:
        wanted = f"a multiple of {candidates} lines, one per candidate"
        raise BadInput(f"expected {wanted}, found {len(source)}", source_file)
    contexts, start = [], 0
    for segment in segments:
        end, next_start = start + size, start + size * segment.candidates
        for lines, file in ((source, source_file), (target, target_file)):
            if lines[start:end] * segment.candidates != lines[start:next_start]:
                wanted = f"the same {size} lines for each of {segment.candidates} candidates"
                raise BadInput(f"expected {wanted}", file, start + 1)
        first = max(start, end - (segment.line - 1))
        contexts.append(Context(*drop_padding(source[first:end], target[first:end])))
        start = next_start
    return contexts


def _read_context_files(folder: Path, document: str) -> List[Tuple[Path, List[str]]]:
    """The source and the target file with their lines. The target file has the document's extension."""
    suffix = Path(document).suffix
    files = sorted(folder.glob("*.context.*"), key=lambda file: file.suffix == suffix)
    if [file.suffix == suffix for file in files] != [False, True]:
        names = ", ".join(file.name for file in files)
        wanted = f"*.context{suffix} and one *.context file of the source"
        raise BadInput(f"expected {wanted}, found {names}", folder)
    return [(file, read_sentences(file)) for file in files]


def _from_documents(folder: Path, segments: Sequence[Segment]) -> List[Context]:
    wanted = {segment.document for segment in segments}
    paths = {path.name: path for path in folder.rglob("*") if path.name in wanted}
    texts: Dict[str, Tuple[List[str], List[str]]] = {}
    contexts = []
    for segment in segments:
        place, name, line = segment.place, segment.document, segment.line
        if name not in paths:
            raise place.error(f"the document {name!r} is not in {folder}")
        if name not in texts:
            texts[name] = _read_document(paths[name])
        source, target = texts[name]
        if line > len(source):
            raise place.error(f"expected a line of {name!r}, which has {len(source)}, found {line}")
        if _letters(source[line - 1]) != _letters(segment.source):
            raise place.error(f"line {line} of the source of {name!r} is not 'src segment'")
        before, after = slice(max(0, line - 1 - LIMIT), line - 1), slice(line, line + LIMIT)
        contexts.append(Context(tuple(source[before]), tuple(target[before]), tuple(source[after])))
    return contexts


def _read_document(target: Path) -> Tuple[List[str], List[str]]:
    others = [path for path in target.parent.glob(f"{target.stem}.*") if path != target]
    if len(others) != 1:
        raise BadInput(f"expected one source file {target.stem}.* beside it, found {len(others)}", target)
    texts = read_sentences(others[0]), read_sentences(target)
    check_count(texts[1], len(texts[0]), others[0].name, target)
    return texts


def _letters(text: str) -> str:
    """Letters and digits alone, because releases of the corpus differ in spaces and punctuation."""
    return "".join(re.findall(r"\w", text.lower()))
