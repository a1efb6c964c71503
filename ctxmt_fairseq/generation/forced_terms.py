"""The terms of a glossary, in the subwords of the models that are to write them."""

from typing import Collection, Dict, List, Optional

import torch

from ctxmt_fairseq.base.errors import BadInput, named
from ctxmt_fairseq.corpora.subwords import WORD_START
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.search.term_search import TermSearch
from ctxmt_fairseq.text.glossary import Glossary, missing
from ctxmt_fairseq.text.languages import unspaced


class ForcedTerms:
    """Says what of a glossary the translation of each sentence must hold, and counts what it holds.

    Args:
        beam: the search's.

    Attributes:
        search: what takes the place of fairseq's beam search.
        wanted, lost: how many terms translations had to hold, and which of them they do not.
        unknown: terms that the models cannot write, and that are left out.

    Raises:
        BadInput: the models decode windows, in which a term could stand in another sentence; or the
            vocabulary is too small for the beam.
    """

    def __init__(self, glossary: Glossary, loaded: LoadedModels, beam: int):
        self.glossary, self.loaded = glossary, loaded
        dictionary, subwords = loaded.task.target_dictionary, loaded.target_subwords
        if loaded.task.searches_windows:
            raise BadInput("--keep and --glossary do not work with --decoding window: leave out one of them")
        if 2 * beam >= len(dictionary):
            raise BadInput(f"--keep and --glossary: expected a --beam below {(len(dictionary) + 1) // 2}")
        goes_on, open, elides, joined = [], [], [], []
        for index, piece in enumerate(dictionary.symbols):
            bare, (begins, follows) = subwords.bare(piece), subwords.word_starts([piece, f"{WORD_START}a"])
            goes_on.append(not begins and bare[:1].isalnum())
            open.append(not follows and piece != subwords.token)
            elides.append(subwords.processor is not None and bare.endswith(("'", "’")))
            joined.append(dictionary.indices.get(piece.removeprefix(WORD_START), index))
        self.search = TermSearch(dictionary, *map(torch.tensor, (goes_on, open, elides, joined)))
        self.wanted = 0
        self.lost: List[str] = []
        self.unknown: Dict[str, None] = {}
        self._first: Dict[str, str] = {}  # terms, as they are written at a sentence's beginning

    def tokens(self, sentence: str) -> Dict[str, torch.Tensor]:
        """The terms that the translation of a source sentence must hold, with their tokens (T,)."""
        found = {term: self._tokens(term) for term in self.glossary.terms(sentence)}
        return {term: tokens for term, tokens in found.items() if tokens is not None}

    def _tokens(self, term: str) -> Optional[torch.Tensor]:
        """None: the models cannot write the term."""
        dictionary, subwords = self.loaded.task.target_dictionary, self.loaded.target_subwords
        pieces = [piece for piece in subwords.encode(term).split() if piece != subwords.token]
        if unspaced(term):  # no blank stands before it
            pieces = [*filter(None, [pieces[0].removeprefix(WORD_START), *pieces[1:]])]
        # Where text is truecased, a sentence begins with a capital, and the second term is as it is.
        first, both = (subwords.decode(" ".join(pieces * times)) for times in (1, 2))
        if all(piece in dictionary for piece in pieces) and not missing(both, [term]):
            self._first[term] = first
            return torch.tensor([dictionary.index(piece) for piece in pieces])
        self.unknown[term] = None
        return None

    def count(self, terms: Collection[str], translation: str) -> None:
        """Count terms that a translation was to hold."""
        self.wanted += len(terms)
        lost = missing(translation, terms)
        self.lost += [term for term in lost if missing(translation, [self._first.get(term, term)])]

    @property
    def remark(self) -> Optional[str]:
        """What became of the terms, if not all are in the translations."""
        said = []
        if self.lost:
            lost = f"{len(self.lost)} of {self.wanted} terms are not in their translations"
            said.append(f"{lost}: {named(self.lost)}")
        if self.unknown:
            said.append(f"left out, because the models cannot write them: {named([*self.unknown])}")
        return "; ".join(said) or None
