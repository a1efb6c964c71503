"""TMX of web crawls, as ParaCrawl releases it: documents by the addresses of the pages (source-document).

A document is a run of pairs that all have a page in common on each side. Its id is the two addresses; a pair
without address is a document by itself, whose id is its number. Files are read as they are, .gz or not, and
memory does not grow with them. "ctxmt corpus filter" finds what is worth training on in a crawl. --clean
works as in "ctxmt corpus opensubtitles".

Example: ctxmt corpus tmx --tmx en-cs.tmx.gz --source-lang en --target-lang cs --out text/crawl
"""

import itertools
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, cleaning
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import PathLike

Unit = Optional[List["Side"]]  # source and target; None where a language is missing
_NO_TEXT = {"bpt", "ept", "it", "ph", "ut"}  # inside a segment: formatting of the program that it is from
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Side(NamedTuple):
    """One language's side of a unit, with the pages that the sentence is on."""

    text: str
    pages: List[str]


class Tmx(NewCorpus):
    unit = "units"

    tmx: List[Input] = option("read one after the other")
    clean: Sequence[str] = cleaning()

    def parts(self) -> Iterator[Part]:
        return tmx_documents(self.tmx, self.languages, self.clean)


def read_units(path: PathLike, languages: Sequence[str]) -> Iterator[Unit]:
    """Read every unit (``<tu>``) of a file.

    The first part of a code tells the language: en-US is en. The first segment in a language counts.
    """
    from ctxmt_fairseq.corpora.xml import xml_elements

    unit = None
    for unit in xml_elements(path, "tu"):
        sides: Dict[str, Side] = {}
        for variant in unit.iterchildren("tuv"):
            segment = variant.find("seg")
            if segment is not None:
                pages = [prop.text for prop in variant.iterfind("prop[@type='source-document']") if prop.text]
                side = Side("".join(_texts(segment)), [" ".join(page.split()) for page in pages])
                sides.setdefault(_primary(variant.get(_XML_LANG) or variant.get("lang", "")), side)
        found = [sides[_primary(language)] for language in languages if _primary(language) in sides]
        yield found if len(found) == len(languages) else None
    if unit is None:
        raise BadInput("expected TMX, found no unit (<tu>)", path)


def _primary(language: str) -> str:
    return language.lower().replace("_", "-").partition("-")[0]


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag not in _NO_TEXT:
            yield from _texts(child)
        yield child.tail or ""


def tmx_documents(
    paths: Sequence[PathLike], languages: Sequence[str], cleaning: Sequence[str] = ()
) -> Iterator[Part]:
    """Pair each document (see above)."""
    units = itertools.chain.from_iterable(read_units(path, languages) for path in paths)
    for number, (run, pages) in enumerate(_runs(units), 1):
        name = " ".join(side[0] for side in pages) if all(pages) else str(number)
        builder = DocumentBuilder(name, Account())
        remarks = builder.account.remarks
        remarks["pairs without address"] += not all(pages)
        for sides in run:
            if sides is None:
                builder.leave_out("without one of the languages")
                continue
            texts = zip(sides, languages, strict=True)
            here, there = (clean(side.text, language, cleaning, remarks) for side, language in texts)
            builder.add(here, there)
        yield builder.part()


def _runs(units: Iterable[Unit]) -> Iterator[Tuple[List[Unit], List[List[str]]]]:
    """Units that have pages in common on each side, and these pages; None is a hole."""
    run: List[Unit] = []
    common: List[List[str]] = []
    for unit in units:
        if unit is not None:
            shared = [
                [page for page in have if page in side.pages]
                for have, side in zip(common, unit, strict=False)
            ]
            if run and not (shared and all(shared)):
                yield run, common
                run = []
            common = shared if run else [side.pages for side in unit]
        run.append(unit)
    if run:
        yield run, common
