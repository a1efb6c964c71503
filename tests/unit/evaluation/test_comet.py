"""COMET against its own classes, and against an independent computation of its document level."""

import json
import re

import numpy as np
import pytest
import torch
import yaml

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.comet import comet_scoring
from ctxmt_fairseq.evaluation.comet.comet_models import CometModel, load_comet
from ctxmt_fairseq.evaluation.comet.comet_scoring import comet_score
from ctxmt_fairseq.evaluation.comet.inputs import CometText, build_inputs
from ctxmt_fairseq.text.documents import Documents

pytest.importorskip("comet", reason="the extra comet is not installed")
from tests.helpers.comet_models import write_comet, write_files  # noqa: E402
from tests.helpers.evaluations import result  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SOURCES = ["a b.", "c d e.", "f.", "g h.", "i j k l."]
HYPOTHESES = ["m n.", "o p q.", "", "r s.", "t u v w."]
REFERENCES = ["m n.", "o p z.", "x.", "r y.", "t u v."]
LENGTHS = [3, 2]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """kind -> a model's folder."""
    root = tmp_path_factory.mktemp("comet")
    kinds = {"reference": "regression_metric", "without": "referenceless_regression_metric"}
    return {name: write_comet(root / name, kind) for name, kind in kinds.items()}


@pytest.fixture(scope="module")
def loaded(folders):
    return {name: load_comet(str(folder)) for name, folder in folders.items()}


def text(references=REFERENCES, current=None, **others):
    lines = {"sources": SOURCES, "hypotheses": HYPOTHESES, **others}
    kept = np.arange(len(lines["sources"])) if current is None else np.array(current)
    lengths = LENGTHS if sum(LENGTHS) == len(lines["sources"]) else [len(lines["sources"])]
    return CometText(**lines, references=references, documents=Documents.from_lengths(lengths), current=kept)


def vector(model, sentences):
    """Mean state of the last sentence's tokens, its ``</s>`` and ``<s>``: (D,), from the encoder's layers.

    Every sentence but the last is context: it is encoded, and left out of the mean.
    """
    tokens = model.encoder.tokenizer(" </s> ".join(sentences))["input_ids"]
    start = 1 + max([at for at, token in enumerate(tokens[:-1]) if token == 2], default=0)
    with torch.no_grad():
        layers = model.encoder(torch.tensor([tokens]), torch.ones(1, len(tokens), dtype=torch.long))[
            "all_layers"
        ]
    mix = torch.cat(list(model.layerwise_attention.scalar_parameters)).detach().double().numpy()
    weights = np.exp(mix) / np.exp(mix).sum()
    states = sum(weight * layer[0].double().numpy() for weight, layer in zip(weights, layers, strict=True))
    states = states * model.layerwise_attention.gamma.item()
    return states[[0, *range(start, len(tokens))]].mean(0)


def feed_forward(model, features):
    """The estimator: tanh between linear layers."""
    linear = [layer for layer in model.estimator.ff if isinstance(layer, torch.nn.Linear)]
    for number, layer in enumerate(linear):
        features = layer.weight.detach().double().numpy() @ features + layer.bias.detach().double().numpy()
        features = np.tanh(features) if number < len(linear) - 1 else features
    return float(features[0])


def expected_score(model, source, hypothesis, reference=None):
    """COMET of sentences, each behind its context, one by one (Rei et al. 2020; Vernikos et al. 2022)."""
    source, hypothesis = vector(model, source), vector(model, hypothesis)
    if reference is None:
        return feed_forward(
            model, np.concatenate([hypothesis, source, hypothesis * source, abs(hypothesis - source)])
        )
    reference = vector(model, reference)
    parts = [hypothesis, reference, hypothesis * reference, abs(hypothesis - reference)]
    return feed_forward(model, np.concatenate([*parts, hypothesis * source, abs(hypothesis - source)]))


def contexts(lines, line, k):
    """Up to k lines before one in its document, blank ones apart."""
    start = 0 if line < LENGTHS[0] else LENGTHS[0]
    return [each for each in lines[max(start, line - k) : line] if each]


@pytest.mark.parametrize("k", [0, 1, 2])
def test_scores_are_those_of_an_independent_computation(loaded, k):
    with_references, without = (
        comet_score(text(references=lines), loaded[kind], k, cpu=True)
        for kind, lines in (("reference", REFERENCES), ("without", None))
    )
    for line in range(5):
        source = [*contexts(SOURCES, line, k), SOURCES[line]]
        before = contexts(REFERENCES, line, k)
        reference, hypothesis = [*before, REFERENCES[line]], [*before, HYPOTHESES[line]]
        expected = expected_score(loaded["reference"].model, source, hypothesis, reference)
        assert with_references.segments[line] == pytest.approx(expected, abs=1e-5)
        own = [*contexts(HYPOTHESES, line, k), HYPOTHESES[line]]
        expected = expected_score(loaded["without"].model, source, own)
        assert without.segments[line] == pytest.approx(expected, abs=1e-5)
    assert with_references.score == pytest.approx(np.mean(with_references.segments))
    assert (with_references.references, without.references) == (True, False)


