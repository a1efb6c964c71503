"""The steps of ``ctxmt corpus filter`` that ask models: against NumPy, from the models' own output."""

import json
import math
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from fairseq import options, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.trainer import Trainer
from omegaconf import OmegaConf

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED
from ctxmt_fairseq.checkpoints.reading import read
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.transforms.pair_scores import ScoreTable, pair_hashes
from ctxmt_fairseq.generation.cross_entropy import load_language_model
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.corpus_files import write_corpus_files
from tests.helpers.saved_models import data_folder, save, section, trained

TEXTS = [
    ("a b c", "d"), ("a", "b c d e f g"), ("unknown words a", "j  i"), ("b", "b"), ("a b c", "d e"),
    ("j " * 9, "a"),
]  # fmt: skip
LM = ("--decoder-embed-dim", "8", "--decoder-ffn-embed-dim", "8", "--decoder-layers", "1")


def language_model(folder, name):
    """A checkpoint of a ``transformer_lm`` with random weights, as fairseq-train writes it."""
    dictionary = Dictionary()
    for word in "abcdefghij":
        dictionary.add_symbol(word)
    (folder / "lm").mkdir(exist_ok=True)
    dictionary.save(str(folder / "lm/dict.txt"))
    command = [str(folder / "lm"), "--task", "language_modeling", "--arch", "transformer_lm", "--cpu", *LM]
    command += ["--decoder-attention-heads", "2", "--tokens-per-sample", "9", "--optimizer", "adam"]
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=command)
    cfg = convert_namespace_to_omegaconf(args)
    torch.manual_seed(len(name))
    task = tasks.setup_task(cfg.task)
    trainer = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    trainer._gathered_optim_state = None
    return save(folder / f"{name}.pt", trainer.state_dict())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with en-fr.pt, fr-en.pt, news.pt and crawl.pt, and text."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("en-fr", "fr-en"):
        state, _ = trained(folder, "--max-source-positions", "9", "--max-target-positions", "9")
        source, target = name.split("-")
        section(state, "task").update(source_lang=source, target_lang=target)
        for value in state["model"].values():
            if value.dim() == 1 and value.is_floating_point():
                torch.nn.init.normal_(value, 0.5, 0.5, generator=torch.Generator().manual_seed(ord(name[0])))
        save(folder / f"{name}.pt", state)
    language_model(folder, "news")
    language_model(folder, "crawl")
    lines = [(*texts, f"d{number // 2}", 1, {}) for number, texts in enumerate(TEXTS)]
    write_corpus_files(folder / "text", lines, without=("current",))
    (folder / "text.de").rename(folder / "text.fr")
    return folder


def run(step, folder, *arguments):
    languages = ("--source-lang", "en", "--target-lang", "fr", "--cpu", "--scores", folder / "scores.tsv")
    main([*map(str, ("corpus", "filter", step, folder / "text", *arguments, *languages))])
    head, *lines = (folder / "scores.tsv").read_text().splitlines()
    (folder / "scores.tsv").unlink()
    return json.loads(head), np.array([[float(value) for value in line.split("\t")[1:]] for line in lines])


def of_translation(path, source, target):
    """Cross-entropy of one target sentence in nats per word and end of sentence; infinite if too long."""
    loaded = load_models(path)
    (model,) = loaded.models
    tokens = [
        dictionary.encode_line(text, add_if_not_exist=False).long()[None]
        for dictionary, text in (
            (loaded.task.source_dictionary, source),
            (loaded.task.target_dictionary, target),
        )
    ]
    if max(each.shape[1] for each in tokens) > 9:
        return np.inf
    previous = torch.cat([tokens[1][:, -1:], tokens[1][:, :-1]], 1)
    with torch.no_grad():
        logits = model(tokens[0], torch.tensor([tokens[0].shape[1]]), previous)[0][0].double().numpy()
    return entropy(logits, tokens[1][0].numpy(), target)


