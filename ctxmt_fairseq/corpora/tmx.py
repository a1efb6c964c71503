"""TMX of web crawls to documents: pairs that stand behind each other and are from the same pages."""

from typing import Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.raw.tmx import Unit, read_units
from ctxmt_fairseq.corpora.raw.xml import PathLike

_Pages = Tuple[Tuple[str, ...], Tuple[str, ...]]  # of either side


def tmx_documents(
    paths: Sequence[PathLike], languages: Sequence[str], cleaning: Sequence[str] = ()
) -> Iterator[Part]:
    """The pairs of each document.

    A pair that is on several pages names all of them (``source-document``). A document is a run of pairs
    that have a page in common on either side, whichever it is: it goes on as long as one is left. Its id is
    the two addresses with a blank between them. A pair without address is a document by itself, whose id is
    its number.

    Args:
        languages: source and target.
        cleaning: names of steps (``corpora.cleaning``).

    Raises:
        BadInput: as ``read_units``.
    """
    number = 0
    common: Optional[_Pages] = None
    run: List[Unit] = []
    for path in paths:
        for unit in read_units(path, languages[0], languages[1]):
            if run and not (unit.source and unit.target):  # a hole in the run
                run.append(unit)
                continue
            pages = _pages(unit)
            shared = common and pages and _in_common(common, pages)
            if run and not shared:
                number += 1
                yield _document(run, common, number, languages, cleaning)
                run = []
            common = shared if run and shared else pages
            run.append(unit)
    if run:
        yield _document(run, common, number + 1, languages, cleaning)


def _pages(unit: Unit) -> Optional[_Pages]:
    """None where an address is missing."""
    if not (unit.source and unit.target and unit.source.documents and unit.target.documents):
        return None
    return unit.source.documents, unit.target.documents


def _in_common(before: _Pages, here: _Pages) -> Optional[_Pages]:
    source, target = (
        tuple(page for page in first if page in second) for first, second in zip(before, here, strict=True)
    )
    return (source, target) if source and target else None


def _document(
    run: Sequence[Unit],
    pages: Optional[_Pages],
    number: int,
    languages: Sequence[str],
    cleaning: Sequence[str],
) -> Part:
    account = Account()
    account.remarks["pairs without address"] += pages is None
    builder = DocumentBuilder(f"{pages[0][0]} {pages[1][0]}" if pages else str(number), account)
    for unit in run:
        if unit.source is None or unit.target is None:
            builder.leave_out("without one of the languages")
            continue
        source, target = (
            clean(side.text, language, cleaning, account.remarks)
            for side, language in zip((unit.source, unit.target), languages, strict=True)
        )
        builder.add(source, target)
    return builder.part()
