"""The rows of the papers' tables: the training commands that they stand for."""

import pytest
import torch
from fairseq import options as fairseq_options

import ctxmt_fairseq
from tests.integration.commands import USER_DIR
from tests.integration.recipes import FOCUSED, GATED, MTCUE, SHORTENING, THESIS, chosen

SHORTENED = {  # section 5.2: kind, K for En-De and En-Fr
    "max-pooling": ("max", 2, 2),
    "avg-pooling": ("mean", 2, 2),
    "linear-pooling": ("linear", 2, 2),
    "grouping": ("group", 9, 11),
    "selecting": ("select", 10, 11),
}


# ---- Voita et al. 2018 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row, expected",
    [
        ("baseline", {"task": "document_window", "arch": "concat_transformer", "source-context": None}),
        (
            "concatenation",
            {
                "task": "document_window",
                "segment-positions": "flag",
                "segment-types": None,
                "no-separator": True,
                "source-context": "1",
            },
        ),
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
    "row, source, on_source, target",
    [
        ("src0tgt0_to_tgt0", 0, 0, 0),
        ("src1tgt0_to_tgt0", 1, 0, 0),
        ("src2tgt0_to_tgt0", 2, 0, 0),
        ("src1tgt1ref_to_tgt0", 1, 1, 0),
        ("src1tgt1mt_to_tgt0", 1, 1, 0),
        ("src1tgt0_to_tgt1", 1, 0, 1),
        ("src1tgt0_to_tgt1_1st", 1, 0, 1),
        ("src1tgt1_to_tgt1", 1, 1, 1),
    ],
)
def test_concatenation_rows_of_the_thesis(planned, row, source, on_source, target):
    train = (THESIS / "train.sh", row, "data", "out", "--gpus", 2, "--profile", "europarl")
    options = planned(*train)
    assert (options["--arch"], options["--task"]) == ("transformer", "document_window")
    sizes = [
        int(options[f"--{name}"]) for name in ("source-context", "target-context-on-source", "target-context")
    ]
    assert sizes == [source, on_source, target]
    assert options["--max-sentence-tokens"] == "80"  # of each sentence, also where they are joined
    assert planned(*train, "--sentence-limit", 160)["--max-sentence-tokens"] == "160"
    assert options["--lr"] == ("2e-4" if row == "src0tgt0_to_tgt0" else "3e-4")
    rnn = planned(THESIS / "train.sh", f"RNN-{row}", *train[2:])
    assert (rnn["--arch"], rnn["--source-context"]) == ("context_gru_base", str(source))
    assert rnn["--lr"] == rnn["--warmup-init-lr"] == "3e-4"


@pytest.mark.parametrize(
    "row, arch, expected",
    [
        ("DE", "dual_encoder", {"context-selection": "document", "max-sentence-tokens": "55", "lr": "3e-4"}),
        ("DE+shared", "dual_encoder", {"context-encoder": "shared"}),
        ("DE+shared+token", "dual_encoder", {"context-encoder": "shared-token"}),
        ("DE+fusion=hierarchical", "dual_encoder", {"context-fusion": "hierarchical"}),
        ("CE", "context_encoder", {"context-gate": "none", "train-context-only": None, "lr": "2e-4"}),
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
        ("Voita", "gated_context", {"criterion": "label_smoothed_cross_entropy", "lr": "3e-4"}),
        (
            "Voita+pretrain",
            "gated_context",
            {
                "sentence-checkpoint": "runs/src0tgt0_to_tgt0/checkpoints/checkpoint_best.pt",
                "train-context-only": None,
                "lr": "2e-4",
            },
        ),
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
    for row, rate in (("Voita+pretrain", "1e-4"), ("DE+shared", "3e-4")):
        europarl = planned(THESIS / "train.sh", row, *train[2:], "--profile", "europarl")
        assert europarl["--lr"] == rate
    assert planned(*train, "--profile", "europarl", "--lr", "5e-4")["--lr"] == "5e-4"
    big = planned(*train, "--profile", "wmt-big", "--sentence-model", "a run")
    assert (big["--encoder-embed-dim"], big["--decoder-ffn-embed-dim"]) == ("1024", "4096")
    assert big["--sentence-checkpoint"] == "a run/checkpoints/checkpoint_best.pt"
    small = planned(*train, "--profile", "small")
    assert small["--arch"] == "context_encoder_transformer_tiny" and "--clip-norm" not in small


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
    (THESIS, "Voita+pretrain+margin"),
]


@pytest.mark.parametrize("profile", [(), ("--profile", "small")], ids=["paper", "small"])
@pytest.mark.parametrize("paper, row", EVERY_ARCHITECTURE)
def test_fairseq_knows_every_option(planned, paper, row, profile, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # the recipes' --fp16 needs a GPU
    words = planned(paper / "train.sh", row, "data", "out", "--gpus", 2, *profile)["words"]
    words[words.index("--user-dir") + 1] = USER_DIR
    ctxmt_fairseq.register()  # before the parser has its choices
    fairseq_options.parse_args_and_arch(
        fairseq_options.get_training_parser(), [str(word) for word in words[1:]]
    )


@pytest.mark.parametrize(
    "paper, row, words",
    [
        (GATED, "random", "expected one of baseline, concatenation, previous, next"),
        (SHORTENING, "grouping", "grouping-{N}"),
        (SHORTENING, "pooling-1", "no such row"),
        (MTCUE, "CUE", "no such row"),
        (MTCUE, "TAGGING+flat", "no part +flat"),
        (MTCUE, "MTCUE+no-year", "no part +no-year"),
        (THESIS, "src1tgt0", "no such row"),
        (THESIS, "CE+margin", "no part +margin"),
        (THESIS, "DE+token", "no part +token; expected +shared, +shared+token"),
        (THESIS, "CE+gate+freeze", "no part +freeze"),
        (THESIS, "Voita+pretrain+freeze", "no part +freeze"),
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
def test_vocabularies(dry_run, paper, dictionaries, size):
    for profile, pieces in (("paper", size), ("small", 8000)):
        words, *_ = dry_run(paper / "prepare.sh", "train", "valid", "data", "--profile", profile)
        assert f"--{dictionaries} --vocab-size {pieces} " in " ".join(words)


def test_lower_case(dry_run, refused):
    prepare = (FOCUSED / "prepare.sh", "train", "valid", "data")
    assert "--lowercase" not in dry_run(*prepare)[0]
    (lower,) = dry_run(*prepare, "--lowercase", "yes", "--", "--overwrite")
    assert lower[-2:] == ["--lowercase", "--overwrite"]
    assert "--lowercase: expected yes or no, found 'ru'" in refused(*prepare, "--lowercase", "ru")


def test_what_the_environment_says_is_checked_like_an_option(dry_run, refused):
    """PROFILE of train.sh is none of prepare.sh, which took it for the small one."""
    prepare = (FOCUSED / "prepare.sh", "train", "valid", "data")
    for variable, value in (("PROFILE", "en-de"), ("LOWERCASE", "true"), ("DICTIONARIES", "shared")):
        assert f"--{variable.lower()}: expected " in refused(*prepare, **{variable: value})
    (words,) = dry_run(*prepare, "--profile", "paper", PROFILE="en-de")
    assert words[words.index("--vocab-size") + 1] == "32000"
