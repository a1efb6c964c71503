"""From a sentence-level model of stock fairseq, its BPE codes and dictionaries, to context-aware ones."""

import io
import json
import re

import pytest
import torch
from fairseq import options, tasks
from fairseq.checkpoint_utils import load_model_ensemble
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli.train import main as train
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR
from tests.helpers.random_models import fused
from tests.integration.commands import TINY, TRAINING, losses, read, run

ctxmt_fairseq.register()  # fairseq trains and loads in this process, too
SIZE = tuple(option for option in TINY if option != "--share-all-embeddings")
ARCHITECTURES = {
    "concat_transformer": ("--task", "document_window", "--segment-positions", "shift"),
    "gated_context_transformer": ("--task", "multi_source", "--source-context", 1),
    "mtcue_transformer": ("--task", "metadata_context", "--source-context", 1, "--current-vector", "no"),
}
ABSENT = ("--context-selection", "absent")
# Nothing of its context; windows are trained with some.
WITHOUT = {"concat_transformer": (), "mtcue_transformer": (*ABSENT, "--metadata-fields", "none")}
CONTEXT = {"concat_transformer": ("--source-context", 1, "--target-context", 1)}


def ctxmt(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture(scope="module")
def start(once, corpus):
    """``stock``, which knows nothing of this plugin, with ``codes`` and a model; ``data``, made like it."""
    return once("start", lambda folder: _start(folder, corpus / "demo"))


def _start(folder, demo):
    with open(folder / "codes", "w", encoding="utf-8") as codes:
        learn_bpe(io.StringIO("\n".join(read(demo / "train.en") + read(demo / "train.fr"))), codes, 150)
    with open(folder / "codes", encoding="utf-8") as codes:
        bpe = BPE(codes)
    for language in ("en", "fr"):
        lines = [bpe.process_line(line) + "\n" for line in read(demo / f"train.{language}")]
        (folder / f"cut.{language}").write_text("".join(lines), encoding="utf-8")
    stock = ("--source-lang", "en", "--target-lang", "fr", "--trainpref", folder / "cut")
    run("fairseq-preprocess", *stock, "--destdir", folder / "stock")
    sharing = ("--share-decoder-input-output-embed", "--max-tokens", 1000, "--max-update", 100)
    log = run(
        *("fairseq-train", folder / "stock", "--arch", "transformer", *SIZE, *TRAINING, *sharing),
        *("--save-dir", folder, "--no-epoch-checkpoints", "--disable-validation"),
    )
    (folder / "stock.log").write_text(log.stdout)
    (folder / "checkpoint_last.pt").rename(folder / "sentence.pt")
    text = ("--train", demo / "train", "--test", demo / "test")
    given = (
        "--dict-source",
        folder / "stock" / "dict.en.txt",
        "--dict-target",
        folder / "stock" / "dict.fr.txt",
    )
    ctxmt(
        *("preprocess", "--source-lang", "en", "--target-lang", "fr", *text, *given),
        *("--bpe-codes", folder / "codes", "--out", folder / "data"),
    )
    ctxmt("embed", folder / "data", *text, "--encoder", "discrete")


def command(start, arch, *more):
    """What fairseq-train is asked for."""
    return (
        *(start / "data", "--arch", arch, *ARCHITECTURES[arch], *SIZE, *TRAINING, "--max-tokens", 500),
        *("--share-decoder-input-output-embed", "--sentence-checkpoint", start / "sentence.pt", *more),
    )


def configuration(*words):
    args = options.parse_args_and_arch(
        options.get_training_parser(), input_args=[str(word) for word in words]
    )
    return convert_namespace_to_omegaconf(args)


def build(*words):
    """The task and the model that fairseq-train would begin with."""
    cfg = configuration(*words)
    task = tasks.setup_task(cfg.task)
    return task, task.build_model(cfg.model)


def test_the_text_is_what_the_model_was_trained_on(start):
    for name in ("train.en-fr.en.bin", "train.en-fr.en.idx", "train.en-fr.fr.bin", "train.en-fr.fr.idx"):
        assert (start / "data" / name).read_bytes() == (start / "stock" / name).read_bytes()
    for language in ("en", "fr"):
        own, theirs = (read(start / name / f"dict.{language}.txt") for name in ("data", "stock"))
        assert own == [*theirs, f"{SEPARATOR} 1", f"{MASK} 1"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_without_context_it_is_the_stock_model(start, arch):
    (sentence,), _ = load_model_ensemble([str(start / "sentence.pt")])
    task, model = build(*command(start, arch, *WITHOUT.get(arch, ABSENT)))
    task.load_dataset("test")
    dataset = task.dataset("test")
    batch = dataset.collater([dataset[line] for line in range(5)])["net_input"]
    plain = {name: batch[name] for name in ("src_tokens", "src_lengths", "prev_output_tokens")}
    with torch.no_grad():
        expected, found = fused(sentence.eval())(**plain)[0], model.eval()(**batch)[0]
    symbols = expected.shape[-1]
    assert found.shape[-1] == symbols + 2  # of which the sentence-level model knows nothing
    expected, found = (logits[..., :symbols].log_softmax(-1) for logits in (expected, found))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_it_trains_on_and_translates(start, corpus, arch, tmp_path, capsys, caplog):
    save = ("--save-dir", tmp_path, "--max-update", 6, "--no-epoch-checkpoints", "--disable-validation")
    with caplog.at_level("INFO"), caplog.at_level("INFO", "fairseq"):
        train(configuration(*command(start, arch, *CONTEXT.get(arch, ()), *save)))
    for side in ("source", "target"):
        assert f"embeddings of 2 new {side} symbols initialised: <sep>, <mask>\n" in caplog.text
    records = [json.loads(each.getMessage()) for each in caplog.records if each.name == "train_inner"]
    gone = [tmp_path / "gone.pt" if word == start / "sentence.pt" else word for word in command(start, arch)]
    build(*gone, *save)  # which goes on
    with pytest.raises(BadInput, match="gone.pt: no such checkpoint"):
        build(*gone, "--save-dir", tmp_path / "new")
    random = list(losses((start / "stock.log").read_text()).values())[0][0]
    assert len(records) == 6 and float(records[0]["loss"]) < float(random) - 1
    test = corpus / "demo" / "test"
    text = (f"{test}.en", "--docids", f"{test}.docids")
    capsys.readouterr()
    ctxmt("translate", tmp_path / "checkpoint_last.pt", *text, "--beam", 2, "--max-len-b", 20, "--cpu")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(read(f"{test}.en")) and len(set(lines)) > 5
    assert not [line for line in lines if "@@" in line]


def test_what_does_not_fit_is_refused(start, data):
    checkpoint = re.escape(str(start / "sentence.pt"))
    words = command(start, "concat_transformer")
    other = [data if word == start / "data" else word for word in words]
    gru = (start / "data", "--task", "document_window", "--arch", "context_gru_tiny")
    for given, message in (
        ((*words, "--encoder-ffn-embed-dim", 128), "--encoder-ffn-embed-dim: the checkpoint has 64, --arch"),
        ((*gru, "--sentence-checkpoint", start / "sentence.pt"), "expected a checkpoint of context_gru"),
        (other, ".*dict.en.txt: make the data folder with the dictionary of the checkpoint"),
    ):
        with pytest.raises(BadInput, match=f"^{checkpoint}: .*{message}"):
            build(*given)
