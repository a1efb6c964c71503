"""Measures ``ctxmt corpus tag`` on public sets whose answers are known, for the table of docs/training.md.

DATA and EVIDENCE_DIR are those of run.sh; the extras "linguistics" and "align" are needed. In the checkout:
  PYTHONPATH=examples DATA=.. python -m evidence.tagger
"""

import itertools
import operator
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Sequence, Tuple

from ctxmt_fairseq.base import exit_codes
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMALITIES
from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_set
from ctxmt_fairseq.text.text_lines import read_sentences
from ctxmt_fairseq.text.word_tags import iterate_tags
from evidence.commands import ctxmt
from evidence.layout import table
from evidence.workplace import workplace


class Document(NamedTuple):
    """Lines of both sides, and for each character of the last target line, blanks left out, whether it has
    the tag."""

    source: Sequence[str]
    target: Sequence[str]
    answer: List[bool]


class Known(NamedTuple):
    """A set.

    Attributes:
        learn: the folder of a text to learn the alignment from, besides the set.
        by_document: whether one answer of a document is enough.
        complete: whether other words have not got the tag, so that precision can be told.
    """

    name: str
    tag: str
    target: str
    documents: List[Document]
    learn: str = ""
    by_document: bool = False
    complete: bool = True


def marked(folder: Path) -> Iterator[Document]:
    """CoCoA-MT: a document a line; what stands between [F] and [/F] has the tag."""
    sources = sorted(folder.glob("*.en"))
    if not sources:
        raise BadInput("expected files *.en there", folder)
    for source in sources:
        for form in FORMALITIES:
            language = folder.name.partition("-")[2]
            annotated = source.with_suffix(f".{form}.annotated.{language}")
            for line, reference in zip(read_sentences(source), read_sentences(annotated), strict=True):
                parts = reference.replace("[/F]", "[F]").split("[F]")  # outside, inside, outside, ..
                answer = [bool(at % 2) for at, part in enumerate(parts) for _ in _characters(part)]
                yield Document([line], ["".join(parts)], answer)


def differing(path: Path) -> Iterator[Document]:
    """A contrastive set: the words in which the correct candidate differs from another have the tag."""
    for example in read_contrastive_set(path).examples:
        correct = example.candidates[example.correct]
        others = (each.current.split() for each in example.candidates if each != correct)
        words = correct.current.split()
        places = {at for other in others for at, pair in enumerate(zip(words, other)) if len(set(pair)) > 1}  # noqa: B905
        answer = [at in places for at, word in enumerate(words) for _ in word]
        yield Document([*example.source_before, example.source], [*correct.before, correct.current], answer)


def measure(known: Known, data: Path, prefix: Path) -> Tuple[float, float]:
    """Precision and recall of ``ctxmt corpus tag`` in %, by words with letters; the files begin with
    ``prefix``."""
    documents = known.documents
    languages = ("en", known.target)
    columns = zip(
        *(pair for each in documents for pair in zip(each.source, each.target, strict=True)), strict=True
    )
    ids = [str(at) for at, each in enumerate(documents) for _ in each.source]
    for name, lines in zip((*languages, "docids"), (*columns, ids), strict=True):
        Path(f"{prefix}.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    alignment, tags = f"{prefix}.align", f"{prefix}.tags.jsonl"
    texts = [f"{prefix}.{language}" for language in languages]
    learn = ["--train", *(data / known.learn / f"train.{each}" for each in languages)] if known.learn else []
    ctxmt("corpus", "align", *texts, *learn, "--output", alignment)
    pair = ("--source-lang", "en", "--target-lang", known.target)
    ctxmt("corpus", "tag", prefix, *pair, "--alignment", alignment, "--output", tags)
    lines = iterate_tags(tags)
    right = tagged = found = wanted = 0
    for document in documents:
        *_, line = itertools.islice(lines, len(document.source))
        answer = iter(document.answer)
        answers = [
            any([next(answer) for _ in _characters(word)]) and has_letters(word) for word in line.words or ()
        ]
        tags_of_words = [known.tag in its for its in line.tags]
        hits = sum(map(operator.and_, answers, tags_of_words))
        right, tagged = right + hits, tagged + sum(tags_of_words)
        found += min(hits, 1) if known.by_document else hits
        wanted += any(answers) if known.by_document else sum(answers)
    return 100 * right / tagged, 100 * found / wanted


def _characters(text: str) -> str:
    return "".join(text.split())


def main(arguments: List[str]) -> None:
    if arguments:
        raise BadInput(f"expected no arguments, found {' '.join(arguments)}")
    place = workplace()
    sets, marks = place.corpora / "contrastive", place.corpora / "formality" / "cocoa-mt" / "train"
    pronouns, endings = sets / "en-fr-pronouns", sets / "en-ru-consistency" / "ellipsis_infl.json"
    every = [
        Known("CoCoA-MT, en-de", "formality", "de", list(marked(marks / "en-de")), "en-de-help"),
        Known("CoCoA-MT, en-fr", "formality", "fr", list(marked(marks / "en-fr")), "en-fr-subtitles"),
        Known("ellipsis_infl", "inflection", "ru", list(differing(endings)), by_document=True),
        Known(
            "en-fr-pronouns",
            "pronoun",
            "fr",
            list(differing(pronouns)),
            "en-fr-subtitles",
            True,
            complete=False,
        ),
    ]
    folder = place.work / "tagger"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, known in enumerate(every):
        precision, recall = measure(known, place.corpora, folder / str(number))
        rows.append([known.name, known.tag, f"{precision:.1f} %" * known.complete, f"{recall:.1f} %"])
    print(table(["set", "tag", "precision", "recall"], rows))


if __name__ == "__main__":
    sys.exit(exit_codes.run_command(main, sys.argv[1:]))
