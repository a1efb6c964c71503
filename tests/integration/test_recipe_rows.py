"""The rows of the papers' tables: the training commands that they stand for."""

import shlex

import pytest
from fairseq import options as fairseq_options

from tests.integration.commands import USER_DIR
from tests.integration.recipes import FOCUSED, GATED, MTCUE, SHORTENING, THESIS, bash

MTCUE_BASE = "mtcue_transformer_base"
WIDER = {  # table 3 of MTCue
    "encoder-layers": "10",
    "encoder-ffn-embed-dim": "4096",
    "decoder-ffn-embed-dim": "2048",
}
SHORTENED = {  # section 5.2: kind, K for En-De and En-Fr
    "max-pooling": ("max", 2, 2),
    "avg-pooling": ("mean", 2, 2),
    "linear-pooling": ("linear", 2, 2),
    "grouping": ("group", 9, 11),
    "selecting": ("select", 10, 11),
}


def chosen(options, expected):
    """The expected options' values."""
    return {name: options.get(f"--{name}") for name in expected}


# ---- Voita et al. 2018 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, expected",
    [
        ("baseline", {"task": "document_window", "arch": "concat_transformer", "source-context": None}),
        ("concatenation", {"task": "document_window", "segment-types": "context", "source-context": "1"}),
        ("previous", {"task": "multi_source", "source-context": "1", "source-context-after": None}),
        ("next", {"task": "multi_source", "source-context": None, "source-context-after": "1"}),
    ],
)
def test_rows_of_the_gated_context_encoder(planned, row, expected):
    options = planned(GATED / "train.sh", row, "data", "out", "--gpus", 2)
    assert chosen(options, expected) == expected
    assert (options["--arch"] == "gated_context_transformer") == (row in ("previous", "next"))
    vaswani = {"lr": "7e-4", "warmup-updates": "4000", "dropout": "0.1", "adam-eps": "1e-9"}
    assert chosen(options, vaswani) == vaswani
    assert "--share-all-embeddings" not in options  # separate vocabularies


# ---- sequence shortening ---------------------------------------------------------------------------------