def test_sentences_score_as_with_comet_itself(folders, loaded):
    from comet.models import load_from_checkpoint

    state = torch.load(folders["reference"] / "checkpoints/model.ckpt")
    options = yaml.safe_load((folders["reference"] / "hparams.yaml").read_text())
    path = folders["reference"] / "encoder"
    local = folders["reference"].parent / "local"
    local.mkdir(exist_ok=True)
    write_files(local, {**options, "pretrained_model": str(path)}, state["state_dict"])
    theirs = load_from_checkpoint(str(local / "checkpoints/model.ckpt"), local_files_only=True)
    samples = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, reference in zip(SOURCES, HYPOTHESES, REFERENCES, strict=True)
    ]
    expected = theirs.predict(samples, batch_size=2, gpus=0, num_workers=0, progress_bar=False)
    found = comet_score(text(), loaded["reference"], cpu=True)
    assert found.segments == pytest.approx(expected["scores"], abs=1e-6)
    assert found.score == pytest.approx(expected["system_score"], abs=1e-6)


def test_context_only_lines_are_context_alone(loaded):
    found = comet_score(text(current=[1, 4]), loaded["reference"], 2, cpu=True)
    whole = comet_score(text(), loaded["reference"], 2, cpu=True)
    assert found.segments == pytest.approx([whole.segments[line] for line in (1, 4)], abs=1e-6)


def test_context_that_does_not_fit_is_left_out_from_the_far_end(loaded):
    sources = ["a a a a a a a.", "b b b.", "c c c c.", "d."]
    inputs = build_inputs(
        text(sources=sources, hypotheses=["w."] * 4, references=["w."] * 4), loaded["reference"], 3
    )
    tokenizer = loaded["reference"].model.encoder.tokenizer
    assert [sample["src"].count("</s>") for sample in inputs.samples] == [0, 1, 1, 2]
    assert inputs.samples[3] == {
        "src": "b b b. </s> c c c c. </s> d.", "mt": "w. </s> w. </s> w.", "ref": "w. </s> w. </s> w."
    }  # fmt: skip
    assert all(len(tokenizer(sample["src"])["input_ids"]) <= 30 for sample in inputs.samples)
    assert (inputs.shortened, inputs.too_long) == (2, 0)
    long = build_inputs(text(sources=["a " * 40] * 5), loaded["reference"], 2)
    assert (long.shortened, long.too_long) == (3, 5)
    assert build_inputs(text(sources=["a " * 40] * 5), loaded["reference"]).too_long == 5


def test_a_separator_in_the_text_is_no_separator(loaded):
    other = [line.replace(" ", " </s> ", 1) for line in HYPOTHESES]
    plain = comet_score(text(), loaded["reference"], 1, cpu=True)
    assert comet_score(text(hypotheses=other), loaded["reference"], 1, cpu=True).segments == plain.segments


# ---- the command -------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    lines = {
        "src": SOURCES,
        "hyp": HYPOTHESES,
        "ref": REFERENCES,
        "ids": [*"aaabb"],
        "other": REFERENCES[::-1],
    }
    for name, content in lines.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in content))
    return tmp_path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_command_prints_and_keeps_scores(files, folders, loaded, capsys, monkeypatch):
    options = ("--source", files / "src", "--docids", files / "ids", "--json", files / "json", "--cpu")
    models = ("--comet", folders["reference"], "--quality-estimation", folders["without"])
    assert run("score", files / "hyp", files / "ref", *models, *options) == 0
    found = result(files / "json")
    expected = comet_score(text(), loaded["reference"], cpu=True)
    (mine,) = (score for score in found["scores"] if score["name"] == "COMET reference")
    assert mine["score"] == pytest.approx(expected.score) and mine["level"] == "sentence"
    assert found["comet"][0]["segments"] == pytest.approx(expected.segments)
    printed = capsys.readouterr().out
    assert re.search(rf"COMET reference +sentence +{expected.score:.4f}", printed)

    calls = []
    predict = CometModel.predict
    monkeypatch.setattr(
        CometModel,
        "predict",
        lambda self, samples, *how: calls.append(len(samples)) or predict(self, samples, *how),
    )
    assert run("score", files / "hyp", files / "ref", *models, *options) == 0 and calls == []
    assert result(files / "json") == found
    (files / "hyp").write_text("".join(f"{line}\n" for line in [*HYPOTHESES[:4], "changed."]))
    assert run("score", files / "hyp", files / "ref", *models, *options) == 0 and calls == [1, 1]
    calls.clear()
    assert run("score", files / "hyp", files / "ref", *models, *options, "--comet-context") == 0
    assert calls == [5, 5]
    assert "document, k=2" in capsys.readouterr().out


def test_a_model_without_references_needs_none(files, folders, capsys):
    arguments = ("--quality-estimation", folders["without"], "--source", files / "src", "--cpu")
    assert run("score", files / "hyp", *arguments) == 0
    printed = capsys.readouterr().out
    assert "COMET without" in printed and "BLEU" not in printed


