"""fairseq's own commands with the plugin: current sentences only, every one of them, from any folder."""

import math
import re
import shutil
import subprocess

import numpy as np
import pytest
import sacrebleu
import torch
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder

import ctxmt_fairseq.checkpoints.reading  # noqa: F401  (what checkpoints hold may be loaded)
from tests.integration.commands import (
    ENVIRONMENT,
    TASK,
    TINY,
    TRAINING,
    USER_DIR,
    losses,
    printed,
    read,
    refused,
    run,
)
from tests.integration.conftest import LENGTHS

SEARCH = ("--beam", 2, "--max-len-b", 20)


def generate(data, model, subset, *options, user_dir=USER_DIR, **keywords):
    done = run(
        *("fairseq-generate", data, "--user-dir", user_dir, "--path", model, "--gen-subset", subset),
        *("--cpu", "--num-workers", 0, "--remove-bpe", "sentencepiece", *SEARCH, *options),
        **keywords,
    )
    return done.stdout + done.stderr


def check_complete(stdout, corpus, subset):
    """Every line of a split once, source and reference as in the text, and a hypothesis."""
    source, target = read(corpus / f"{subset}.en"), read(corpus / f"{subset}.fr")
    assert printed(stdout, "S") == {line: [text] for line, text in enumerate(source)}
    assert printed(stdout, "T") == {line: [text] for line, text in enumerate(target)}
    hypotheses = printed(stdout, "H")
    assert sorted(hypotheses) == list(range(len(source)))
    return hypotheses


@pytest.fixture(scope="module")
def last(s2to2):
    return s2to2 / "checkpoint_last.pt"


@pytest.mark.parametrize(
    ("subset", "limits", "model"),
    [
        ("test", ("--batch-size", 8), "s2to2"),
        ("test1", ("--batch-size", 3), "sentence_level"),
        ("test1", ("--max-tokens", 100), "source_only"),
    ],
)
def test_every_current_sentence_is_printed_once(request, corpus, data, subset, limits, model):
    stdout = generate(data, request.getfixturevalue(model) / "checkpoint_last.pt", subset, *limits)
    assert f"Translated {LENGTHS[subset]} sentences" in stdout
    assert all(len(nbest) == 1 for nbest in check_complete(stdout, corpus, subset).values())


