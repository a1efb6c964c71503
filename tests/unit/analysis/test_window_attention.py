"""Shares and entropies of attention against NumPy, from each window encoded alone."""

import json

import numpy as np
import pytest
import torch

from ctxmt_fairseq.analysis.system_names import short_names
from ctxmt_fairseq.analysis.window_attention import KINDS, WindowAttention, window_attention
from ctxmt_fairseq.analysis.window_attention_report import AttentionReport
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
from ctxmt_fairseq.evaluation.significance.seeds import ONE_RUN, over_seeds
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.probed_models import LENGTHS, checkpoint, randomised, write_text

SHIFT = ("--segment-positions", "shift", "--segment-shift", "3")
MODELS = {
    "concat": ("concat_transformer", "--source-context", "2", "--target-context", "1", *SHIFT),
    "stock": ("transformer", "--source-context", "1", "--target-context", "2"),
    "after": (
        "concat_transformer", "--source-context", "2", "--source-context-after", "1", "--target-context", "1"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """name -> checkpoint with random weights."""
    root = tmp_path_factory.mktemp("models")
    return {name: randomised(root / name, arch, *options) for name, (arch, *options) in MODELS.items()}


@pytest.fixture
def text(tmp_path):
    return str(write_text(tmp_path))


def asked(model, net_input):
    """kind, layer -> (module, query (T, D), key (S, D)) of every attention, for one window."""
    calls, hooks = {}, []
    for side in ("encoder", "decoder"):
        for number, layer in enumerate(getattr(model, side).layers):
            modules = {f"{side} self": layer.self_attn}
            if side == "decoder":
                modules["cross"] = layer.encoder_attn
            for kind, module in modules.items():

                def keep(module, args, kwargs, kind=kind, number=number):
                    calls[kind, number] = (module, kwargs["query"][:, 0], kwargs["key"][:, 0])

                hooks.append(module.register_forward_pre_hook(keep, with_kwargs=True))
    with torch.no_grad():
        model(**net_input)
    for hook in hooks:
        hook.remove()
    return calls


def weights_of(module, query, key, causal):
    """(H, T, S) in NumPy."""
    parts = {name: value.double().numpy() for name, value in module.state_dict().items()}

    def project(name, values):
        values = values.double().numpy() @ parts[f"{name}.weight"].T + parts[f"{name}.bias"]
        return np.split(values, module.num_heads, axis=1)

    found = []
    for q, k in zip(project("q_proj", query), project("k_proj", key), strict=True):
        scores = q @ k.T / np.sqrt(q.shape[1])
        if causal:
            scores[np.triu_indices(len(q), 1)] = -np.inf
        exponents = np.exp(scores - scores.max(1, keepdims=True))
        found.append(exponents / exponents.sum(1, keepdims=True))
    return np.stack(found)


def windows(text, before_source, before_target, after=0):
    """By hand: for every line, whether each token that the encoder and the decoder read is the current
    sentence's; a sentence of w words has w + 1 tokens, with its separator or </s>."""
    starts = np.cumsum([0, *LENGTHS])
    sizes = {side: [len(line.split()) + 1 for line in open(f"{text}.{side}")] for side in ("en", "fr")}
    for start, end in zip(starts[:-1], starts[1:], strict=True):
        for line in range(start, end):
            first, last = max(start, line - before_source), min(end, line + 1 + after)
            encoder = [other == line for other in range(first, last) for _ in range(sizes["en"][other])]
            first = max(start, line - before_target)
            decoder = [other == line for other in range(first, line + 1) for _ in range(sizes["fr"][other])]
            # The decoder reads </s> first, which counts with the first sentence, and no final </s>.
            yield line, np.array(encoder), np.array([decoder[0], *decoder[:-1]])


@pytest.mark.parametrize("name, options", [("concat", (2, 1)), ("stock", (1, 2)), ("after", (2, 1, 1))])
def test_shares_and_entropies_are_those_of_each_window_alone(paths, text, name, options):
    loaded = load_models(paths[name], device="cpu")
    probed = read_probed_text(text, loaded)
    found = window_attention(loaded, probed, max_tokens=60)
    dataset = probed.scorer().dataset(loaded)
    assert len(found.entropy()) == sum(LENGTHS)
    for line, encoder, decoder in windows(text, *options):
        net_input = dataset.collater([dataset[line]])["net_input"]
        assert net_input["src_tokens"].size(1) == len(encoder)
        assert net_input["prev_output_tokens"].size(1) == len(decoder)
        current = {"encoder self": encoder, "decoder self": decoder}
        shares = {kind: [] for kind in current}
        for (kind, layer), (module, query, key) in asked(loaded.models[0], net_input).items():
            weights = weights_of(module, query, key, kind == "decoder self")
            logarithms = np.log(np.where(weights > 0, weights, 1))
            entropy = -(weights * logarithms).sum(2).mean(1)
            assert found.entropies[kind][line, layer] == pytest.approx(entropy, abs=1e-5)
            if kind in current:
                inside = weights[:, current[kind]][:, :, current[kind]].sum(2)
                shares[kind].append(inside.mean())
        for kind, values in shares.items():
            share = found.shares[kind.split()[0]][line]
            if current[kind].all():
                assert np.isnan(share)
            else:
                assert share == pytest.approx(np.mean(values), abs=1e-5)
    assert 0 < np.isnan(found.both_shares).sum() < sum(LENGTHS)


def test_the_rule_of_the_authors_program(paths, text):
    """focused-concat, ``analyze_attn``: weights are averaged over layers and heads, before their entropy is
    taken; in the decoder the first token is of the current sentence, and its weight of 1 is left out."""
    loaded = load_models(paths["concat"], device="cpu")
    probed = read_probed_text(text, loaded)
    found = window_attention(loaded, probed, rule="program")
    dataset = probed.scorer().dataset(loaded)
    for line, encoder, decoder in windows(text, 2, 1):
        decoder[0] = True
        layers = {kind: [] for kind in KINDS}
        net_input = dataset.collater([dataset[line]])["net_input"]
        for (kind, _), (module, query, key) in asked(loaded.models[0], net_input).items():
            layers[kind].append(weights_of(module, query, key, kind == "decoder self").mean(0))
        for kind, current in (("encoder self", encoder), ("decoder self", decoder), ("cross", None)):
            weights = np.mean(layers[kind], 0)
            weights[np.isclose(weights, 1, atol=1e-12)] = 0
            entropies = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(1)
            assert found.entropies[kind][line] == pytest.approx(
                entropies.sum() / (entropies != 0).sum(), abs=1e-5
            )
            if current is not None:
                inside = (weights * current).sum(1)[current]
                share = inside.sum() / (inside != 0).sum()
                assert found.shares[kind.split()[0]][line] == pytest.approx(share, abs=1e-5)


def attention(shares, entropies):
    """Made up: a layer and a head of each kind."""
    shares = np.array(shares, float)
    values = {kind: np.array(entropies, float)[:, None, None] + number for number, kind in enumerate(KINDS)}
    return WindowAttention({"encoder": shares, "decoder": shares / 2}, values)


def test_models_are_compared_by_the_windows_that_both_have():
    nan = float("nan")
    a = attention([0.2, nan, 0.4, 0.6, 0.5], [1, 2, 3, 4, 5])
    b = attention([0.3, 0.9, 0.5, 0.7, nan], [1, 2, 3, 4, 5])
    report = AttentionReport(["a", "b"], [a, b], 1000, 1)
    rows = {row["measure"]: row for row in report.as_dict()["differences"]}
    assert rows["share, encoder"]["windows"] == 3
    assert rows["share, encoder"]["difference"] == pytest.approx(0.1)
    # Of the 8 ways to swap three equal differences, 2 are as far from 0 as the observed one.
    assert rows["share, encoder"]["p"] == pytest.approx(2 / 8, abs=0.05)
    assert rows["share, both"]["difference"] == pytest.approx(0.075)
    assert rows["entropy, all"]["difference"] == 0 and rows["entropy, all"]["p"] == 1
    assert ONE_RUN in report.table() and "bootstrap p" in report.table()
    means = report.as_dict()["models"][0]["means"]
    assert means["share, encoder"] == pytest.approx(0.425) and means["entropy, cross"] == pytest.approx(5)
    assert means["entropy, all"] == pytest.approx(4)
    assert report.as_dict()["models"][0]["windows"]["share, encoder"][1] is None
    assert report.map().values.shape == (2, 3) and report.map().rows == ["1, a", "1, b"]


def test_the_map_of_models_of_several_sizes_is_json():
    """Where a model has no such head there is no number."""
    small = attention([0.2, 0.4], [1, 2])
    large = WindowAttention(small.shares, {kind: np.repeat(small.entropies[kind], 2, 2) for kind in KINDS})
    written = json.dumps(AttentionReport(["s", "l"], [small, large], 100, 1).map().as_dict(), allow_nan=False)
    first, second = json.loads(written)["values"]
    assert (first, second) == ([1.5, None, 2.5, None, 3.5, None], [1.5, 1.5, 2.5, 2.5, 3.5, 3.5])


def test_runs_of_a_system_are_seeds():
    """Over the windows that all runs have; a system of one run stands for itself."""
    draw = np.random.default_rng(1)
    shares = {"a": draw.random((3, 9)) / 4, "b": 0.5 + draw.random((3, 9)) / 4, "c": draw.random((1, 9))}
    shares["b"][1, 4] = np.nan
    names = [name for name, runs in shares.items() for _ in runs]
    models = [attention(run, np.ones(9)) for runs in shares.values() for run in runs]
    report = AttentionReport(names, models, 100, 1)
    record = report.as_dict()
    assert [model["name"] for model in record["models"]] == [
        *(f"{x}, run {n}" for x in "ab" for n in (1, 2, 3)),
        "c",
    ]
    rows = {(row["b"], row["measure"]): row for row in record["differences"]}
    kept = np.arange(9) != 4
    expected = over_seeds(shares["a"][:, kept], shares["b"][:, kept])
    row = rows["b", "share, encoder"]
    assert (row["mean"], row["low"], row["p"]) == pytest.approx((expected.mean, expected.low, expected.p))
    assert (row["windows"], row["seeds"], row["stars"]) == (8, (3, 3), "**")
    assert rows["c", "share, encoder"]["seeds"] == (3, 1) and "c has one run" in record["about"]
    assert "3, 3" in report.table() and "3, 1" in report.table()
    first = AttentionReport(["x", *names[:3], "y"], [models[6], *models[:3], models[6]], 100, 1)
    assert (
        "1, 3" in first.table() and "1, 1" in first.table()
    )  # of two single runs the test of trained models


def test_names_without_what_all_share():
    assert short_names(["runs/a/averaged.pt", "runs/b/averaged.pt"]) == ["a", "b"]
    assert short_names(["a.pt"]) == ["a.pt"] and short_names(["x/a.pt", "b.pt"]) == ["x/a", "b"]
    assert short_names(["a.pt", "/x/b.pt"]) == ["a", "/x/b"]
    assert short_names(["o/a.fr.examples.jsonl", "o/b.examples.jsonl"]) == ["a.fr", "b"]
    assert short_names(["o/a.txt", "o/a.fr"]) == ["a.txt", "a.fr"]


def test_the_command(paths, text, tmp_path, capsys):
    models = (f"ours={paths['concat']}", str(paths["stock"]))
    files = ("--json", str(tmp_path / "shares.json"), "--output", str(tmp_path / "entropy.png"), "--cpu")
    assert main(["analyse", "attention-share", *models, text, *files]) == 0
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "shares.json").read_text())
    loaded = load_models(paths["concat"], device="cpu")
    expected = window_attention(loaded, read_probed_text(text, loaded))
    assert [model["name"] for model in found["models"]] == ["ours", paths["stock"].name]
    assert found["models"][0]["means"]["share, encoder"] == pytest.approx(
        np.nanmean(expected.shares["encoder"])
    )
    assert f"{np.nanmean(expected.shares['encoder']):.4f}" in printed and "1000 shuffles" in printed
    assert (tmp_path / "entropy.png").read_bytes()[:4] == b"\x89PNG" and (tmp_path / "entropy.tsv").exists()
    assert main(["analyse", "attention-share", models[0], text, *files, "--rule", "program"]) == 0
    found, expected = (
        json.loads((tmp_path / "shares.json").read_text()),
        window_attention(loaded, read_probed_text(text, loaded), rule="program"),
    )
    (model,) = found["models"]
    assert model["means"]["share, decoder"] == pytest.approx(np.nanmean(expected.shares["decoder"]))


def test_other_models_are_refused(text, tmp_path):
    loaded = load_models(checkpoint(tmp_path / "other", "multi_source"))
    with pytest.raises(BadInput, match="expected concat_transformer or transformer, trained with"):
        window_attention(loaded, read_probed_text(text, loaded))
