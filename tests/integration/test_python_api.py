"""``Translator`` with trained models: subwords, own translations as context, and the search's scores."""

import pytest

from ctxmt_fairseq.translator import Translator
from tests.integration.commands import read


@pytest.fixture(scope="module")
def documents(corpus):
    """The documents of test2, 43 sentences: (source, references)."""
    ids = read(corpus / "test2.docids")
    names = list(dict.fromkeys(ids))
    return [
        [
            [line for line, own in zip(read(corpus / f"test2.{side}"), ids, strict=True) if own == name]
            for name in names
        ]
        for side in ("en", "fr")
    ]


def test_the_search_ranks_by_the_scores_of_its_translations(s2to2, documents):
    """A sentence's score is that of its text after the translations before it, whoever computes it."""
    model = Translator.load(s2to2 / "checkpoint_last.pt", beam=2, lenpen=0.5, max_len_b=20, device="cpu")
    found = model.n_best(documents[0], unkpen=1e6)  # text tells nothing of what an unknown word was
    best = model.translate(documents[0], unkpen=1e6)
    scores = model.score(documents[0], best)
    assert [len(document) for document in scores] == [len(document) for document in documents[0]]
    compared = 0
    for document, scored, texts in zip(found, scores, best, strict=True):
        for nbest, score, text in zip(document, scored, texts, strict=True):
            assert nbest[0].text == text and 1 <= len(nbest) <= 2
            assert [each.score for each in nbest] == sorted((each.score for each in nbest), reverse=True)
            assert nbest[0].score == pytest.approx(score.sum / len(score.tokens) ** 0.5, abs=1e-4)
            compared += 1
    assert compared == 43


def test_references_are_more_probable_in_their_own_context(s2to2, documents):
    model = Translator.load(s2to2 / "checkpoint_last.pt", device="cpu")
    own, other = (
        sum(score.sum for document in each.score(*documents) for score in document)
        for each in (model, model.with_options(context_selection="random"))
    )
    assert own > other
