"""The examples of docs/extending.md, in the document and in examples/extending, do what it says."""

import copy
import importlib
import re
import sys
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from fairseq import criterions
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY, MODEL_REGISTRY

from ctxmt_fairseq import Translator
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.formats import FORMATS as CORPUS_FORMATS
from ctxmt_fairseq.criterions.context_margin import ContextMarginCriterionConfig
from ctxmt_fairseq.evaluation.contrastive_sets import FORMATS, read_contrastive_set
from ctxmt_fairseq.generation.user_code import import_user_dir
from ctxmt_fairseq.models.blocks.fusions import FUSIONS
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS
from tests.helpers.margin_batches import Task
from tests.helpers.multi_source_models import dataset, logits, make
from tests.helpers.random_models import check_step_by_step
from tests.helpers.saved_models import save, trained
from tests.helpers.window_datasets import EOS, PAD, SEP, VOCABULARY
from tests.helpers.window_datasets import dataset as window_dataset

ROOT = Path(__file__).parents[3]
DOCUMENT, FOLDER = ROOT / "docs/extending.md", ROOT / "examples/extending"
REGISTRIES = (
    *(ARCH_MODEL_REGISTRY, ARCH_CONFIG_REGISTRY, MODEL_REGISTRY),
    *(FUSIONS, SHORTENINGS, FORMATS),
)


@pytest.fixture(autouse=True)
def registered():
    """Every example of the document is registered, and forgotten afterwards."""
    before = [dict(registry) for registry in REGISTRIES]
    for example in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        if ".register(" in example or "@register_model" in example:
            exec(compile(example, str(DOCUMENT), "exec"), {})
    yield
    for registry, known in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(known)


def check(model):
    """It reads its context, and decodes."""
    present, absent = (
        data.collater([data[line] for line in (0, 1, 4, 9, 23)])
        for data in (
            dataset(model, target_context=0),
            dataset(model, target_context=0, context_selection="absent"),
        )
    )
    assert (logits(model, present) - logits(model, absent)).abs().max() > 1e-3
    check_step_by_step(model, present)


def test_the_architecture():
    model = make("bag_transformer", train_context_only=True)
    new = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert new == {"encoder.bag.weight", "encoder.bag.bias"}
    check(model)


def test_the_fusion():
    model = make("dual serial", context_fusion="half", context_gate="branch")
    check(model)
    layer, x = model.decoder.layers[0], torch.randn(3, 2, 128)
    layer.attend_context = lambda y, state: 3 * y
    fused = layer.fuse(x, lambda y: 7 * y, None)
    torch.testing.assert_close(fused, layer.encoder_attn_layer_norm(x + 5 * x))


def test_the_shortening():
    check(make("caching tokens", shortening="ends"))
    shortening = SHORTENINGS["ends"](4, 2, "softmax", None)
    states = torch.arange(24.0).view(2, 3, 4)
    short, padding = shortening(states, torch.tensor([[True, False, False], [True, True, True]]))
    assert short.tolist() == [[[4, 5, 6, 7], [8, 9, 10, 11]], [[0] * 4] * 2]
    assert padding.tolist() == [[False, False], [True, True]]
    assert shortening.labels(["a", "b", "c"]) == ["a", "c"]


def test_the_contrastive_format(tmp_path):
    (tmp_path / "set.tsv").write_text("The cat.\tIt sleeps.\tIl dort.\tElle dort.\n")
    suite = read_contrastive_set(tmp_path / "set.tsv")
    (example,) = suite.examples
    assert (suite.format, example.source_before, example.source) == ("pairs", ("The cat.",), "It sleeps.")
    assert [candidate.current for candidate in example.candidates] == ["Il dort.", "Elle dort."]


@pytest.fixture
def extending():
    """The folder's modules by their names, as ``--user-dir`` imports them."""
    import_user_dir(FOLDER)
    return lambda name: importlib.import_module(f"extending.{name}")


def test_the_context_travels_with_the_checkpoint_and_is_read(tmp_path, extending):
    options = ("--far-context", "4", "--source-context", "1", "--share-all-embeddings")
    state, _ = trained(tmp_path, *options, arch="gated_context_transformer", task="far_context")
    model = Translator.load(save(tmp_path / "model.pt", state), device="cpu", user_dir=FOLDER)

    def score(**changed):
        lines = [changed.get(f"line{number}", "a b c") for number in range(6)]
        return model.score([lines], [["d"] * 6])[0][5].sum

    assert model.loaded.task.options["far_context"] == 4
    changes = {number: abs(score(**{f"line{number}": "e f"}) - score()) > 1e-6 for number in range(5)}
    assert changes == {0: False, 1: True, 2: False, 3: False, 4: True}
    near = model.with_options(source_context=4)  # which has the sentence already
    assert [column.offset for column in near.loaded.task.context_options().columns[0]] == [-4, -3, -2, -1]


