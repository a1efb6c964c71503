"""spaCy's interface, for tests that do not need its models."""

import contextlib
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

from ctxmt_fairseq.corpora.linguistics import analysers

# As a model would label them; gender of "son" is not single.
KNOWN = {
    "il": ("PRON", "Masc", "Sing"),
    "elle": ("PRON", "Fem", "Sing"),
    "elles": ("PRON", "Fem", "Plur"),
    "voiture": ("NOUN", "Fem", "Sing"),
    "son": ("DET", "Masc,Fem", "Sing"),
}


class Morphology(dict):
    def get(self, name):
        return [value for value in super().get(name, "").split(",") if value]


def token(text, at):
    pos, gender, number = KNOWN.get(text.lower(), ("X", "", ""))
    morphology = Morphology(Gender=gender, Number=number)
    return SimpleNamespace(
        text=text, idx=at, pos_=pos, lemma_=text.lower(), morph=morphology, is_space=text.isspace()
    )


class Model:
    """Every run of blanks is a token too, as where spaCy finds two blanks; apostrophes divide if straight."""

    lang, meta = "fr", {"version": "1.0"}

    def __init__(self):
        self.tokenizer = SimpleNamespace(add_special_case=lambda word, parts: None)

    memory_zone = staticmethod(contextlib.nullcontext)

    def pipe(self, texts, batch_size):
        for text in texts:
            yield [token(each[0], each.start()) for each in re.finditer(r"\s+|\w+'?|[^\w\s]", text)]


@pytest.fixture
def french_model(monkeypatch):
    """The one model that is installed is fr_core_news_sm."""
    spacy = ModuleType("spacy")
    spacy.__version__ = "3.8.0"
    spacy.util = SimpleNamespace(is_package=lambda name: name == "fr_core_news_sm")
    spacy.load = lambda name, exclude: Model()
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    analysers.analyser.cache_clear()
    yield
    analysers.analyser.cache_clear()