@pytest.mark.parametrize("gpus", [1, 2, 8])
def test_table_4_of_sequence_shortening(planned, gpus):
    options = planned(SHORTENING / "train.sh", "grouping-2", "data", "out", "--gpus", gpus)
    table = {
        "dropout": "0.3",
        "share-decoder-input-output-embed": True,
        "adam-betas": "(0.9, 0.98)",
        "adam-eps": "1e-8",
        "lr": "5e-4",
        "lr-scheduler": "inverse_sqrt",
        "warmup-updates": "2500",
        "weight-decay": "0.0001",
        "label-smoothing": "0.1",
        "clip-norm": "0.1",
        "max-tokens": "4096",
        "update-freq": str(8 // gpus),
        "max-update": "0",
        "patience": "5",
        "seed": "42",
    }
    assert chosen(options, table) == table
    assert "--share-all-embeddings" not in options
    assert (
        planned(SHORTENING / "train.sh", "grouping-2", "data", "out", "--gpus", 3)["--max-tokens"] == "3640"
    )


@pytest.mark.parametrize("context", [1, 2, 3])
@pytest.mark.parametrize("row", SHORTENED)
def test_shortening_rows(planned, row, context):
    kind, german, french = SHORTENED[row]
    for profile, size in (("en-de", german), ("en-fr", french)):
        expected = {
            "task": "multi_source",
            "arch": "caching_transformer",
            "shortening": kind,
            "shortening-size": str(size),
            "source-context": str(context),
        }
        name = f"{row}-{context}"
        options = planned(SHORTENING / "train.sh", name, "d", "o", "--gpus", 1, "--profile", profile)
        assert chosen(options, expected) == expected


@pytest.mark.parametrize(
    "row, expected",
    [
        ("sentence-level", {"arch": "concat_transformer", "source-context": "0", "task": "document_window"}),
        (
            "single-encoder-3",
            {"arch": "concat_transformer", "source-context": "3", "task": "document_window"},
        ),
        (
            "multi-encoder-2",
            {
                "arch": "dual_encoder_transformer",
                "source-context": "2",
                "context-fusion": "concat",
                "context-layout": "joined",
            },
        ),
        ("caching-tokens-1", {"arch": "caching_transformer", "shortening": "none"}),
        ("caching-sentence-3", {"arch": "caching_transformer", "shortening": "sentence"}),
    ],
)
def test_other_rows_of_sequence_shortening(planned, row, expected):
    options = planned(SHORTENING / "train.sh", row, "data", "out", "--gpus", 1)
    assert chosen(options, expected) == expected
    small = planned(SHORTENING / "train.sh", row, "data", "out", "--gpus", 0, "--profile", "small")
    assert small["--arch"] == f"{options['--arch']}_tiny"


# ---- the thesis ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, source, on_source, target, limit",
    [
        ("src0tgt0_to_tgt0", 0, 0, 0, 80),
        ("src1tgt0_to_tgt0", 1, 0, 0, 160),
        ("src2tgt0_to_tgt0", 2, 0, 0, 240),
        ("src1tgt1ref_to_tgt0", 1, 1, 0, 240),
        ("src1tgt1mt_to_tgt0", 1, 1, 0, 240),
        ("src1tgt0_to_tgt1", 1, 0, 1, 160),
        ("src1tgt0_to_tgt1_1st", 1, 0, 1, 160),
        ("src1tgt1_to_tgt1", 1, 1, 1, 240),
    ],
)
def test_concatenation_rows_of_the_thesis(planned, row, source, on_source, target, limit):
    train = (THESIS / "train.sh", row, "data", "out", "--gpus", 2, "--profile", "europarl")
    options = planned(*train)
    assert (options["--arch"], options["--task"]) == ("transformer", "document_window")
    sizes = [
        int(options[f"--{name}"]) for name in ("source-context", "target-context-on-source", "target-context")
    ]
    assert sizes == [source, on_source, target]
    assert options["--max-window-tokens"] == str(limit)
    assert planned(*train, "--window-limit", 160)["--max-window-tokens"] == "160"
    rnn = planned(THESIS / "train.sh", f"RNN-{row}", *train[2:])
    assert (rnn["--arch"], rnn["--source-context"]) == ("context_gru_base", str(source))
    assert rnn["--lr"] == rnn["--warmup-init-lr"] == "3e-4"


@pytest.mark.parametrize(
    "row, arch, expected",
    [
        ("DE", "dual_encoder", {"context-selection": "document", "max-window-tokens": "110", "lr": "3e-4"}),
        ("DE+shared", "dual_encoder", {"context-encoder": "shared"}),
        ("DE+shared+token", "dual_encoder", {"context-encoder": "shared-token"}),
        ("DE+fusion=hierarchical", "dual_encoder", {"context-fusion": "hierarchical"}),
        ("CE", "context_encoder", {"context-gate": "none", "train-context-only": None}),
        ("CE+gate", "context_encoder", {"context-gate": "thesis", "sentence-checkpoint": None}),
        ("CE+gate=zhang+layers=6", "context_encoder", {"context-gate": "zhang", "context-layers": "6"}),
        (
            "CE+gate+pretrain",
            "context_encoder",
            {
                "sentence-checkpoint": "runs/src0tgt0_to_tgt0/checkpoints/checkpoint_best.pt",
                "train-context-only": None,
                "lr": "2e-4",
            },
        ),
        ("CE+gate+pretrain+freeze", "context_encoder", {"train-context-only": True}),
        ("CE+switch", "context_encoder", {"context-selection": "swapped"}),
        ("Voita", "gated_context", {"criterion": "label_smoothed_cross_entropy"}),
        ("Voita+ref", "gated_context", {"context-selection": "reference"}),
        ("Voita+margin", "gated_context", {"criterion": "context_margin"}),
    ],
)
def test_multi_encoder_rows_of_the_thesis(planned, row, arch, expected):
    options = planned(THESIS / "train.sh", row, "data", "runs/x", "--gpus", 2)
    assert chosen(options, expected) == expected
    assert options["--arch"] == f"{arch}_transformer_base" and options["--share-all-embeddings"] is True
    assert (options["--task"], options["--source-context"]) == ("multi_source", "1")


