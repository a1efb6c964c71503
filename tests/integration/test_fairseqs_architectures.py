"""What fairseq-train builds for a task of this plugin, evaluation loads: fairseq's own architectures."""

import pytest

from ctxmt_fairseq import BadInput, Translator
from tests.helpers.saved_models import SIZES, save, trained

DOCUMENTS = [["a b c", "d e f g", "h"], ["b"]]
CONTEXT = ("--source-context", "1", "--target-context", "1")
RECURRENT = ("lstm", "lightconv")  # their decoders read a word at a time


@pytest.fixture(params=SIZES)
def checkpoint(request, tmp_path):
    state, _ = trained(tmp_path, *CONTEXT, arch=request.param)
    return request.param, str(save(tmp_path / "checkpoint.pt", state))


def test_it_translates_and_scores_alike(checkpoint):
    arch, path = checkpoint
    model = Translator.load(path, device="cpu", beam=3, max_len_b=6, target_context=0)
    best = [[sentence[0] for sentence in document] for document in model.n_best(DOCUMENTS)]
    texts = [[translation.text for translation in document] for document in best]
    for document, scores in zip(best, model.score(DOCUMENTS, texts), strict=True):
        for translation, score in zip(document, scores, strict=True):
            if "<" not in translation.text:  # a special symbol, which no text has
                assert score.sum / len(score.tokens) == pytest.approx(translation.score, abs=2e-6)
    whole = Translator.load(path, device="cpu", beam=3, max_len_b=6, decoding="window")
    assert [len(document) for document in whole.translate(DOCUMENTS)] == [3, 1]
    prefix = Translator.load(path, device="cpu", beam=3, max_len_b=6)
    if arch in RECURRENT:
        with pytest.raises(BadInput, match="cannot read a target context at once; use --decoding window"):
            prefix.translate(DOCUMENTS)
    else:
        assert [len(document) for document in prefix.translate(DOCUMENTS)] == [3, 1]


def test_what_fairseq_evaluates_is_refused(tmp_path):
    state, _ = trained(tmp_path, arch="fconv")
    with pytest.raises(BadInput, match=r"--arch fconv: .* not one of fairseq.models.fconv"):
        Translator.load(str(save(tmp_path / "checkpoint.pt", state)), device="cpu")
