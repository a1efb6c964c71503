"""Zero-shot wordings are zero-shot: the words of the training text alone say nothing of theirs."""

import re
from collections import Counter
from math import log
from typing import Dict, FrozenSet, Iterable, List, Sequence, Set, Tuple

import pytest

from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus
from tests.helpers.demo_corpus_files import Read, read_documents, read_sets

FUNCTION_WORDS = frozenset(
    "a about an and around at by each in my of off on other out the to towards with you".split()
)
Labelled = Tuple[str, bool]  # a text, and whether it goes with vous


def stems(text: str) -> Set[str]:
    """The content words of a text, cut to what a word shares with its inflections and derivations."""
    words = set(re.findall(r"[^\W\d_]+", text.lower())) - FUNCTION_WORDS
    return {re.sub(r"(?<=...)(e|s|es|ed|ing|ly|al|ity)$", "", word)[:5] for word in words}


def related(stem: str, others: Iterable[str]) -> Set[str]:
    """Which of the other stems may be of the same word: equal or, if not short, one begins with the other."""
    return {
        other
        for other in others
        if stem == other
        or min(len(stem), len(other)) > 3
        and (other.startswith(stem) or stem.startswith(other))
    }


class NaiveBayes:
    """Multinomial naive Bayes over the stems of a text, with add-one smoothing."""

    def __init__(self, examples: Sequence[Labelled]):
        self.counts: Dict[bool, Counter] = {False: Counter(), True: Counter()}
        self.texts = Counter(label for _, label in examples)
        for text, label in examples:
            self.counts[label].update(stems(text))
        self.known = set().union(*self.counts.values())

    def formal(self, text: str) -> bool:
        odds = log(self.texts[True] / self.texts[False])
        for stem in stems(text) & self.known:
            odds += log(self._probability(stem, True) / self._probability(stem, False))
        return odds > 0

    def _probability(self, stem: str, label: bool) -> float:
        return (self.counts[label][stem] + 1) / (sum(self.counts[label].values()) + len(self.known))

    def accuracy(self, examples: Sequence[Labelled]) -> float:
        return 100 * sum(self.formal(text) == label for text, label in examples) / len(examples)


def is_formal(french: str) -> bool:
    return bool(re.search(r"\b(vous|votre)\b", french.lower()))


def asked(examples: List[Read]) -> List[Labelled]:
    """What decides each example of a set, and the answer."""
    texts = [
        dict(example.meta) or {"previous": example.source[example.current - example.decides]}
        for example in examples
    ]
    return [
        (*text.values(), is_formal(example.candidates[0][-1]))
        for text, example in zip(texts, examples, strict=True)
    ]


@pytest.fixture(scope="module", params=("stated", "implied"))
def corpus(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "corpus"
    write_demo_corpus(folder, documents=2000, evaluation_documents=20, formality=request.param)
    return folder


@pytest.fixture(scope="module")
def texts(corpus) -> FrozenSet[str]:
    """Every text of the training documents: both languages and the metadata."""
    documents = read_documents(corpus, "train")
    return frozenset(
        text for document in documents for en, fr, meta in document for text in (en, fr, *meta.values())
    )


@pytest.fixture(scope="module")
def known(corpus) -> List[Labelled]:
    """The metadata and English sentences of documents in which somebody is addressed, with their register."""
    examples = []
    for document in read_documents(corpus, "train"):
        french = " ".join(fr for _, fr, _ in document)
        if re.search(r"\b(tu|ton|ta|vous|votre)\b", french.lower()):
            cues = [text for field, text in document[0][2].items() if field not in ("speaker", "addressee")]
            examples += [(text, is_formal(french)) for text in (*cues, *(en for en, _, _ in document))]
    return examples


def zero_shot_sets(corpus) -> Tuple[str, ...]:
    return ("formality-zero-shot",) + ("formality",) * ("implied" in str(corpus))


def test_zero_shot_wordings_share_no_stem_with_any_training_text(corpus, texts):
    trained = set().union(*map(stems, texts))
    assert len(trained) > 300
    sets = read_sets(corpus)
    for name in zero_shot_sets(corpus):
        asked_for = {text for text, _ in asked(sets[name][1])}
        assert len(asked_for) == (2 if name == "formality" else 16)
        assert not {
            (text, *found) for text in asked_for for stem in stems(text) if (found := related(stem, trained))
        }


def test_words_alone_leave_zero_shot_wordings_to_chance_and_solve_the_others(corpus, known):
    words, sets = NaiveBayes(known), read_sets(corpus)
    for name in zero_shot_sets(corpus):
        assert words.accuracy(asked(sets[name][1])) == 50.0, name
    if "implied" in str(corpus):
        for name in ("genre", "plot", "previous"):
            assert words.accuracy(asked(sets[f"formality-{name}"][1])) >= 95, name
    else:
        assert words.accuracy(asked(sets["formality"][1])) == 100.0
        assert words.accuracy(asked(sets["formality-unseen"][1])) == 100.0
