"""TMX of web crawls, as ParaCrawl releases it: documents by the addresses of the pages (source-document).

A document is a run of pairs that all have a page in common on each side. Its id is the two addresses; a pair
without address is a document by itself, whose id is its number. Files are read as they are, .gz or not, and
memory does not grow with them. "ctxmt corpus filter" finds what is worth training on in a crawl. --clean
works as in "ctxmt corpus opensubtitles".

Of a unit in several languages that of the very code is taken (zh-TW), else that without region (zh); a code
without region (pt) takes any. --skip-broken leaves out units that are no well-formed XML.

Example: ctxmt corpus tmx --tmx en-cs.tmx.gz --source-lang en --target-lang cs --out text/crawl
"""

import functools
import itertools
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.corpus_command import NewCorpus, cleaning, skip_broken
from ctxmt_fairseq.corpora.formats.language_codes import matching
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part

_NO_TEXT = {"bpt", "ept", "it", "ph", "ut"}  # inside a segment: formatting of the program that it is from
_matching = functools.lru_cache(1024)(matching)  # most units have the same codes
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Side(NamedTuple):
    """One language's side of a unit, with the pages that the sentence is on."""

    text: str
    pages: List[str]


class Unit(NamedTuple):
    """Source and target of a unit, or the reason why it has none; of ``variants`` the first was taken."""

    sides: List[Side]
    left_out: str = ""
    variants: bool = False
    error: str = ""


class Tmx(NewCorpus):
    unit = "units"

    tmx: List[Input] = option("files, read one after the other")
    clean: Sequence[str] = cleaning()
    skip_broken: bool = skip_broken("units")

    def parts(self) -> Iterator[Part]:
        units = itertools.chain.from_iterable(map(self._units, self.tmx))
        for number, (run, pages, account) in enumerate(_runs(units), 1):
            name = " ".join(side[0] for side in pages) if all(pages) else str(number)
            builder, remarks = DocumentBuilder(name, account), account.remarks
            remarks["pairs without address"] += not all(pages)
            remarks["units with several variants"] += sum(unit.variants for unit in run)
            for unit in run:
                if unit.left_out:
                    builder.hole()
                    continue
                texts = zip(unit.sides, self.languages, strict=True)
                here, there = (clean(side.text, language, self.clean, remarks) for side, language in texts)
                builder.add(here, there)
            yield builder.part()

    def _units(self, path: str) -> Iterator[Unit]:
        """Read every unit (``<tu>``) of a file."""
        from ctxmt_fairseq.corpora.xml import elements_apart, xml_elements

        unit = None
        for unit in elements_apart(path, "tu") if self.skip_broken else xml_elements(path, "tu"):
            broken = isinstance(unit, BadInput)
            yield Unit([], "in broken units", error=str(unit)) if broken else _unit(unit, self.languages)
        if unit is None:
            raise BadInput("expected TMX, found no unit (<tu>)", path)


def _unit(unit: Any, languages: Sequence[str]) -> Unit:
    variants: Dict[str, List[Side]] = {}
    space = unit.tag.removesuffix("tu")  # an XML namespace, or nothing
    segment = space + "seg"
    for variant in unit.iterchildren(space + "tuv"):
        text: Optional[str] = None
        pages: List[str] = []
        for child in variant:
            if child.tag == segment and text is None:
                text = "".join(_texts(child)) if len(child) else child.text or ""
            elif child.tag == space + "prop" and child.get("type") == "source-document":
                pages += filter(None, [" ".join((child.text or "").split())])
        if text is not None:
            code = variant.get(_XML_LANG) or variant.get("lang", "")
            variants.setdefault(code, []).append(Side(text, pages))
    codes = (_matching(tuple(variants), language) for language in languages)
    sides = [[side for code in each for side in variants[code]] for each in codes]
    if not all(sides):
        return Unit([], "without one of the languages")
    return Unit([side[0] for side in sides], variants=max(map(len, sides)) > 1)


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag.rpartition("}")[2] not in _NO_TEXT:
            yield from _texts(child)
        yield child.tail or ""


def _runs(units: Iterable[Unit]) -> Iterator[Tuple[List[Unit], List[List[str]], Account]]:
    """Units that have pages in common on each side, these pages, and the account of those that are left out,
    of which the first in a row stands for a hole."""
    run: List[Unit] = []
    common: List[List[str]] = []
    account = Account()
    for unit in units:
        if unit.left_out:
            account.leave_out(unit.left_out, error=unit.error)
            if run and run[-1].left_out:
                continue
        else:
            shared = [
                [page for page in have if page in side.pages]
                for have, side in zip(common, unit.sides, strict=False)
            ]
            if run and not (shared and all(shared)):
                yield run, common, account
                run, account = [], Account()
            common = shared if run else [side.pages for side in unit.sides]
        run.append(unit)
    if run:
        yield run, common, account
