"""MTCue's rows, few-shot settings and context stores: the commands that they stand for."""

from pathlib import Path

import pytest
import recipe_few_shot

from ctxmt_fairseq.corpora.data_folder import write_description
from tests.integration.recipes import FOCUSED, MTCUE, chosen, recipes, start

MTCUE_BASE = "mtcue_transformer_base"
WIDER = {  # table 3 of MTCue
    "encoder-layers": "10",
    "encoder-ffn-embed-dim": "4096",
    "decoder-ffn-embed-dim": "2048",
}
WIDE = {"decoder-ffn-embed-dim": "4096"}  # the authors' scripts
HASH = {
    "context-store": "data/contexts-discrete",
    "source-context": "5",
    "current-vector": None,
    "context-fusion": "flat",
    "context-layers": "0",
    "context-input": "small-init",
}


@pytest.mark.parametrize(
    "row, arch, expected",
    [
        ("BASE", "transformer", {"task": "document_window", "encoder-layers": None}),
        ("BASE-PM", "transformer", {"task": "document_window", **WIDER}),
        ("TAGGING", "tagging_transformer_base", {"source-context": None, "current-vector": "no", **WIDER}),
        ("BASE-PM+wide-decoder", "transformer", {"task": "document_window", **WIDER, **WIDE}),
        ("TAGGING+wide-decoder", "tagging_transformer_base", {"current-vector": "no", **WIDER, **WIDE}),
        ("TAGGING+hash", MTCUE_BASE, {**HASH, **WIDER, **WIDE}),
        ("NOVOTNEY-CUE", "cue_transformer_base", {"source-context": "5"}),
        ("MTCUE", MTCUE_BASE, {"source-context": "5", "metadata-fields": None, "context-store": None}),
        ("MTCUE+no-context-encoder", MTCUE_BASE, {"context-layers": "0", "source-context": "5"}),
        ("MTCUE+no-positions", MTCUE_BASE, {"context-positions": "no"}),
        ("MTCUE+no-minilm", MTCUE_BASE, {"context-store": "data/contexts-discrete"}),
        ("MTCUE+no-metadata", MTCUE_BASE, {"metadata-fields": "none", "source-context": "5"}),
        ("MTCUE+no-document", MTCUE_BASE, {"source-context": "0", "current-vector": "no"}),
        ("MTCUE+random-context", MTCUE_BASE, {"context-selection": "random"}),
        ("MTCUE+no-context", MTCUE_BASE, {"context-selection": "absent"}),
        ("MTCUE+sequential", MTCUE_BASE, {"context-fusion": "serial"}),
        ("MTCUE+flat+no-positions", MTCUE_BASE, {"context-fusion": "flat", "context-positions": "no"}),
    ],
)
def test_rows_of_mtcue(planned, row, arch, expected):
    options = planned(MTCUE / "train.sh", row, "data", "runs/x", "--gpus", 1)
    assert chosen(options, {"task": None, **expected}) == {"task": "metadata_context", **expected}
    assert options["--arch"] == arch
    published = {  # section 3.4; appendix B: fairseq's IWSLT'14 recipe
        "lr": "3e-4",
        "max-tokens": "25000",
        "update-freq": "8",
        "patience": "5",
        "adam-betas": "(0.9, 0.98)",
        "adam-eps": "1e-8",
        "lr-scheduler": "inverse_sqrt",
        "warmup-updates": "4000",
        "dropout": "0.3",
        "weight-decay": "0.0001",
        "label-smoothing": "0.1",
        "clip-norm": None,
        "max-update": "0",
        "share-all-embeddings": True,
    }
    assert chosen(options, published) == published
    wide = "BASE-PM+wide-decoder"
    starts = {**dict.fromkeys(["BASE", "BASE-PM", wide]), "TAGGING": "BASE-PM"}
    start = {**starts, **dict.fromkeys(["TAGGING+wide-decoder", "TAGGING+hash"], wide)}.get(row, "BASE")
    assert options.get("--sentence-checkpoint") == (start and f"runs/{start}/checkpoints/checkpoint_best.pt")
    dropout = {"context-feature-dropout": "0.25", "context-dropout": "0"}
    assert chosen(options, dropout) == (dropout if start else dict.fromkeys(dropout))


def test_options_of_mtcue(planned):
    train = (MTCUE / "train.sh", "MTCUE", "data", "runs/x", "--gpus", 1)
    given = planned(*train, "--start-from", "a run", "--store", "a store", "--context-dropout", 0.1)
    assert given["--sentence-checkpoint"] == "a run/checkpoints/checkpoint_best.pt"
    assert (given["--context-store"], given["--context-dropout"]) == ("a store", "0.1")
    assert "--sentence-checkpoint" not in planned(*train, "--start-from", "none")
    assert planned(*train, "--max-tokens", 5000)["--update-freq"] == "40"
    given = planned(*train, "--context-feature-dropout", 0.3)
    assert (given["--context-feature-dropout"], given["--context-dropout"]) == ("0.3", "0")
    small = planned(*train, "--profile", "small")
    assert small["--arch"] == "mtcue_transformer_tiny" and "--encoder-layers" not in small