def test_the_loss_counts_repeated_words_more(tmp_path, extending):
    """Windows are words, separators (9) and </s> (2); 1 is a pad."""
    target = torch.tensor([[5, 6, 9, 6, 7, 2], [5, 2, 1, 1, 1, 1]])
    assert extending("repeated_words").repeated(target, 9).nonzero().tolist() == [[0, 3]]
    options = ("--criterion", "repeated_words", "--repeated-weight", "3", "--target-context", "1")
    state, _ = trained(tmp_path, *options, "--source-context", "1")
    assert state["cfg"]["criterion"]["repeated_weight"] == 3.0
    dictionary = Namespace(pad=lambda: 1, index=lambda _: 9)
    task = Namespace(target_dictionary=dictionary)
    torch.manual_seed(1)
    net_output = (torch.randn(2, 6, 10),)
    model = Namespace(
        get_normalized_probs=lambda output, log_probs: output[0].log_softmax(-1),
        get_targets=lambda sample, _: sample["target"],
    )
    plain = criterions.CRITERION_REGISTRY["label_smoothed_cross_entropy"](task, False, 0.1)
    expected = plain.compute_loss(model, net_output, {"target": target})
    loss = {
        weight: extending("repeated_words").RepeatedWords(task, False, 0.1, repeated_weight=weight)
        for weight in (1.0, 3.0)
    }
    torch.testing.assert_close(loss[1.0].compute_loss(model, net_output, {"target": target}), expected)
    only = torch.ones_like(target)
    only[0, 3] = 6
    alone, _ = plain.compute_loss(model, net_output, {"target": only})
    total, nll = loss[3.0].compute_loss(model, net_output, {"target": target})
    torch.testing.assert_close(total, expected[0] + 2 * alone)
    torch.testing.assert_close(nll, expected[1])


@pytest.fixture
def small_edits():
    (example,) = re.findall(r"```python\n([^`]*class CurrentFirst.*?)```", DOCUMENT.read_text(), re.DOTALL)
    classes = {}
    exec(compile(example, str(DOCUMENT), "exec"), classes)
    return classes


def test_a_discount_by_distance(small_edits):
    criterion = small_edits["DiscountByDistance"](Task(), False, 0.1, context_discount=0.5)
    target = torch.tensor([[5, SEP, 6, SEP, 7, EOS], [5, EOS, PAD, PAD, PAD, PAD]])
    expected = [[0.25, 0.25, 0.5, 0.5, 1, 1], [1, 1, 0, 0, 0, 0]]
    assert criterion.token_weights({}, target).tolist() == expected


def test_margins_of_words(small_edits):
    criterion = small_edits["MarginOfWords"](ContextMarginCriterionConfig(), Task())
    target = torch.tensor([[5, SEP, 6, 7, EOS], [5, EOS, PAD, PAD, PAD]])
    lprobs = torch.arange(10.0)[:, None].expand(10, len(VOCABULARY))
    scores, there = criterion.current_scores(lprobs, target, 3)
    assert scores.tolist() == [[2, 3, 0], [5, 0, 0]]
    assert there.tolist() == [[True, True, False], [True, False, False]]


def test_windows_that_begin_with_the_current_sentence(small_edits):
    plain = window_dataset(window={"source_context": 1, "source_context_after": 1}, training=True)
    ours = copy.copy(plain)
    ours.__class__ = small_edits["CurrentFirst"]
    for one, other in zip(plain, ours, strict=True):
        length = len(one["current"])
        assert other["current_segment"] == 0 and other["current_span"][0] == 0
        assert other["source"][: length - 1].tolist() == one["current"][:-1].tolist()
        assert len(other["source"]) == len(one["source"])
    lengths = ours.whole_sizes.target[ours.ordered_indices()]
    assert (lengths[1:] >= lengths[:-1]).all()


def test_the_corpus_format_is_a_command(tmp_path, monkeypatch, capsys, extending, refusal):
    """As if its file were in the package, with its line in the table."""
    monkeypatch.setitem(CORPUS_FORMATS, "tab-separated", "one file of documents")
    module = extending("tab_separated")
    monkeypatch.setitem(sys.modules, "ctxmt_fairseq.corpora.formats.tab_separated", module)
    source, out = tmp_path / "talks.tsv", tmp_path / "text"
    source.write_text("one\tYes.\tOui.\none\tNo.\t\none\tWell.\tBien.\ntwo\tOne.\tUn.\n")
    words = ["corpus", "tab-separated", "--file", str(source), "--source-lang", "en", "--target-lang", "fr"]
    assert main([*words, "--out", str(out)]) == 0
    assert out.with_suffix(".docids").read_text().split() == ["one", "one/2", "two"]
    assert out.with_suffix(".fr").read_text() == "Oui.\nBien.\nUn.\n"
    assert "4 lines read, 3 kept\n  left out, empty: 1" in capsys.readouterr().out
    source.write_text("one\tYes.\n")
    assert "talks.tsv:1: expected an id, a sentence and its translation, found 2 fields" in refusal(
        main, [*words, "--out", str(tmp_path / "other")]
    )
