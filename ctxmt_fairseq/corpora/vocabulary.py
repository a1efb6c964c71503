"""Puts text steps, subword models and dictionaries into a data folder: new, given, or another folder's."""

import itertools
import logging
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.bpe_codes import load_codes
from ctxmt_fairseq.corpora.data_folder import PathLike, load_dictionary, read_description
from ctxmt_fairseq.corpora.subwords import Subwords, TooManyPieces, find_model, model_names, train_subwords
from ctxmt_fairseq.corpora.text_steps import KEY, TextSteps
from ctxmt_fairseq.corpora.truecasing import count_forms, forms_text, read_forms
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR, add_symbols
from ctxmt_fairseq.text.text_lines import iterate_lines

logger = logging.getLogger(__name__)
PIECES = 8000  # of each subword model, where neither the user nor the text wants fewer
MULTIPLE = 8  # dictionary sizes are multiples of it, for the matrix units of GPUs


@dataclass(frozen=True)
class Vocabulary:
    """How a data folder's text becomes symbols.

    Attributes:
        steps: the first text steps: entries of ``ctxmt.json`` (``text_steps``).
        joint: whether both languages have one dictionary and one subword model, where these are made.
        subwords: False: the words between white space are the symbols.
        spm: language -> a given SentencePiece model; empty: train.
        truecase: language -> a file of counts (``truecasing``): the step after those.
        learn_truecase: count in the training text instead.
        bpe: language -> a file of BPE codes (``bpe_codes``), instead of SentencePiece: the last step.
        bpe_vocabulary: language -> the vocabulary with which they are applied; its pieces that occur less
            than ``bpe_threshold`` times do not count. Empty: there is none.
        dictionaries: language -> a given dictionary of fairseq's; empty: count the training text.
        vocab_size: the size of each model that is trained (default 8000, or the most that the text carries);
            if none is, the number of most frequent words or pieces that are kept (default all).
        spm_type, character_coverage, symbols: see ``train_subwords``.
        normalization: language -> the rule that its model applies to text first.
        like: a data folder whose steps, models and dictionaries are taken; the rest then means nothing.
    """

    steps: Sequence[Mapping[str, Any]] = ()
    joint: bool = True
    subwords: bool = True
    spm: Dict[str, str] = field(default_factory=dict)
    truecase: Dict[str, str] = field(default_factory=dict)
    learn_truecase: bool = False
    bpe: Dict[str, str] = field(default_factory=dict)
    bpe_vocabulary: Dict[str, str] = field(default_factory=dict)
    bpe_threshold: int = 0
    dictionaries: Dict[str, str] = field(default_factory=dict)
    vocab_size: Optional[int] = None
    spm_type: str = "unigram"
    character_coverage: float = 1.0
    normalization: Dict[str, str] = field(default_factory=dict)
    symbols: Sequence[str] = ()
    like: Optional[PathLike] = None

    def place_steps(
        self, folder: Path, languages: List[str], text: Callable[[str], Iterable[str]]
    ) -> Tuple[List[Mapping[str, Any]], Dict[str, TextSteps]]:
        """Put the files that text steps read into the folder, learnt of a language's training text where they
        must be; returns the list for ``ctxmt.json``, and the steps by language."""
        entries = list(self.steps)
        if self.truecase or self.learn_truecase:
            counts = {x: _own_or_joint(self.truecase, f"truecase.{x}", "truecase") for x in languages}
            for language in languages:
                steps = TextSteps.of_entries(entries, folder, language)
                given, path = self.truecase.get(language), folder / counts[language]
                _place_truecase(given, path, steps, text(language))
            entries.append({"step": "truecase", "counts": counts})
        if self.bpe:
            entries.append(self._place_codes(folder))
        if self.like is not None:
            entries = read_description(self.like).get(KEY, [])
            for language in languages:
                for name in TextSteps.load(self.like, language).files:
                    shutil.copyfile(Path(self.like) / name, folder / name)
        return entries, {language: TextSteps.of_entries(entries, folder, language) for language in languages}

    def _place_codes(self, folder: Path) -> Mapping[str, Any]:
        """Copy the codes, and their vocabularies if there are any; returns the step's entry."""
        for language, codes in self.bpe.items():  # to check them, by the names that the user gave
            load_codes(codes, self.bpe_vocabulary.get(language), self.bpe_threshold)
        entry: Dict[str, Any] = {"step": "bpe"}
        for key, given in (("codes", self.bpe), ("vocabulary", self.bpe_vocabulary)):
            names = {x: _own_or_joint(given, f"bpe.{x}.{key}", f"bpe.{key}") for x in given}
            for language, path in given.items():
                shutil.copyfile(path, folder / names[language])
            if names:
                entry[key] = names
        return {**entry, "threshold": self.bpe_threshold} if self.bpe_vocabulary else entry

    def place_subwords(self, folder: Path, text: Dict[str, Path]) -> None:
        """Write the folder's SentencePiece models; new ones learn of ``text``: language -> training text."""
        languages = list(text)
        if self.like is not None:
            for name in filter(None, set(find_models(self.like, languages))):
                shutil.copyfile(Path(self.like) / name, folder / name)
        elif self.spm:
            for language, model in self.spm.items():
                Subwords(model)  # to check it
                shutil.copyfile(model, folder / _own_or_joint(self.spm, *model_names(language)))
        elif self.bpe or not self.subwords:
            return
        elif self.joint:
            self._train(folder / model_names(languages[0])[1], text)
        else:
            for language, path in text.items():
                self._train(folder / model_names(language)[0], {language: path})

    def _train(self, model: Path, text: Mapping[str, Path]) -> None:
        rule = self.normalization.get(next(iter(text)), "identity")

        def trained(size: int) -> bytes:
            sentences = itertools.chain.from_iterable(map(iterate_lines, text.values()))
            how = self.spm_type, self.character_coverage, rule, self.symbols
            return train_subwords(sentences, size, *how)

        try:
            content = trained(self.vocab_size or PIECES)
        except TooManyPieces as error:
            if self.vocab_size:
                raise
            logger.warning(
                "%s: %d pieces, the most that the text carries (--vocab-size)", model.name, error.most
            )
            content = trained(error.most)
        model.write_bytes(content)

    def place_dictionaries(self, folder: Path, frequencies: Dict[str, Counter]) -> Dict[str, Any]:
        """Write ``dict.LANG.txt``, with the separator and the mask at the end; returns them by language.
        Where none are given, they come from the symbol counts of the training text."""
        names = {language: f"dict.{language}.txt" for language in frequencies}
        given: Mapping[str, PathLike] = self.dictionaries
        if self.like is not None:
            given = {language: Path(self.like) / name for language, name in names.items()}
        if given:
            return {x: _place_given(given[x], folder / name) for x, name in names.items()}
        if self.joint:
            together: Counter = sum(frequencies.values(), Counter())
            dictionaries = dict.fromkeys(names, self._dictionary(together))
        else:
            dictionaries = {language: self._dictionary(frequencies[language]) for language in names}
        for language, dictionary in dictionaries.items():
            dictionary.save(str(folder / names[language]))
        return dictionaries

    def given_symbols(self) -> Dict[str, int]:
        """Language -> how many symbols, with fairseq's own, its given dictionary has; with ``like``, those
        that were given for that folder. {}: the dictionaries are counted.

        A model that was trained with such a dictionary has as many embeddings.
        """
        if self.like is not None:
            return read_description(self.like).get("given_symbols", {})
        return {language: len(load_dictionary(path)) for language, path in self.dictionaries.items()}

    def _dictionary(self, frequencies: Counter) -> Any:
        """A dictionary by falling frequency, then by symbol, filled up to a multiple of ``MULTIPLE``."""
        from fairseq.data import Dictionary

        dictionary = Dictionary()
        for symbol in sorted(frequencies):
            dictionary.add_symbol(symbol, frequencies[symbol])
        kept = -1
        if self.vocab_size and (self.bpe or not self.subwords):
            kept = self.vocab_size + dictionary.nspecial
        dictionary.finalize(nwords=kept, padding_factor=1)
        fillers = itertools.count()
        while (len(dictionary) + len((SEPARATOR, MASK))) % MULTIPLE:
            dictionary.add_symbol(f"madeupword{next(fillers):04d}", n=0)
        add_symbols(dictionary)
        return dictionary