def test_systems_are_compared_by_comet(files, folders, loaded, capsys):
    systems = ("compare", "translations", files / "ref", files / "hyp", files / "other")
    options = ("--comet", folders["reference"], "--source", files / "src", "--samples", 1000, "--cpu")
    assert run(*systems, *options, "--json", files / "json", "--unit", "sentence") == 0
    rows = {row["metric"]: row for row in json.loads((files / "json").read_text())["comparisons"]}
    assert set(rows) == {"bleu", "chrf2", "comet"}
    a, b = (
        comet_score(text(hypotheses=lines), loaded["reference"], cpu=True)
        for lines in (HYPOTHESES, REFERENCES[::-1])
    )
    assert rows["comet"]["score_a"] == pytest.approx(a.score) and rows["comet"]["score_b"] == pytest.approx(
        b.score
    )
    differences = np.array(b.segments) - np.array(a.segments)
    draws = np.random.default_rng(0).integers(0, 5, (20_000, 5))
    low, high = np.percentile(differences[draws].mean(1), [2.5, 97.5])
    spread = differences.std()
    assert rows["comet"]["low"] == pytest.approx(low, abs=spread / 10)
    assert rows["comet"]["high"] == pytest.approx(high, abs=spread / 10)
    assert f"{rows['comet']['score_a']:.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, words",
    [
        (("--comet", "{reference}"), "COMET needs --source"),
        (("--comet", "no/such/folder/", "--source", "src"), "no such folder, and no name of a model"),
        (("--quality-estimation", "{reference}", "--source", "src"), "needs references; give them"),
        (("--comet", "{reference}", "--source", "src", "--comet-context"), "needs --docids"),
        (("--comet", "{reference}", "--source", "short"), "expected 5 lines, as in "),
        (("--source", "src"), "--source needs --comet, --quality-estimation or --comet-json"),
        (("--comet", "{reference}", "--source", "src", "--comet-context", "-1"), "argument --comet-context"),
    ],
)  # fmt: skip
def test_refusals(files, folders, refusal, monkeypatch, options, words):
    monkeypatch.chdir(files)
    (files / "short").write_text("a\n")
    assert words in refusal(run, "score", "hyp", "ref", *(option.format(**folders) for option in options))


def test_a_file_of_the_cache_s_name_stays(files, folders, loaded):
    cache = files / "mine.json"
    for content, message in (
        ('{"a": "b"}', "mine.json: is of another run .* or somebody else's file"),
        ('{"scores": "COMET"}\n{"a": "b"}\n', "mine.json:2: expected COMET scores; delete the file"),
    ):
        cache.write_text(content)
        with pytest.raises(BadInput, match=message):
            comet_score(text(), loaded["reference"], cache=cache, cpu=True)
        assert cache.read_text() == content


def test_a_killed_run_goes_on_behind_the_scores_that_it_kept(files, loaded, monkeypatch):
    model, cache, asked = loaded["reference"], files / "kept.jsonl", []
    predict = CometModel.predict
    monkeypatch.setattr(comet_scoring, "KEPT", 2)
    monkeypatch.setattr(
        CometModel, "predict", lambda self, some, *how: asked.append(len(some)) or predict(self, some, *how)
    )
    whole = comet_score(text(), model, cache=cache, cpu=True)
    content = cache.read_bytes()
    assert asked == [2, 2, 1] and content.count(b"\n") == 4
    for cut in range(0, len(content) + 1, 5):
        cache.write_bytes(content[:cut])
        asked.clear()
        assert comet_score(text(), model, cache=cache, cpu=True) == whole
        assert cache.read_bytes() == content
        assert sum(asked) == max(0, 5 - 2 * max(0, content[:cut].count(b"\n") - 1))


def test_without_the_extra_one_line_names_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "comet.models", None)
    with pytest.raises(BadInput, match=r"\.\[comet\]"):
        load_comet("anything")


@pytest.mark.slow
def test_evaluate_scores_with_comet_what_score_does(folders, tmp_path, monkeypatch):
    from tests.helpers.evaluations import evaluate
    from tests.helpers.probed_models import checkpoint, write_text

    model, text = checkpoint(tmp_path / "model", "document_window"), write_text(tmp_path)
    out = tmp_path / "out"
    how = ("--comet", str(folders["reference"]), "--comet-context", "1")
    found = evaluate(model, text, out, "--contexts", "trained absent", *how)
    score = ("score", out / "prefix.absent.hyp", f"{text}.fr", "--docids", f"{text}.docids")
    assert run(*score, "--source", f"{text}.en", "--cpu", "--json", tmp_path / "json", *how) == 0
    assert found["translations"]["prefix.absent"] == result(tmp_path / "json")
    assert found["translations"]["prefix.absent"]["comet"][0]["context"] == 1

    monkeypatch.setattr(CometModel, "predict", lambda *how: pytest.fail("scored again"))
    assert evaluate(model, text, out, "--contexts", "trained absent", *how) == found
    first = evaluate(model, text, out, "--decoding", "window", "--keep-sentence", "first")
    assert "comet" not in first["translations"]["window"]
