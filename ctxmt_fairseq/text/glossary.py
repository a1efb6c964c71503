"""A glossary: terms of the source language, and what each must become in a translation."""

import unicodedata
from typing import Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.languages import marks_and_words
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, tidy


def _words(text: str) -> List[str]:
    """Words and marks, alike however their letters are composed."""
    return marks_and_words(unicodedata.normalize("NFC", text))


class Glossary:
    """Says which terms the translation of a sentence must hold.

    A source term is found as whole words, cased as it is given or with a capital at its beginning. Of terms
    that overlap the first counts, and of those that begin at one word the longest.

    Attributes:
        entries: source term -> target term.
    """

    def __init__(self) -> None:
        self.entries: Dict[str, str] = {}
        self._targets: Dict[Tuple[str, ...], str] = {}  # by the words of a source term
        self._longest = 0  # in words

    def add(self, source: str, target: str, place: PathLike, line: Optional[int] = None) -> None:
        """Add an entry, which may be there already.

        Raises:
            BadInput: a term has no word, or the source term has another target term; it names the place.
        """
        source, target = unicodedata.normalize("NFC", tidy(source)), tidy(target)
        if not (source and target):
            raise BadInput("expected a term and its translation, found a blank", place, line)
        known = self.entries.setdefault(source, target)
        if known != target:
            raise BadInput(
                f"{source!r} is to become {target!r} and, in an earlier entry, {known!r}", place, line
            )
        capital = source[0].upper() + source[1:]
        for term in [source] if capital in self.entries else [source, capital]:
            words = (*_words(term),)
            self._targets[words] = target
            self._longest = max(self._longest, len(words))

    def terms(self, sentence: str) -> List[str]:
        """The target terms that a source sentence asks for, each once, in the order of their source terms."""
        words, found, at = (*_words(sentence),), [], 0
        while at < len(words):
            sizes = range(min(self._longest, len(words) - at), 0, -1)
            size = next((size for size in sizes if words[at : at + size] in self._targets), 0)
            found += [self._targets[words[at : at + size]]] if size else []
            at += size or 1
        return [*dict.fromkeys(found)]


def missing(sentence: str, terms: Iterable[str]) -> List[str]:
    """The terms that do not stand in a sentence as whole words, cased as given, each in a place of its own:
    where the longer of two terms stands, the shorter one does not count."""
    words, lost = _words(sentence), []
    for wanted, term in sorted(((_words(term), term) for term in terms), key=lambda each: -len(each[0])):
        places = (at for at in range(len(words)) if words[at : at + len(wanted)] == wanted)
        if (at := next(places, None)) is None:
            lost.append(term)
        else:
            words[at : at + len(wanted)] = [""]  # no word
    return lost


def read_glossary(
    entries: Union[PathLike, Mapping[str, str], None], keep: Iterable[str] = ()
) -> Optional[Glossary]:
    """Make a glossary of a file's lines, each a source term, a tab and a target term, or of a mapping.

    Args:
        entries: the file (empty lines are none), or target terms by source term.
        keep: terms that stay as they are.

    Returns:
        None: there are no terms.

    Raises:
        BadInput: a line has more or fewer columns; or as ``Glossary.add``.
    """
    found = Glossary()
    if isinstance(entries, Mapping):
        for source, target in entries.items():
            found.add(source, target, "glossary")
    elif entries is not None:
        for number, line in enumerate(iterate_lines(entries), 1):
            columns = line.split("\t")
            if line.strip() and len(columns) != 2:
                expected = f"expected a term, a tab and its translation, found {len(columns)} columns"
                raise BadInput(expected, entries, number)
            if line.strip():
                found.add(columns[0], columns[1], entries, number)
    for term in keep:
        found.add(term, term, "keep")
    return found if found.entries else None