@pytest.mark.parametrize("row", ["BASE-PM", "TAGGING"])
def test_the_wider_encoder_is_wider_in_the_small_profile_too(planned, row):
    small = planned(MTCUE / "train.sh", row, "data", "out", "--gpus", 0, "--profile", "small")
    sizes = {"encoder-layers": "4", "encoder-ffn-embed-dim": "512", "decoder-ffn-embed-dim": "256"}
    assert chosen(small, sizes) == sizes


def test_few_shot_settings_of_mtcue(dry_run):
    texts = ("train", "dev", "set.jsonl", "data", "runs", "few")
    options = ("--attributes", "speaker", "--counts", "0,5,all", "--seed", 3)
    commands = dry_run(MTCUE / "few_shot.sh", *texts, *options, GPUS="1")
    starts = {"MTCUE": "MTCUE", "TAGGING": "BASE-PM"}  # where K = 0 is evaluated
    runs = [(system, count) for system in starts for count in ("5", "all")]
    for (system, count), words in zip(runs, commands, strict=True):
        words = {name: value for name, value in zip(words, words[1:], strict=False)}  # the last of each
        assert words["--save-dir"] == f"few/{system}-{count}/checkpoints"
        assert words["--context-store"] == f"few/contexts-{count}"
        assert words["--sentence-checkpoint"] == f"runs/{starts[system]}/checkpoints/checkpoint_best.pt"
        assert (words["--current-vector"], words["--seed"], words["--lr"]) == ("no", "3", "3e-4")
        assert words.get("--farthest-context") == ("5" if system == "MTCUE" else None)
        assert words.get("--source-context") == ("0" if system == "MTCUE" else None)


def test_few_shot_settings_can_be_more_on_a_second_start(tmp_path, monkeypatch):
    """Every line is a document, also one that holds a carriage return."""

    def run(words, dry):
        if "--counts" in words:
            given = {str(name): value for name, value in zip(words, words[1:], strict=False)}
            for count in given["--counts"].split(","):
                Path(given["--out"], count).mkdir(parents=True)  # ctxmt refuses a folder that is there

    monkeypatch.setattr(recipe_few_shot, "run", run)
    monkeypatch.setattr(recipe_few_shot, "train", lambda *arguments: False)
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    write_description("data", {"source_lang": "en", "target_lang": "fr", "splits": {}})
    for name in ("train", "dev"):
        for end in ("en", "fr", "meta.speaker"):
            Path(f"{name}.{end}").write_text("one\rline\nanother\n", newline="")
    for counts in ("0,5", "0,5,30"):
        texts = ("train", "dev", "set.jsonl", "data", "runs", "few")
        assert start(MTCUE / "few_shot.sh", *texts, "--attributes", "speaker", "--counts", counts) == 0
        assert {path.name for path in Path("few/settings").iterdir()} == {*counts.split(",")}
    assert Path("few/text/train.docids").read_text() == "1\n2\n"


def test_context_stores_of_mtcue(dry_run):
    prepare = (MTCUE / "prepare.sh", "train", "valid", "data", "--fields", "genre,plot")

    def stores(*options):
        first, *embedded = dry_run(*prepare, *options)
        assert first[:2] == ["ctxmt", "preprocess"]
        for words in embedded:
            assert words[:7] == ["ctxmt", "embed", "data", "--train", "train", "--valid", "valid"]
            assert words[words.index("--fields") + 1] == "genre,plot"
        return {words[words.index("--encoder") + 1]: words[words.index("--out") + 1] for words in embedded}

    assert stores() == {"minilm": "data/contexts", "discrete": "data/contexts-discrete"}
    named = stores("--encoders", "hub/multilingual hub/distilbert")
    assert named == {"hub/multilingual": "data/contexts", "hub/distilbert": "data/contexts-distilbert"}
    pooled = stores("--encoders", "mean:hub/minilm cls:distilbert-base-cased")
    assert list(pooled.values()) == ["data/contexts", "data/contexts-distilbert-base-cased"]
    assert len(dry_run(FOCUSED / "prepare.sh", *prepare[1:4])) == 1


def test_bert_is_the_store_of_cue_where_it_is(tmp_path):
    cue = recipes.Recipe(MTCUE)
    assert "--context-store" not in cue.command("NOVOTNEY-CUE", str(tmp_path), "out", gpus="0")
    store = tmp_path / "contexts-distilbert-base-cased"
    store.mkdir()
    command = cue.command("NOVOTNEY-CUE", str(tmp_path), "out", gpus="0")
    assert command[command.index("--context-store") + 1] == str(store)