def find_models(folder: PathLike, languages: List[str]) -> List[Optional[str]]:
    """The name of each language's SentencePiece model in a data folder; None: there is none."""
    paths = (find_model(folder, language) for language in languages)
    return [path.name if path else None for path in paths]


def _own_or_joint(given: Mapping[str, str], own: str, joint: str) -> str:
    """The name of a language's file: the joint one, if one file was given for both languages."""
    return joint if given and len(set(given.values())) == 1 else own


def _place_truecase(given: Optional[str], path: Path, steps: TextSteps, text: Iterable[str]) -> None:
    """Copy the given counts, or count the text after ``steps``."""
    if given is not None:
        read_forms(given)  # to check them
        shutil.copyfile(given, path)
        return
    forms = count_forms(steps.apply(line) for line in tqdm(text, desc=path.name, unit=" lines", disable=None))
    if not forms:
        raise BadInput("--truecase: the training text has no words within sentences")
    path.write_text(forms_text(forms), encoding="utf-8", newline="\n")


def _place_given(path: PathLike, copy: Path) -> Any:
    """Copy a dictionary line by line, and add those of the plugin's symbols that it lacks at the end.

    fairseq cannot save all that it can load, such as symbols that are there twice.
    """
    dictionary = load_dictionary(path)
    own = len(dictionary)
    add_symbols(dictionary)
    new = (f"{symbol} {dictionary.count[at]}" for at, symbol in enumerate(dictionary.symbols) if at >= own)
    copy.write_text("".join(f"{line}\n" for line in (*iterate_lines(path), *new)), encoding="utf-8")
    return dictionary
