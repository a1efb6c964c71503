"""The recipes under examples/ for real, in miniature: from text to a table."""

import json

import pytest

from tests.integration.commands import run
from tests.integration.recipes import FOCUSED, MTCUE, SHORTENING, THESIS, bash, start

TRAINING = ("--profile", "small", "--gpus", 0, "--batch-tokens", 600)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """A folder whose name has a space, with the demo corpus in it."""
    folder = tmp_path_factory.mktemp("demo corpus")
    sizes = ("--documents", 40, "--evaluation-documents", 3, "--examples", 4)
    run("ctxmt", "demo-corpus", folder / "text", *sizes)
    return folder


@pytest.fixture
def here(text, monkeypatch, forked_commands):
    """The same, as the current folder; steps of recipes run their commands in forked processes."""
    monkeypatch.chdir(text)
    return text


def prepare(paper, data, *options):
    arguments = ("text/train", "text/valid", data, "--target-lang=fr", "--workers", 1, *options)
    assert start(paper / "prepare.sh", *arguments) == 0


def train(paper, row, run, updates=2, data="data bin", flags=()):
    ends = ("--validate-every", updates, "--max-update", updates)
    assert start(paper / "train.sh", row, data, run, *TRAINING, *ends, "--", "--num-workers", 0, *flags) == 0


def evaluate(folder, paper, run, *options, data="data bin"):
    arguments = (data, run, "text/test", *options, "--max-len-b", 8, "--cpu")
    assert start(paper / "evaluate.sh", *arguments) == 0
    return json.loads((folder / run / "evaluation" / "results.json").read_text())


@pytest.mark.slow
def test_focused_concat_from_text_to_table(text):
    """Through the shell."""
    for script, *arguments in (
        ("prepare.sh", "text/train", "text/valid", "data bin", "--target-lang=fr", "--vocab-size", 400),
        (
            *("train.sh", "s2to2+shift+CD", "data bin", "a run", *TRAINING, "--validate-every", 2),
            *("--max-update", 4, "--", "--num-workers", 0),
        ),
        (
            *("evaluate.sh", "data bin", "a run", "text/test", "text/contrastive/lexical-choice.json"),
            *("--average", 2, "--max-len-b", 8, "--cpu"),
        ),
    ):
        done = bash(FOCUSED / script, *arguments, cwd=text)
        assert done.returncode == 0, done.stderr
    description = json.loads((text / "data bin" / "ctxmt.json").read_text())
    assert description["joined_dictionary"] is True and description["target_lang"] == "fr"
    out = text / "a run" / "evaluation"
    results = json.loads((out / "results.json").read_text())
    assert set(results["translations"]) == {"window", "prefix"}
    assert results["contrast"]["lexical-choice"]["examples"] == 4
    assert results["contrast"]["lexical-choice"]["convention"] == "mean-window"
    lines = len((text / "text" / "test.en").read_text().splitlines())
    assert len((out / "window.hyp").read_text().splitlines()) == lines
    assert "decoded as windows" in done.stdout and "BLEU, own context" in done.stdout
    assert done.stderr.startswith("+ ctxmt evaluate 'a run' text/test ")


@pytest.mark.slow
def test_thesis_context_encoder_starts_from_the_sentence_model(here):
    prepare(THESIS, "thesis data", "--vocab-size", 400)
    train(THESIS, "src0tgt0_to_tgt0", "thesis/src0tgt0_to_tgt0", data="thesis data")
    train(THESIS, "CE+gate+pretrain+freeze", "thesis/CE", data="thesis data")
    assert "parameters taken over" in (here / "thesis" / "CE" / "train.log").read_text()
    search = ("--beam", 1, "--lenpen", "opt", "--lenpens", "0.4 1.0", "--dev", "text/valid")
    results = evaluate(here, THESIS, "thesis/CE", "--contexts", "trained absent", *search, data="thesis data")
    assert set(results["translations"]) in ({f"window.n{n}", f"window.n{n}.absent"} for n in ("0.4", "1"))
    evaluate(here, THESIS, "thesis/src0tgt0_to_tgt0", "--beam", 1, data="thesis data")
    (absent,) = (here / "thesis" / "CE" / "evaluation").glob("window.*.absent.hyp")
    sentence = here / "thesis" / "src0tgt0_to_tgt0" / "evaluation" / "window.hyp"
    assert absent.read_text() == sentence.read_text()  # frozen, and no context


@pytest.mark.slow
def test_sequence_shortening_from_text_to_table(here):
    prepare(SHORTENING, "separate", "--vocab-size", 300)
    assert json.loads((here / "separate" / "ctxmt.json").read_text())["joined_dictionary"] is False
    train(SHORTENING, "selecting-2", "short", data="separate", flags=("--shortening-size", 3))
    results = evaluate(here, SHORTENING, "short", "--contexts", "trained absent", data="separate")
    assert set(results["translations"]) == {"prefix", "prefix.absent"}


@pytest.fixture
def metadata(here):
    """A data folder with a context store, and the runs that the rows of MTCue start from; made once."""
    if not (here / "mtcue").exists():
        prepare(MTCUE, "metadata", "--vocab-size", 400, "--encoders", "discrete")
        train(MTCUE, "BASE", "mtcue/BASE", 60, data="metadata")
        train(MTCUE, "MTCUE", "mtcue/MTCUE", data="metadata")
    return here


@pytest.mark.slow
def test_mtcue_from_text_to_table(metadata):
    log = (metadata / "mtcue" / "MTCUE" / "train.log").read_text()
    assert "mtcue/BASE/checkpoints/checkpoint_best.pt: " in log and " parameters taken over" in log
    suite = "text/contrastive/formality.jsonl"
    options = ("--contexts", "random", "--beam", 1)
    results = evaluate(metadata, MTCUE, "mtcue/MTCUE", suite, *options, data="metadata")
    assert set(results["translations"]) == {"prefix.random"} and set(results["contrast"]) == {"formality"}


@pytest.mark.slow
def test_few_shot_settings_from_text_to_picture(metadata, monkeypatch):
    train(MTCUE, "BASE-PM", "mtcue/BASE-PM", 60, data="metadata")
    record = {
        "source": "I was surprised.",
        "attributes": {"speaker": "The speaker is a woman"},
        "expected": {"speaker": ["."]},  # what hardly trained models translate with
        "wrong": {"speaker": ["surpris"]},
    }
    (metadata / "set.jsonl").write_text(json.dumps(record) + "\n")
    settings = {"PROFILE": "small", "GPUS": "0", "MAX_UPDATE": "2", "VALIDATE_EVERY": "2"}
    for name, value in {**settings, "BATCH_TOKENS": "600"}.items():
        monkeypatch.setenv(name, value)
    arguments = ("text/train", "text/valid", "set.jsonl", "metadata", "mtcue", "few shot")
    options = ("--attributes", "speaker,addressee", "--counts", "0,2", "--encoder", "discrete")
    assert start(MTCUE / "few_shot.sh", *arguments, *options, "--", "--num-workers", 0) == 0
    out = metadata / "few shot"
    results = {path.stem: json.loads(path.read_text()) for path in out.glob("*-*.json")}
    assert results.keys() == {f"{system}-{count}" for system in ("MTCUE", "TAGGING") for count in (0, 2)}
    for name, result in results.items():
        assert f"{result['system']}-{result['setting']['count']}" == name
    assert (out / "few-shot.png").is_file()
    ids = (out / "text" / "train.docids").read_text().splitlines()
    assert len(set(ids)) == len((metadata / "text" / "train.en").read_text().splitlines())
