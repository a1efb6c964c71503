"""The architectures of the task metadata_context through the same commands as all others."""

import json
import shutil

import pytest
import torch

import ctxmt_fairseq.checkpoints.reading  # noqa: F401  (what checkpoints hold may be loaded)
from ctxmt_fairseq.vectors.context_store import header_checksum
from ctxmt_fairseq.vectors.text_encoders import _minilm_folder
from tests.integration.commands import TINY, TRAINING, USER_DIR, losses, printed, read, refused, run

SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
MODELS = {
    "mtcue_transformer": ("--source-context", 2, "--context-dropout", 0.1),
    "cue_transformer": ("--source-context", 1, "--target-context", 1, "--current-vector", "no"),
    "tagging_transformer": ("--metadata-fields", "formality,speaker"),
}
SETS = ("formality.jsonl", "formality-unseen.jsonl", "speaker-gender.jsonl", "addressee-gender.jsonl")


def train(folder, data, contexts, arch, updates, *options):
    return run(
        *("fairseq-train", data, "--user-dir", USER_DIR, "--task", "metadata_context", "--arch", arch, *TINY),
        *(*TRAINING, "--context-store", contexts, "--max-tokens", 800, "--save-dir", folder),
        *("--max-update", updates, "--no-epoch-checkpoints", "--disable-validation", *options),
    )


SLOW = ("cue_transformer", "tagging_transformer")  # the same commands as the first


@pytest.fixture(
    scope="module",
    params=[pytest.param(arch, marks=pytest.mark.slow) if arch in SLOW else arch for arch in MODELS],
)
def arch(request):
    return request.param


@pytest.fixture(scope="module")
def model(once, data, contexts, arch):
    """A checkpoint that translates different sentences differently."""

    def build(folder):
        log = train(folder, data, contexts, arch, 60, "--lr", 1e-2, *MODELS[arch]).stdout
        assert list(losses(log)) == list(range(1, 61))

    return once(arch, build) / "checkpoint_last.pt"


def generate(data, contexts, model, *options):
    """Line -> hypothesis of fairseq-generate."""
    done = run(
        *("fairseq-generate", data, "--user-dir", USER_DIR, "--path", model, "--gen-subset", "test2"),
        *("--num-workers", 0, "--remove-bpe", "sentencepiece", "--batch-size", 8, *SEARCH, *options),
        *("--context-store", contexts),
    )
    assert "Translated 43 sentences" in done.stdout + done.stderr
    return [texts[0] for _, texts in sorted(printed(done.stdout, "H").items())]


def words(lines):
    """fairseq strips the space that a text of an untrained model may end with."""
    return [line.split() for line in lines]


def test_no_sentence_is_lost_and_the_store_is_what_translate_embeds(arch, model, data, contexts, corpus):
    generated = generate(data, contexts, model)
    assert len(generated) == 43
    store = ("--context-store", contexts)
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids", *SEARCH, *store)
    known = ("--contexts", corpus / "test2.meta.jsonl")
    alone = run("ctxmt", "translate", model, *text, *known, "--documents-at-once", 1).stdout.splitlines()
    together = run("ctxmt", "translate", model, *text, *known, "--documents-at-once", 7).stdout.splitlines()
    assert together == alone and len(alone) == 43 and len(set(alone)) > 5
    assert words(alone) == words(generated)


def test_context_for_all_and_for_each_are_one(arch, model, contexts, corpus, tmp_path):
    store = ("--context-store", contexts)  # which knows the tags
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids", *SEARCH, "--scores", *store)
    formal = run("ctxmt", "translate", model, *text, "--metadata", "Formal conversation").stdout
    lines = tmp_path / "contexts.jsonl"
    lines.write_text(43 * (json.dumps({"formality": "Formal conversation"}) + "\n"))
    assert run("ctxmt", "translate", model, *text, "--contexts", lines).stdout == formal
    assert run("ctxmt", "translate", model, *text, "--metadata", "Informal chit-chat").stdout != formal


def test_interactive(arch, data, contexts, model, corpus):
    from ctxmt_fairseq.corpora.subwords import Subwords

    ids = read(corpus / "test2.docids")
    first = read(corpus / "test2.en")[: ids.count(ids[0])]
    subwords = Subwords.load(data, "en")
    done = run(
        *("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", model, *SEARCH),
        *("--remove-bpe", "sentencepiece", "--context-store", contexts),
        input="".join(subwords.encode(line) + "\n" for line in first),
    )
    found = printed(done.stdout, "H")
    text = "".join(line + "\n" for line in first)
    (source := model.parent / "first.en").write_text(text)
    alone = ("--documents-at-once", 1, "--context-store", contexts)
    expected = run("ctxmt", "translate", model, source, *SEARCH, *alone).stdout.splitlines()
    assert words(found[line][0] for line in sorted(found)) == words(expected)


