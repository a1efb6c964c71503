"""Every multi-source architecture, and the RNN, through the same commands as the concatenation models."""

import json

import pytest

from tests.integration.commands import TINY, TRAINING, USER_DIR, losses, printed, read, refused, run

SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
MODELS = {
    "gated_context_transformer": ("--source-context", 1),
    "dual_encoder_transformer": (
        "--source-context",
        1,
        "--target-context-on-source",
        1,
        "--target-context",
        1,
    ),
    "context_encoder_transformer": ("--source-context", 1, "--source-context-after", 1),
    "caching_transformer": ("--source-context", 2, "--shortening", "group", "--batch-runs", 6),
    "context_gru": ("--source-context", 1, "--target-context", 1),
}
# Updates and learning rate after which different sentences are translated differently.
LEARNING = {
    "gated_context_transformer": (60, 5e-3),
    "dual_encoder_transformer": (80, 5e-3),
    "context_gru": (30, 1e-2),
}
FOLLOWING = "context_encoder_transformer"  # in a dialogue, what follows is not known yet


def kind(arch):
    """Task, architecture and its size."""
    if arch == "context_gru":
        return "--task", "document_window", "--arch", "context_gru_tiny", "--share-all-embeddings"
    return "--task", "multi_source", "--arch", arch, *TINY


def train(folder, data, arch, updates, *options):
    return run(
        *("fairseq-train", data, "--user-dir", USER_DIR, *kind(arch), *MODELS[arch], *TRAINING),
        *("--max-tokens", 800, "--save-dir", folder, "--max-update", updates),
        *("--no-epoch-checkpoints", "--disable-validation", *options),
    )


# The same commands as the others; dual reads both sides and its own translations.
SLOW = ("gated_context_transformer", "context_encoder_transformer", "caching_transformer", "context_gru")


@pytest.fixture(
    scope="module",
    params=[pytest.param(arch, marks=pytest.mark.slow) if arch in SLOW else arch for arch in MODELS],
)
def arch(request):
    return request.param


@pytest.fixture(scope="module")
def model(once, data, arch):
    """A checkpoint."""

    def build(folder):
        updates, rate = LEARNING.get(arch, (60, 1e-2))
        log = train(folder, data, arch, updates, "--lr", rate).stdout
        assert list(losses(log)) == list(range(1, updates + 1))

    return once(arch, build) / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def generated(data, model):
    """Line -> hypothesis of fairseq-generate."""
    done = run(
        *("fairseq-generate", data, "--user-dir", USER_DIR, "--path", model, "--gen-subset", "test2"),
        *("--num-workers", 0, "--remove-bpe", "sentencepiece", "--batch-size", 8, *SEARCH),
    )
    assert "Translated 43 sentences" in done.stdout + done.stderr
    return {line: texts[0] for line, texts in printed(done.stdout, "H").items()}


def test_no_sentence_is_lost_and_documents_translate_alike(arch, model, corpus, generated):
    assert sorted(generated) == list(range(43))
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids")
    alone = run("ctxmt", "translate", model, *text, *SEARCH, "--documents-at-once", 1).stdout.splitlines()
    together = run("ctxmt", "translate", model, *text, *SEARCH, "--documents-at-once", 7).stdout.splitlines()
    assert together == alone and len(alone) == 43 and len(set(alone)) > 3
    assert alone == [generated[line] for line in range(43)]


def test_interactive(arch, data, model, corpus, generated):
    ids = read(corpus / "test2.docids")
    first = read(corpus / "test2.en")[: ids.count(ids[0])]
    done = run(
        *(
            "fairseq-interactive",
            data,
            "--user-dir",
            USER_DIR,
            "--path",
            model,
            "--remove-bpe",
            "sentencepiece",
        ),
        *SEARCH,
        input="".join(line + "\n" for line in _subwords(data, first)),
    )
    found = printed(done.stdout, "H")
    assert sorted(found) == list(range(len(first)))
    if arch != FOLLOWING:
        assert [found[line][0] for line in sorted(found)] == [generated[line] for line in range(len(first))]


def _subwords(data, lines):
    from ctxmt_fairseq.corpora.subwords import Subwords

    subwords = Subwords.load(data, "en")
    return [subwords.encode(line) for line in lines]


def test_contrast_and_average(data, model, corpus, tmp_path):
    sets = [
        corpus / "demo" / "contrastive" / name for name in ("pronoun-distance-1", "lexical-cohesion.json")
    ]
    run("ctxmt", "average", model.parent, "--count", 1, "--around", "last", "--output", tmp_path / "mean.pt")
    report = tmp_path / "report.json"
    run("ctxmt", "contrast", f"{model}:{tmp_path / 'mean.pt'}", *sets, "--cpu", "--json", report)
    one, two = json.loads(report.read_text())
    assert one["conventions"] and two["conventions"]
    absent = tmp_path / "absent.json"
    run("ctxmt", "contrast", model, *sets, "--cpu", "--context-selection", "absent", "--json", absent)
    for blind in json.loads(absent.read_text()):
        assert all(numbers["accuracy"] == 50.0 for numbers in blind["conventions"].values())


def test_what_does_not_fit_is_refused(data, tmp_path):
    common = ("fairseq-train", data, "--user-dir", USER_DIR, *TINY, *TRAINING, "--save-dir", tmp_path)
    dual = ("--task", "multi_source", "--arch", "dual_encoder_transformer", "--source-context", 1)
    options = ("--context-layout", "joined", "--batch-runs", 4, "--max-tokens", 500)
    assert "--batch-runs" in refused(*common, *dual, *options)
    gate = ("--context-gate", "branch", "--context-fusion", "concat", "--max-tokens", 500)
    assert "--context-fusion" in refused(*common, *dual, *gate)
    gated, mtcue = "gated_context_transformer", "mtcue_transformer"
    others = [("document_window", gated, "multi_source"), ("translation", gated, "multi_source")]
    for task, arch, needed in (*others, ("translation", mtcue, "metadata_context")):
        line = refused(*common, "--task", task, "--arch", arch, "--max-tokens", 500)
        assert f"{arch} needs --task {needed}" in line
    no_reader = (
        "--task",
        "multi_source",
        "--arch",
        "transformer",
        "--source-context",
        1,
        "--max-tokens",
        500,
    )
    assert "--arch transformer reads no context in --task multi_source" in refused(*common, *no_reader)