def test_nbest_and_batches_and_user_dirs(corpus, data, last, tmp_path):
    stdout = generate(
        *(data, last, "test2", "--batch-size", 8, "--nbest", 2), user_dir="ctxmt_fairseq", cwd=USER_DIR.parent
    )
    nbest = check_complete(stdout, corpus, "test2")
    assert all(len(set(texts)) == len(texts) <= 2 for texts in nbest.values())
    assert any(len(texts) == 2 for texts in nbest.values())

    where = subprocess.run(
        ["ctxmt", "user-dir"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    ).stdout.strip()
    stdout = generate(data, last, "test2", "--max-tokens", 300, user_dir=where, cwd=tmp_path)
    best = check_complete(stdout, corpus, "test2")
    assert best == {line: texts[:1] for line, texts in nbest.items()}


def test_only_the_checkpoint_s_task_and_the_command_line_s_context(corpus, data, last, tmp_path):
    common = ("--user-dir", USER_DIR, "--path", last, "--cpu")
    line = refused("fairseq-generate", data, *common, "--task", "translation")
    assert "expected document_window" in line

    # Without context every sentence is translated as if it were a document of its own.
    alone = shutil.copytree(data, tmp_path / "alone")
    (alone / "test1.en-fr.docids").write_text("".join(f"{line}\n" for line in range(5)))
    options = ("--source-context", 0, "--target-context", 0)
    without = check_complete(generate(data, last, "test1", *options), corpus, "test1")
    assert without == check_complete(generate(alone, last, "test1"), corpus, "test1")


def test_the_first_sentence_can_be_kept(corpus, data, last):
    """Each line has its own translation, as of ctxmt translate; a dialogue does not have what comes later."""
    first = ("--keep-sentence", "first", "--decoding", "window")
    found = check_complete(generate(data, last, "test1", "--batch-size", 2, *first), corpus, "test1")
    text = (corpus / "test1.en", "--docids", corpus / "test1.docids", "--cpu")
    done = run("ctxmt", "translate", last, *text, *SEARCH, *first)
    assert found == {line: [text] for line, text in enumerate(done.stdout.splitlines())}
    interactive = ("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", last, "--cpu", *first)
    assert "--keep-sentence first: expected " in refused(*interactive, input="a\n")
    aligned = ("fairseq-generate", *interactive[1:], "--print-alignment")
    assert "--print-alignment: expected " in refused(*aligned)


def test_reference_scores(corpus, data, last):
    stdout = generate(data, last, "test1", "--score-reference", "--batch-size", 2)
    target = read(corpus / "test1.fr")
    assert check_complete(stdout, corpus, "test1") == {line: [text] for line, text in enumerate(target)}
    for line, score, scores in re.findall(r"^D-(\d+)\t(\S+)\t.*\nP-\1\t(.*)$", stdout, re.MULTILINE):
        tokens = [float(token) for token in scores.split()]
        assert float(score) == pytest.approx(sum(tokens) / len(tokens), abs=1e-3), line


def test_empty_sentences_and_context_only_lines(corpus, data, last):
    stdout = generate(data, last, "test3", "--batch-size", 4)
    assert "Translated 11 sentences" in stdout
    hypotheses = printed(stdout, "H")
    assert sorted(hypotheses) == [line for line in range(12) if line != 2]
    assert [line for line, texts in hypotheses.items() if texts == [""]] == [1]
    assert printed(stdout, "S") == {
        line: [text] for line, text in enumerate(read(corpus / "test3.en")) if line != 2
    }


def test_validation_bleu_is_of_current_sentences_and_loss_is_repeated(corpus, data, s2to2):
    """The training's own validation of its last checkpoint, against independent commands."""
    log = (s2to2 / "log").read_text()
    assert len(losses(log)) == 160
    bleu = float(re.findall(r'"valid_bleu": "([\d.]+)"', log)[-1])
    loss = float(re.findall(r'"valid_loss": "([\d.]+)"', log)[-1])
    assert "valid_separator_mismatches" in log

    last = s2to2 / "checkpoint_last.pt"
    hypotheses = printed(generate(data, last, "valid", "--batch-size", 16), "H")
    references = read(corpus / "demo" / "valid.fr")
    texts = [hypotheses[line][0] for line in range(len(references))]
    assert sacrebleu.corpus_bleu(texts, [references]).score == pytest.approx(bleu, abs=0.02)
    assert bleu > 0

    done = run(
        *("fairseq-validate", data, "--user-dir", USER_DIR, "--path", last, "--cpu", "--num-workers", 0),
        *("--valid-subset", "valid", "--batch-size", 8, "--log-format", "json"),
    )
    found = float(re.findall(r'"valid_loss": "?([\d.]+)', done.stdout + done.stderr)[-1])
    assert found == pytest.approx(loss, abs=2e-3)


def test_a_sentence_that_no_model_can_hold(data, sentence_level, last, tmp_path):
    """The error comes up lazily, when the batches are made: still one line and exit code 2."""
    folder = shutil.copytree(data, tmp_path / "data")
    for language in ("en", "fr"):
        builder = MMapIndexedDatasetBuilder(f"{folder}/valid.en-fr.{language}.bin", np.uint16)
        for length in (3, 6000):
            builder.add_item(torch.tensor([5] * length + [2]))
        builder.finalize(f"{folder}/valid.en-fr.{language}.idx")
    (folder / "valid.en-fr.docids").write_text("a\nb\n")
    model = sentence_level / "checkpoint_last.pt"
    options = ("--user-dir", USER_DIR, "--path", model, "--valid-subset", "valid", "--cpu", "--batch-size", 8)
    line = refused("fairseq-validate", folder, *options)
    assert "valid: line 2: expected a sentence of at most" in line and "found (6001, 6001)" in line
    (folder / "valid.en-fr.docids").write_text("a\na\n")
    stdout = generate(folder, last, "valid", "--skip-invalid-size-inputs-valid-test")
    assert sorted(printed(stdout, "H")) == [0]


def test_interactive_lines_are_sentences_of_documents(corpus, data, last):
    first, second = read(corpus / "test1.en")[:2]
    lines = [second, "", first, second, "", second]
    done = run(
        *("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", last, "--cpu", *SEARCH),
        input="".join(line + "\n" for line in lines),
    )
    hypotheses = {
        int(number): (float(score), text)
        for number, score, text in re.findall(r"^D-(\d+)\t(\S+)\t(.*)$", done.stdout, re.MULTILINE)
    }
    assert sorted(hypotheses) == [0, 2, 3, 5]  # a blank line prints none
    assert hypotheses[0] == hypotheses[5]
    assert not math.isclose(hypotheses[0][0], hypotheses[3][0], abs_tol=1e-4)  # the history matters
    expected = printed(generate(data, last, "test1", "--batch-size", 1), "H")
    assert [hypotheses[2][1], hypotheses[3][1]] == [expected[0][0], expected[1][0]]


def test_a_flag_in_place_of_separators(corpus, data, tmp_path):
    """Voita et al.'s concatenation, trained with contexts exchanged too; the checkpoint knows its windows."""
    train = (
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, "--save-dir", tmp_path, "--max-update", 3),
        *("--arch", "concat_transformer", "--segment-positions", "flag", "--source-context", 1),
        *("--no-separator", "--criterion", "context_margin", "--max-sentence-tokens", 10),
        *("--count-current-tokens", "--max-tokens", 300, "--no-epoch-checkpoints", "--disable-validation"),
    )
    assert "examples are too long and left out" in run(*train).stdout
    assert "--no-separator needs --target-context 0, found 1" in refused(*train, "--target-context", 1)
    last = tmp_path / "checkpoint_last.pt"
    assert torch.load(last, weights_only=True)["task_state"]["context"]["no_separator"] is True
    hypotheses = check_complete(generate(data, last, "test1", "--batch-size", 3), corpus, "test1")
    text = (
        "ctxmt",
        "translate",
        last,
        corpus / "test1.en",
        "--docids",
        corpus / "test1.docids",
        "--cpu",
        *SEARCH,
    )
    assert run(*text).stdout.splitlines() == [nbest[0] for _, nbest in sorted(hypotheses.items())]


