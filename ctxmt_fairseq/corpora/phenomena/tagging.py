"""Tags the words of documents line by line, and makes test sets of them, which ``ctxmt contrast`` and ``ctxmt
score-forms`` read. Memory holds few lines, and what one document repeats."""

import itertools
import json
from collections import Counter, deque
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Deque, Dict, Iterable, Iterator, List, NamedTuple, Optional

from ctxmt_fairseq.corpora.linguistics.align import aligned_text
from ctxmt_fairseq.corpora.linguistics.annotate import annotated_text
from ctxmt_fairseq.corpora.phenomena.genders import Genders
from ctxmt_fairseq.corpora.phenomena.lines import Hit, Line, linked
from ctxmt_fairseq.corpora.phenomena.rules import Cohesion, Rules
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.text.alignment import iterate_alignment
from ctxmt_fairseq.text.annotation import iterate_annotation
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, tidy, together

Given = Optional[PathLike]
TAGS = {  # -> the context that decides
    "pronoun": "source-previous", "formality": "target-previous", "ellipsis": "source-previous",
    "inflection": "source-previous", "cohesion": "target-previous",
}  # fmt: skip


class TaggedLine(NamedTuple):
    """A line and its hits; ``before`` are the lines before it in its document, in their order."""

    line: Line
    hits: List[Hit]
    before: List[Line]


def tagged_lines(
    files: TextFiles, annotation: Iterable[Given], alignment: Given, context: int, workers: int
) -> Iterator[TaggedLine]:
    """Tag the lines of a corpus in their order.

    Args:
        annotation, alignment: files that other tools wrote; what is None is made here.
        context: how many lines before a line are looked at.
        workers: processes of annotation.
    """
    languages = files.source_lang, files.target_lang
    source, target = paths = files.path(languages[0]), files.path(languages[1])
    rules = Rules(*languages)
    genders = Genders(rules.target.get("determiners", {}), iterate_lines(target))
    words = (
        iterate_annotation(given, path) if given else annotated_text(path, language, workers=workers)
        for given, path, language in zip(annotation, paths, languages, strict=True)
    )
    if alignment is None:
        aligned = (line.pairs for line in aligned_text(paths))
    else:
        read = iterate_alignment(alignment, source, target)
        aligned = ([(i, j) for i, numbers in line.items() for j in numbers] for line in read)
    texts = ((path, map(str.strip, iterate_lines(path))) for path in paths)
    columns = [(target, files.pairs()), *texts, *zip(paths, words, strict=True), (target, aligned)]
    lines = (
        linked(pair, (source, target), (its, genders.filled_in(their)), links)
        for pair, source, target, its, their, links in together(columns)
    )
    for _, document in itertools.groupby(lines, key=lambda line: line.pair.document):
        cohesion = Cohesion()
        before: Deque[Line] = deque(maxlen=context)  # the nearest first
        for line in document:
            hits = [*rules.hits(line, before), *cohesion.hits(line)]
            yield TaggedLine(line, hits, list(reversed(before)))
            before.appendleft(line)


class Suites:
    """Writes ``NAME.jsonl`` for each phenomenon, with an example for each line that a line before it decides;
    ``NAME.current`` marks these lines. An example has the form that is expected; and candidates, where other
    forms differ in nothing but what context decides.
    """

    def __init__(self, folder: Path, end: ExitStack):
        self._files: Dict[str, List[BinaryIO]] = {
            tag: [end.enter_context(open(folder / f"{tag}.{kind}", "wb")) for kind in ("jsonl", "current")]
            for tag in TAGS
        }
        self.examples: Counter[str] = Counter()
        self.candidates: Counter[str] = Counter()  # examples that have some

    def add(self, tagged: TaggedLine) -> None:
        """Write the examples of the next line."""
        for tag, (records, current) in self._files.items():
            wanted = tagged.line.pair.current
            hits = [hit for hit in tagged.hits if hit.tag == tag and hit.distance and wanted]
            current.write(b"1\n" if hits else b"0\n")
            if hits:
                self.examples[tag] += 1
                self.candidates[tag] += bool(hits[0].others)
                records.write(f"{json.dumps(_record(tagged, hits[0]), ensure_ascii=False)}\n".encode())


def _record(tagged: TaggedLine, hit: Hit) -> Dict[str, Any]:
    line, pair, before = tagged.line, tagged.line.pair, [each.pair for each in tagged.before]
    word = line.target[hit.word]
    record: Dict[str, Any] = {
        "id": str(pair.line), "phenomenon": hit.tag, "distance": hit.distance, "context": TAGS[hit.tag],
        "source": [*(each.source for each in before), pair.source], "current": len(before),
        "expected": word.text, "reference": pair.target, **({"meta": pair.metadata} if pair.metadata else {}),
    }  # fmt: skip
    if hit.others:
        forms = [word.text, *(each.capitalize() if word.text[0].isupper() else each for each in hit.others)]
        targets = [tidy(line.text[: word.start] + form + line.text[word.end :]) for form in forms]
        record |= {"targets": [[*(each.target for each in before), last] for last in targets], "correct": 0}
    return record
