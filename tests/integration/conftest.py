"""One tiny data folder and three tiny checkpoints, made once for all tests and workers of pytest-xdist."""

import os

import pytest
from filelock import FileLock  # torch needs it too

from tests.integration.commands import TASK, TINY, TRAINING, read, run
from tests.integration.recipes import dry_run, forked_commands, planned, refused  # noqa: F401 (fixtures)

LENGTHS = {"test": 1, "test1": 5, "test2": 43}  # lines of the splits; test3 has an empty and a context line


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """``once(name, build)``: the folder that ``build`` fills, by whichever worker comes first."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def folder(name, build):
        path = root / name
        with FileLock(f"{path}.lock"):
            if not (path / "built").exists():
                path.mkdir(exist_ok=True)
                build(path)
                (path / "built").touch()
        return path

    return folder


def _corpus(folder):
    demo = folder / "demo"
    sizes = ("--documents", 120, "--evaluation-documents", 12, "--examples", 4)
    run("ctxmt", "demo-corpus", demo, *sizes, "--seed", 3)
    for split, length in {**LENGTHS, "test3": 12}.items():
        for kind in ("en", "fr", "docids", "meta.jsonl"):
            lines = read(demo / f"test.{kind}")[:length]
            if split == "test3" and kind in ("en", "fr"):
                lines[1] = ""
            (folder / f"{split}.{kind}").write_text("".join(line + "\n" for line in lines))
    (folder / "test3.current").write_text("1\n1\n0\n" + "1\n" * 9)
    tests = ",".join(str(folder / split) for split in (*LENGTHS, "test3"))
    run(
        *("ctxmt", "preprocess", "--source-lang", "en", "--target-lang", "fr", "--train", demo / "train"),
        *("--valid", demo / "valid", "--test", tests, "--vocab-size", 300, "--out", folder / "data"),
    )


@pytest.fixture(scope="session")
def corpus(once):
    """A folder with the text (``demo/``, ``test*.en``, ...) and the data folder ``data``."""
    return once("corpus", _corpus)


@pytest.fixture(scope="session")
def data(corpus):
    return corpus / "data"


@pytest.fixture(scope="session")
def contexts(once, corpus):
    """A context store with discrete vectors."""

    def build(folder):
        tests = ",".join(str(corpus / split) for split in ("test", "test1", "test2", "test3"))
        demo = corpus / "demo"
        text = ("--train", demo / "train", "--valid", demo / "valid", "--test", tests)
        run("ctxmt", "embed", corpus / "data", *text, "--encoder", "discrete", "--out", folder / "store")

    return once("contexts", build) / "store"


def train(folder, data, *options, updates):
    log = run(
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, "--max-tokens", 1000, "--save-dir", folder),
        *("--max-update", updates, "--no-epoch-checkpoints", *options),
    )
    (folder / "log").write_text(log.stdout)


@pytest.fixture(scope="session")
def s2to2(once, data):
    """A concat_transformer on windows of two sentences, validated with BLEU; its checkpoints' folder."""
    options = (
        *("--arch", "concat_transformer", "--source-context", 1, "--target-context", 1),
        *("--segment-positions", "shift", "--save-interval-updates", 80, "--eval-bleu"),
        *("--validate-interval", 100, "--dropout", 0),
        *("--eval-bleu-args", '{"beam": 2, "max_len_b": 20}', "--eval-bleu-remove-bpe", "sentencepiece"),
        *("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"),
    )
    return once("s2to2", lambda folder: train(folder, data, *options, updates=160))


@pytest.fixture(scope="session")
def last(s2to2):
    return s2to2 / "checkpoint_last.pt"


@pytest.fixture(scope="session")
def text(corpus):
    """INPUT of ``ctxmt translate`` and its ids, as options."""
    return (corpus / "test2.en", "--docids", corpus / "test2.docids")


@pytest.fixture(scope="session")
def source_only(once, data):
    """A stock transformer with one previous source sentence."""
    options = ("--arch", "transformer", "--source-context", 1, "--disable-validation")
    return once("source_only", lambda folder: train(folder, data, *options, updates=20))


@pytest.fixture(scope="session")
def sentence_level(once, data):
    """A stock transformer on single sentences."""
    options = ("--arch", "transformer", "--disable-validation")
    return once("sentence_level", lambda folder: train(folder, data, *options, updates=20))