def of_language(path, text):
    allowed = ALLOWED | {"fairseq.models.transformer_lm", "fairseq.tasks.language_modeling", "fairseq.tasks"}
    state = read(path, allowed, sections=("task", "model"))
    cfg = OmegaConf.create(state["cfg"], flags={"allow_objects": True})
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model)
    model.load_state_dict(state["model"])
    tokens = task.source_dictionary.encode_line(text, add_if_not_exist=False).long()
    if len(tokens) > 9:
        return np.inf
    previous = torch.cat([tokens[-1:], tokens[:-1]])
    with torch.no_grad():
        logits = model.eval()(previous[None])[0][0].double().numpy()
    return entropy(logits, tokens.numpy(), text)


def entropy(logits, tokens, text):
    log_probabilities = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    return -log_probabilities[np.arange(len(tokens)), tokens].sum() / (len(text.split()) + 1)


def test_adequacy(models, tmp_path, refusal):
    pair = ("--forward", models / "en-fr.pt", "--backward", models / "fr-en.pt")
    head, found = run("adequacy", models, *pair, "--max-tokens", 12)
    assert head["columns"] == ["hash", "adequacy", "forward", "backward"]
    a = np.array([of_translation(models / "en-fr.pt", *texts) for texts in TEXTS])
    b = np.array([of_translation(models / "fr-en.pt", *texts[::-1]) for texts in TEXTS])
    assert np.isinf(a[-1]) and np.isinf(b[-1]) and np.isfinite(a[:-1]).all()  # ten tokens, of nine at most
    adq = np.array(
        [0 if np.isinf(x) else math.exp(-(abs(x - y) + (x + y) / 2)) for x, y in zip(a, b, strict=True)]
    )
    np.testing.assert_allclose(found, np.stack([adq, a, b], 1), rtol=1e-4)
    assert found[:-1, 0].std() > 1e-4
    exchanged = ("--forward", models / "fr-en.pt", "--backward", models / "en-fr.pt")
    assert "fr-en.pt: expected a model en-fr, found fr-en" in refusal(run, "adequacy", models, *exchanged)
    for name, source in (("--forward-data", "en"), ("--backward-data", "fr")):
        line = refusal(run, "adequacy", models, *pair, name, tmp_path)
        assert f"{tmp_path}/dict.{source}.txt: no such file" in line


def test_domain(models, tmp_path, refusal):
    pair = ("--in-domain", models / "news.pt", "--general", models / "crawl.pt")
    head, found = run("domain", models, *pair, "--max-tokens", 12)
    assert head["columns"] == ["hash", "domain", "in_domain", "general"]
    news, crawl = (
        np.array([of_language(models / f"{name}.pt", target) for _, target in TEXTS])
        for name in ("news", "crawl")
    )
    dom = [min(math.exp(-(x - y)), 1) for x, y in zip(news, crawl, strict=True)]
    np.testing.assert_allclose(found, np.stack([dom, news, crawl], 1), rtol=1e-4)
    assert 0 < sum(value < 1 for value in dom) < len(dom)
    for name in ("--in-domain-data", "--general-data"):
        assert f"{tmp_path}: has no dict.txt" in refusal(run, "domain", models, *pair, name, tmp_path)
    # a text that is longer than the model can read
    model = load_language_model(models / "news.pt", device="cpu")
    assert model.log_probabilities(["a " * 8, "a " * 9]).tolist()[1] == -math.inf


def test_scores_belong_to_the_models_of_these_files(models, monkeypatch):
    """Also where a name has no folder: a model that takes its place gives other scores."""
    monkeypatch.chdir(models)
    head, _ = run("domain", models, "--in-domain", "news.pt", "--general", "crawl.pt")
    assert [name for name, *_ in head["files"][2:]] == ["news.pt", "crawl.pt"]