def test_validate_contrast_and_average(arch, data, contexts, model, corpus, tmp_path):
    done = run(
        *("fairseq-validate", data, "--user-dir", USER_DIR, "--path", model, "--valid-subset", "test2"),
        *("--batch-size", 8, "--cpu", "--num-workers", 0, "--context-store", contexts),
    )
    assert "loss" in done.stdout + done.stderr
    sets = [corpus / "demo" / "contrastive" / name for name in SETS]
    run("ctxmt", "average", model.parent, "--count", 1, "--around", "last", "--output", tmp_path / "mean.pt")
    report = tmp_path / "report.json"
    store = ("--cpu", "--context-store", contexts)
    run("ctxmt", "contrast", f"{model}:{tmp_path / 'mean.pt'}", *sets, *store, "--json", report)
    assert all(suite["conventions"] for suite in json.loads(report.read_text()))
    blind = ("--context-selection", "absent", "--json", report)
    run("ctxmt", "contrast", model, *sets, *store, *blind)
    for suite in json.loads(report.read_text()):
        assert all(numbers["accuracy"] == 50.0 for numbers in suite["conventions"].values())
    if arch == "tagging_transformer":  # every unseen text is the same tag
        run("ctxmt", "contrast", model, sets[1], *store, "--json", report)
        assert json.loads(report.read_text())["conventions"]["sum-current"]["accuracy"] == 50.0


def test_what_does_not_fit_is_refused(data, contexts, corpus, tmp_path):
    common = ("fairseq-train", data, "--user-dir", USER_DIR, *TINY, *TRAINING, "--save-dir", tmp_path)
    task = ("--task", "metadata_context", "--arch", "mtcue_transformer", "--max-tokens", 500)
    store = ("--context-store", contexts)
    assert "no such context store; --context-store" in refused(*common, *task)
    assert "--source-context-after" in refused(*common, *task, *store, "--source-context-after", 1)
    assert "--context-selection" in refused(*common, *task, *store, "--context-selection", "swapped")
    assert "--metadata-fields genre" in refused(*common, *task, *store, "--metadata-fields", "genre")
    assert "--context-dropout" in refused(*common, *task, *store, "--context-dropout", 1)
    damaged = tmp_path / "store"
    shutil.copytree(contexts, damaged)
    (vectors,) = [path for path in damaged.iterdir() if path.name.startswith("vectors")]
    vectors.write_bytes(vectors.read_bytes()[:-4])
    assert str(damaged) in refused(*common, *task, "--context-store", damaged)


def test_metadata_is_for_models_that_read_it(s2to2, corpus):
    model = s2to2 / "checkpoint_last.pt"
    text = (corpus / "test2.en", "--docids", corpus / "test2.docids")
    assert "metadata_context" in refused("ctxmt", "translate", model, *text, "--metadata", "Formal")
    assert "--metadata-fields" in refused("ctxmt", "translate", model, *text, "--metadata-fields", "none")


def test_an_encoder_that_a_file_names_is_not_loaded(arch, model, data, contexts, corpus, tmp_path):
    """It is neither a folder that an older checkpoint names nor one of the store, but what the user gives."""
    folder = tmp_path / "encoder"
    shutil.copytree(_minilm_folder(), folder)
    state = torch.load(model, weights_only=True)
    state["task_state"]["store"]["encoder"] = str(folder)
    del state["cfg"]["task"]["text_encoder"]  # which 0.1.0 did not have
    torch.save(state, hostile := tmp_path / "hostile.pt")
    store = tmp_path / "store"
    shutil.copytree(contexts, store)
    header = json.loads((store / "store.json").read_text())
    header.update(encoder=str(folder))
    content = {name: value for name, value in header.items() if name not in ("format", "header_checksum")}
    (store / "store.json").write_text(json.dumps({**header, "header_checksum": header_checksum(content)}))
    command = ("ctxmt", "translate", hostile, corpus / "test2.en", *SEARCH, "--context-store", store)
    assert f"encoder {folder}: name it, --text-encoder" in refused(*command)
    assert f"expected {folder}" in refused(*command, "--text-encoder", "minilm")
    assert len(run(*command, "--text-encoder", folder).stdout.splitlines()) == 43
    read_by_fairseq = ("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", hostile, *SEARCH)
    assert "--text-encoder" in refused(*read_by_fairseq, "--context-store", store, input="a b\n")