def test_profiles_of_the_thesis(planned):
    train = (THESIS / "train.sh", "CE+gate+pretrain", "data", "runs/x", "--gpus", 2)
    assert planned(*train, "--profile", "europarl")["--lr"] == "1e-4"
    assert planned(*train, "--profile", "europarl", "--lr", "5e-4")["--lr"] == "5e-4"
    big = planned(*train, "--profile", "wmt-big", "--sentence-model", "a run")
    assert (big["--encoder-embed-dim"], big["--decoder-ffn-embed-dim"]) == ("1024", "4096")
    assert big["--sentence-checkpoint"] == "a run/checkpoints/checkpoint_best.pt"
    small = planned(*train, "--profile", "small")
    assert small["--arch"] == "context_encoder_transformer_tiny" and "--clip-norm" not in small


# ---- MTCue -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, arch, expected",
    [
        ("BASE", "transformer", {"task": "document_window", "encoder-layers": None}),
        ("BASE-PM", "transformer", {"task": "document_window", **WIDER}),
        ("TAGGING", "tagging_transformer_base", {"source-context": None, "current-vector": "no", **WIDER}),
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
    start = {"BASE": None, "BASE-PM": None, "TAGGING": "BASE-PM"}.get(row, "BASE")
    assert options.get("--sentence-checkpoint") == (start and f"runs/{start}/checkpoints/checkpoint_best.pt")
    assert ("--context-dropout" in options) == (start is not None)


def test_options_of_mtcue(planned):
    train = (MTCUE / "train.sh", "MTCUE", "data", "runs/x", "--gpus", 1)
    given = planned(*train, "--start-from", "a run", "--store", "a store", "--context-dropout", 0.1)
    assert given["--sentence-checkpoint"] == "a run/checkpoints/checkpoint_best.pt"
    assert (given["--context-store"], given["--context-dropout"]) == ("a store", "0.1")
    assert "--sentence-checkpoint" not in planned(*train, "--start-from", "none")
    assert planned(*train, "--max-tokens", 5000)["--update-freq"] == "40"
    small = planned(*train, "--profile", "small")
    assert small["--arch"] == "mtcue_transformer_tiny" and "--encoder-layers" not in small


@pytest.mark.parametrize("row", ["BASE-PM", "TAGGING"])
def test_the_wider_encoder_is_wider_in_the_small_profile_too(planned, row):
    small = planned(MTCUE / "train.sh", row, "data", "out", "--gpus", 0, "--profile", "small")
    sizes = {"encoder-layers": "4", "encoder-ffn-embed-dim": "512", "decoder-ffn-embed-dim": "256"}
    assert chosen(small, sizes) == sizes


def test_few_shot_settings_of_mtcue(stubs, tmp_path):
    script = (
        MTCUE / "few_shot.sh",
        "train",
        "dev",
        "set.jsonl",
        "data",
        "runs",
        "few",
        "--attributes",
        "speaker",
    )
    done = bash(*script, "--counts", "0,5,all", "--seed", 3, path=stubs, cwd=tmp_path, DRY_RUN="1", GPUS="1")
    assert done.returncode == 0, done.stderr
    assert not any(tmp_path.iterdir())
    commands = [shlex.split(line) for line in done.stdout.splitlines()]
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


# ---- all -------------------------------------------------------------------------------------------------

EVERY_ARCHITECTURE = [
    (FOCUSED, "s2to2+shift+CD"),
    (GATED, "concatenation"),
    (GATED, "next"),
    (MTCUE, "BASE-PM"),
    (MTCUE, "TAGGING"),
    (MTCUE, "NOVOTNEY-CUE"),
    (MTCUE, "MTCUE+no-context-encoder+no-positions+no-minilm+sequential"),
    (MTCUE, "MTCUE+no-metadata+random-context+flat"),
    (MTCUE, "MTCUE+no-document+no-context"),
    (SHORTENING, "sentence-level"),
    (SHORTENING, "multi-encoder-3"),
    (SHORTENING, "selecting-2"),
    (THESIS, "src1tgt1_to_tgt1"),
    (THESIS, "RNN-src1tgt0_to_tgt0"),
    (THESIS, "DE+shared+token+fusion=parallel+switch"),
    (THESIS, "CE+gate=zhang+layers=2+pretrain+freeze+ref"),
    (THESIS, "Voita+margin"),
]


@pytest.mark.parametrize("profile", [(), ("--profile", "small")], ids=["paper", "small"])
@pytest.mark.parametrize("paper, row", EVERY_ARCHITECTURE)
def test_fairseq_knows_every_option(planned, paper, row, profile):
    words = planned(paper / "train.sh", row, "data", "out", "--gpus", 2, *profile)["words"]
    words[words.index("--user-dir") + 1] = USER_DIR
    fairseq_options.parse_args_and_arch(
        fairseq_options.get_training_parser(), [str(word) for word in words[1:]]
    )


@pytest.mark.parametrize(
    "paper, row, words",
    [
        (GATED, "random", "baseline, concatenation, previous or next"),
        (SHORTENING, "grouping", "number of context sentences"),
        (SHORTENING, "pooling-1", "no such row"),
        (MTCUE, "CUE", "no such row"),
        (MTCUE, "TAGGING+flat", "no part +flat"),
        (MTCUE, "MTCUE+no-year", "no part +no-year"),
        (THESIS, "src1tgt0", "no such row"),
        (THESIS, "CE+margin", "no part +margin"),
        (THESIS, "DE+token", "expected +shared"),
        (THESIS, "CE+gate+freeze", "expected +pretrain"),
    ],
)
def test_unknown_rows(refused, paper, row, words):
    assert words in refused(paper / "train.sh", row, "data", "out", GPUS="1")


@pytest.mark.parametrize(
    "paper, dictionaries, size",
    [
        (FOCUSED, "joint", 32000),
        (GATED, "separate", 32000),
        (MTCUE, "joint", 32768),
        (SHORTENING, "separate", 20000),
        (THESIS, "joint", 30000),
    ],
)
def test_vocabularies(tmp_path, paper, dictionaries, size):
    (tmp_path / "ctxmt").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "ctxmt").chmod(0o755)
    done = bash(paper / "prepare.sh", "train", "valid", "data", path=tmp_path)
    assert f"--{dictionaries} --vocab-size {size} " in done.stdout
    done = bash(paper / "prepare.sh", "train", "valid", "data", "--profile", "small", path=tmp_path)
    assert f"--{dictionaries} --vocab-size 8000 " in done.stdout


def test_context_stores_of_mtcue(tmp_path):
    (tmp_path / "ctxmt").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "ctxmt").chmod(0o755)
    prepare = (MTCUE / "prepare.sh", "train", "valid", "data", "--fields", "genre,plot")

    def stores(*options):
        done = bash(*prepare, *options, path=tmp_path)
        first, *embedded = (line.split() for line in done.stdout.splitlines())
        assert first[0] == "preprocess"
        for words in embedded:
            assert words[:6] == ["embed", "data", "--train", "train", "--valid", "valid"]
            assert words[words.index("--fields") + 1] == "genre,plot"
        return {words[words.index("--encoder") + 1]: words[words.index("--out") + 1] for words in embedded}

    assert stores() == {"minilm": "data/contexts", "discrete": "data/contexts-discrete"}
    named = stores("--encoders", "hub/multilingual hub/distilbert")
    assert named == {"hub/multilingual": "data/contexts", "hub/distilbert": "data/contexts-distilbert"}
    assert "embed" not in bash(FOCUSED / "prepare.sh", *prepare[1:4], path=tmp_path).stdout
