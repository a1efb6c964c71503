"""What fairseq-train builds for a task of this plugin, evaluation loads: fairseq's own architectures."""

import os

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY

from ctxmt_fairseq import BadInput, Translator
from ctxmt_fairseq.checkpoints.allowed import TRUSTED, check_trainable
from tests.helpers.saved_models import FCONV, SIZES, data_folder, save, trained
from tests.integration.commands import TASK, TRAINING, USER_DIR, refused, run

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


@pytest.mark.parametrize("arch", ["fconv", "fconv_self_att"])
def test_what_fairseq_evaluates_is_refused_unless_trusted(arch, tmp_path):
    state, _ = trained(tmp_path, arch=arch)
    path = str(save(tmp_path / "checkpoint.pt", state))
    with pytest.raises(BadInput, match=rf"--arch {arch}: .* trust .* --trust-checkpoint"):
        Translator.load(path, device="cpu")
    model = Translator.load(path, device="cpu", trust_checkpoint=True, decoding="window", max_len_b=6)
    assert [len(document) for document in model.translate(DOCUMENTS)] == [3, 1]


@pytest.mark.slow
def test_the_users_word_in_every_command(data, tmp_path):
    """fconv is trained, resumed and built on without it: nothing is built of a file then."""
    training = (
        *TASK,
        "--arch",
        "fconv",
        *FCONV,
        "--decoder-layers",
        "[(8, 3)]",
        *TRAINING,
        "--max-tokens",
        500,
    )
    folder, more = tmp_path / "saved", ("--disable-validation", "--no-epoch-checkpoints")
    for updates in (2, 3):
        run("fairseq-train", data, *training, *more, "--save-dir", folder, "--max-update", updates)
    path = folder / "checkpoint_last.pt"
    started = ("--sentence-checkpoint", path, "--save-dir", tmp_path / "started", "--max-update", 1, *more)
    assert "parameters taken over" in run("fairseq-train", data, *training, *started).stdout
    options = ("--path", path, "--user-dir", USER_DIR, "--cpu", "--batch-size", 8, "--num-workers", 0)
    for command in (
        (
            "fairseq-generate",
            data,
            *options,
            "--gen-subset",
            "test",
            "--decoding",
            "window",
            "--max-len-b",
            5,
        ),
        ("fairseq-validate", data, *options, "--valid-subset", "test1"),
        ("ctxmt", "average", folder, "--around", "last", "--count", 1),
        ("ctxmt", "translate", path, data.parent / "test.en", "--cpu", "--decoding", "window"),
    ):
        assert "--arch fconv: fairseq runs what a checkpoint" in refused(*command)
        assert run(*command, "--trust-checkpoint").stdout
    assert not (folder / "averaged.pt").read_bytes() == path.read_bytes()


def test_trust_is_no_pickle(tmp_path):
    state, _ = trained(tmp_path, arch="fconv")
    path = save(tmp_path / "checkpoint.pt", {**state, "extra_state": Payload(str(tmp_path / "victim"))})
    with pytest.raises(BadInput, match="is no checkpoint, or a damaged one: .*mkdir"):
        Translator.load(str(path), device="cpu", trust_checkpoint=True)
    assert not (tmp_path / "victim").exists()


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


CANNOT = {
    kind: min((arch for arch, each in ARCH_MODEL_REGISTRY.items() if each is kind), key=len)
    for kind in ARCH_MODEL_REGISTRY.values()
    if kind.__module__.startswith("fairseq.") and kind.__module__ not in TRUSTED
}


@pytest.mark.parametrize("arch", CANNOT.values())
def test_others_are_refused_before_they_are_built(arch):
    with pytest.raises(BadInput, match=f"--arch {arch}: does not translate a window .* fconv, .* lstm, .*"):
        check_trainable(arch)


def test_every_size_of_those_that_work_is_trainable():
    works = {arch for arch, kind in ARCH_MODEL_REGISTRY.items() if kind not in CANNOT}
    assert {"lstm_luong_wmt_en_de", "mbart_large", "lightconv_wmt_en_fr_big", "fconv_wmt_en_de"} <= works
    assert "concat_transformer_base" in works
    for arch in works:
        check_trainable(arch)


def test_fairseq_train_says_so_in_a_line(tmp_path):
    folder = data_folder(tmp_path / "data")
    line = ("--task", "document_window", "--user-dir", USER_DIR, "--source-lang", "en", "--target-lang", "fr")
    for arch in ("cmlm_transformer", "hubert"):
        assert f"--arch {arch}: does not" in refused("fairseq-train", folder, *line, "--arch", arch, "--cpu")