def test_sentences_without_translations_are_neither_trained_on_nor_validated(data, source_only, tmp_path):
    shutil.copytree(data, tmp_path / "data")
    for split in ("train", "valid"):
        for path in (tmp_path / "data").glob(f"{split}.en-fr.fr.*"):
            path.unlink()
    expected = "ctxmt: error: training and validation need target sentences, and this split has none"
    path = ("--path", source_only / "checkpoint_last.pt", "--cpu", "--batch-size", 4)
    assert refused("fairseq-validate", tmp_path / "data", *TASK[:2], *path) == expected
    save = ("--save-dir", tmp_path, "--max-tokens", 300, "--disable-validation")
    train = ("fairseq-train", tmp_path / "data", *TASK, *TINY, *TRAINING, "--arch", "transformer", *save)
    assert refused(*train) == expected and not (tmp_path / "crash.pt").exists()


@pytest.mark.parametrize("name", ["train", "generate", "interactive", "validate"])
def test_a_value_of_two_dashes(tmp_path, name):
    for option in ("--seed=--", "--source-lang=--"):
        line = refused(f"fairseq-{name}", tmp_path, option, *TASK, input="")
        assert line == f"ctxmt: error: {option}: expected a value, found --"


def test_several_validation_sets(data, tmp_path):
    folder = shutil.copytree(data, tmp_path / "data")
    for path in folder.glob("test2.*"):
        path.rename(folder / path.name.replace("test2", "valid1"))
    training = (
        "fairseq-train",
        folder,
        *TASK,
        *TINY,
        *TRAINING,
        "--arch",
        "transformer",
        "--max-tokens",
        1000,
    )
    training += ("--max-update", 1, "--no-save")
    done = run(*training, "--valid-subset", "valid,valid1")
    assert '"valid_loss"' in done.stdout and '"valid1_loss"' in done.stdout
    assert "sets are valid,valid1; name those to validate on" in refused(*training)
    assert "--combine-valid-subsets: name the sets" in refused(*training, "--combine-val")


def test_gradients_that_are_not_finite(data, tmp_path):
    """fairseq ends with two tracebacks, the last one a StopIteration."""
    windows = ("--arch", "concat_transformer", "--source-context", 1, "--target-context", 1)
    line = refused(
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, *windows, "--max-tokens", 1000, "--max-update", 9),
        *("--optimizer", "sgd", "--lr", 1e12, "--lr-scheduler", "fixed", "--save-dir", tmp_path),
    )
    assert re.search(r"update [2-9]: gradients are Nan/Inf: .*--clip-norm", line)
    assert (tmp_path / "crash.pt").exists() and str(tmp_path / "crash.pt") in line