def test_subwords_of_both_models(models, tmp_path):
    """The text steps of a data folder make the models' units; words are counted before."""
    data = data_folder(tmp_path / "data")
    steps = {
        "version": 1,
        "source_lang": "en",
        "target_lang": "fr",
        "splits": {},
        "text_steps": [{"step": "lowercase"}],
    }
    (data / "ctxmt.json").write_text(json.dumps(steps))
    (models / "text.fr").rename(models / "text.kept")
    (models / "text.fr").write_text("".join(f"{target.upper()}\n" for _, target in TEXTS))
    try:
        pair = ("--in-domain", models / "news.pt", "--general", models / "crawl.pt")
        head, found = run("domain", models, *pair, "--subwords", data)
        (data / "ctxmt.json").write_text(json.dumps({**steps, "text_steps": []}))
        assert run("domain", models, *pair, "--subwords", data)[0] != head  # other scores: none is kept
    finally:
        (models / "text.kept").rename(models / "text.fr")
    for row, (_, target) in zip(found, TEXTS, strict=True):
        expected = of_language(models / "news.pt", target), of_language(models / "crawl.pt", target)
        np.testing.assert_allclose(row[1:], expected, rtol=1e-4)


def test_models_of_kenlm(models, monkeypatch, tmp_path, refusal):
    class Model:
        def __init__(self, path):
            self.path = path

        def score(self, sentence, bos, eos):
            assert bos and eos
            return -2.0 * len(sentence.split())  # base 10

    pair = ("--in-domain", models / "news.pt", "--general", tmp_path / "crawl.arpa")
    (tmp_path / "crawl.arpa").touch()
    monkeypatch.setitem(sys.modules, "kenlm", None)
    assert "pip install kenlm" in refusal(run, "domain", models, *pair)
    kenlm = ModuleType("kenlm")
    kenlm.Model = Model
    monkeypatch.setitem(sys.modules, "kenlm", kenlm)
    (models / "scores.tsv.partial").unlink(missing_ok=True)
    _, found = run("domain", models, *pair)
    words = [len(target.split()) for _, target in TEXTS]
    np.testing.assert_allclose(found[:, 2], [2 * n * math.log(10) / (n + 1) for n in words])


def test_only_the_step_admits_language_models(models, tmp_path):
    with pytest.raises(BadInput, match="--task language_modeling: expected a task of this plugin"):
        load_models(models / "news.pt")
    with pytest.raises(BadInput, match="is no language model"):
        load_language_model(models / "en-fr.pt")
    with pytest.raises(BadInput, match="none: has no dict.txt; expected the data folder"):
        load_language_model(models / "news.pt", tmp_path / "none")
    victim = tmp_path / "victim"
    payload = f"__import__('pathlib').Path({str(victim)!r}).touch()"
    for name in ("character_filters", "adaptive_softmax_cutoff", "adaptive_input_cutoff"):
        state = torch.load(models / "news.pt", weights_only=True)
        embeddings = {"character_embeddings": name == "character_filters", "adaptive_input": True}
        section(state, "model").update({name: payload, **embeddings})
        with pytest.raises(BadInput):
            load_language_model(save(tmp_path / "hostile.pt", state))
        assert not victim.exists()


def test_all_steps_together(models, tmp_path):
    """What the last step multiplies is what the others have written, pair by pair."""
    tables, expected = [], 1
    for step, *pair in (
        ("adequacy", "--forward", "en-fr.pt", "--backward", "fr-en.pt"),
        ("domain", "--in-domain", "news.pt", "--general", "crawl.pt"),
    ):
        out = tmp_path / f"{step}.tsv"
        arguments = [models / word if word.endswith(".pt") else word for word in pair]
        languages = ("--source-lang", "en", "--target-lang", "fr", "--cpu", "--scores", out)
        main([*map(str, ("corpus", "filter", step, models / "text", *arguments, *languages))])
        tables.append(ScoreTable(out))
        expected *= np.array([float(line.split("\t")[1]) for line in out.read_text().splitlines()[1:]])
    documents = list(TextFiles(str(models / "text"), "en", "fr").documents())
    found = [np.prod([table.of(pair_hashes(document)) for table in tables], axis=0) for document in documents]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    means = sorted(scores.mean() for scores in found)
    arguments = ("--scores", tmp_path / "adequacy.tsv", tmp_path / "domain.tsv", "--threshold", means[0])
    languages = ("--source-lang", "en", "--target-lang", "fr", "--out", tmp_path / "out")
    main([*map(str, ("corpus", "filter", "select", models / "text", *arguments, *languages))])
    kept = (tmp_path / "out.docids").read_text().split()
    assert kept == [f"d{n}" for n in range(3) if found[n].mean() > means[0] for _ in range(2)]
