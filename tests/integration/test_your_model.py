"""``examples/your_model``, copied out of the repository: its README's commands, one after the other."""

import re
import shlex
import shutil

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.translator import Translator
from tests.helpers.saved_models import save, trained
from tests.integration.commands import USER_DIR, read, refused, run

EXAMPLE = USER_DIR.parent / "examples" / "your_model"
FAST = ("--cpu", "--num-workers", 0, "--seed", 3, "--max-update", 30, "--warmup-updates", 10, "--lr", 5e-3)
SMALL = ("--encoder-embed-dim", 32, "--decoder-embed-dim", 32, "--encoder-layers", 1, "--decoder-layers", 1)


@pytest.fixture(scope="module")
def folder(once, corpus):
    """Where the commands have run."""

    def build(folder):
        shutil.copytree(EXAMPLE, folder / "your_model", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "data-bin").symlink_to(corpus / "data")
        (folder / "text").mkdir()
        for suffix in ("en", "docids"):
            (folder / "text" / f"test.{suffix}").symlink_to(corpus / f"test2.{suffix}")
        (folder / "en-fr-pronouns").symlink_to(corpus / "demo" / "contrastive" / "pronoun-distance-1")
        (block,) = re.findall(r"```bash\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.S)
        train, translate, contrast = (shlex.split(line) for line in block.replace("\\\n", "").splitlines())
        run(*train, *FAST, *SMALL, "--max-tokens", 1000, cwd=folder)
        run(*translate, "--cpu", "--beam", 2, "--max-len-b", 20, cwd=folder)
        (folder / "accuracy").write_text(run(*contrast, "--cpu", cwd=folder).stdout)

    return once("your_model_run", build)


@pytest.fixture(scope="module")
def model(folder):
    checkpoint = folder / "checkpoints" / "checkpoint_best.pt"
    options = {"user_dir": folder / "your_model", "device": "cpu", "beam": 2, "max_len_b": 20}
    return Translator.load(checkpoint, folder / "data-bin", **options)


def test_trained_translated_contrasted(folder, corpus, model):
    translations = read(folder / "hyp")
    assert len(translations) == 43 and all(translations)
    assert "en-fr-pronouns (sum-current)" in (folder / "accuracy").read_text()
    ids, sources = read(corpus / "test2.docids"), read(corpus / "test2.en")
    documents = {}
    for name, source in zip(ids, sources, strict=True):
        documents.setdefault(name, []).append(source)
    found = model.translate(documents.values())
    assert [sentence for document in found for sentence in document] == translations


def test_the_first_words_of_the_context_count(model):
    def score(context):
        return model.score([[context, "It is tired."]], [["Elle dort.", "Il est fatigué."]])[0][1].sum

    assert abs(score("The cat is asleep.") - score("A dog is asleep.")) > 1e-6
    shortening = model.loaded.models[0].encoder.shortening
    states = torch.arange(1.0, 15.0).view(2, 7, 1)  # of two sentences; padded on the left, as sources are
    padding = torch.tensor([[True] * 1 + [False] * 6, [True] * 5 + [False] * 2])
    shortened, absent = shortening(states, padding)
    assert shortened[..., 0].tolist() == [[2, 3, 4, 5], [13, 14, 0, 0]]
    assert absent.tolist() == [[False] * 4, [False, False, True, True]]


def test_the_block_is_a_shortening_like_the_package_s(model, tmp_path):
    options = ("--source-context", "1", "--shortening", "first-words", "--shortening-size", "2")
    state, _ = trained(tmp_path, *options, arch="caching_transformer", task="multi_source")
    caching = Translator.load(save(tmp_path / "model.pt", state), max_len_b=5, device="cpu")
    block = caching.loaded.models[0].encoder.context_shortening
    assert type(block) is type(model.loaded.models[0].encoder.shortening) and block.size == 2
    assert [len(document) for document in caching.translate([["a b c", "d"]])] == [2]


def test_without_the_folder(folder):
    checkpoint = folder / "checkpoints" / "checkpoint_best.pt"
    line = refused("ctxmt", "translate", checkpoint, folder / "text" / "test.en", "--cpu")
    assert "--arch 'first_words_transformer_tiny': expected a registered model; if it is yours" in line
    with pytest.raises(BadInput, match="no such folder"):
        Translator.load(checkpoint, user_dir=folder / "nowhere")
