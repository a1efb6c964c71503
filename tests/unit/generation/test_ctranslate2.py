"""Models that CTranslate2 computes: the probabilities and translations of the models that were exported."""

import json
import random

import pytest
import torch

from ctxmt_fairseq import BadInput, Translator
from ctxmt_fairseq.generation.ctranslate2_export import CTranslate2
from ctxmt_fairseq.generation.exported_models import Trained, export_model
from tests.helpers.saved_models import drawn, save, trained

pytest.importorskip("ctranslate2")
LAST = "decoder.layers.0.final_layer_norm"
SHIFT = ("--segment-positions", "shift", "--segment-shift")
KINDS = {
    "sentence": ("transformer",),
    "stock windows": ("transformer", "--source-context", "1", "--target-context", "1"),
    "windows": ("concat_transformer", "--source-context", "2", "--target-context", "2"),
    "after": ("concat_transformer", "--source-context", "1", "--source-context-after", "1"),
    "shift": ("concat_transformer", "--source-context", "2", *SHIFT, "7"),
    "shift by the window": ("concat_transformer", "--source-context", "1", *SHIFT, "avg-sequence"),
    "learned": ("concat_transformer", "--source-context", "2", "--segment-positions", "learned"),
    "sinusoidal": ("concat_transformer", "--source-context", "2", "--segment-positions", "sinusoidal"),
    "distance": (
        *("concat_transformer", "--source-context", "2", "--segment-positions", "learned"),
        *("--segment-types", "distance"),
    ),
    "flag": (
        *("concat_transformer", "--source-context", "1", "--no-separator"),
        *("--segment-positions", "flag"),
    ),
    "flag before target windows": (
        *("concat_transformer", "--source-context", "1", "--target-context", "1"),
        *("--segment-positions", "flag"),
    ),
    "pre-norm": (
        *("concat_transformer", "--source-context", "1", "--target-context", "1", "--layernorm-embedding"),
        *("--encoder-normalize-before", "--decoder-normalize-before", "--activation-fn", "gelu"),
        *("--encoder-learned-pos", "--decoder-learned-pos", "--share-all-embeddings"),
    ),
    "Marian": ("concat_transformer", "--marian", "--activation-fn", "swish", "--source-context", "1"),
}


def exported(folder, kind, *options, quantization=None, end=2, often=0.2):
    """A random model and its export, as translators; its sentences end with the symbol ``end``."""
    arch, *more = KINDS[kind] if kind in KINDS else kind
    state = drawn(trained(folder, *more, *options, arch=arch)[0])
    norm = "decoder.layer_norm" if "decoder.layer_norm.bias" in state["model"] else LAST
    state["model"][f"{norm}.bias"].fill_(1.0)  # so that a row of one number has its logit everywhere
    rows = state["model"]["decoder.output_projection.weight"]
    rows[[0, 2, 3, -2, -1]] = -1.0  # what is no text is not written
    rows[end] = often
    for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        state["model"][name][1] = 0
    path = save(folder / "model.pt", state)
    model = Trained.read(path, folder / "data")
    export_model(model, folder / "out", CTranslate2(quantization), {}, "")
    how = {"device": "cpu", "beam": 3, "max_len_b": 20}
    return Translator.load(path, folder / "data", **how), Translator.load(folder / "out", **how)


def text(seed=1, documents=5):
    draw = random.Random(seed)
    return [
        [" ".join(draw.choices("abcdefghij", k=draw.randint(0 if at else 1, 6))) for at in range(4)]
        for _ in range(documents)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_translations_are_the_same(tmp_path, kind):
    own, converted = exported(tmp_path, kind)
    for ours, theirs in zip(own.score(text(), text(2)), converted.score(text(), text(2)), strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.tokens == pytest.approx(other.tokens, abs=1e-4)
    for beam, least in ((1, 18), (3, 12)):  # the searches end at other times, where nothing is certain
        ours, theirs = own.n_best(text(), beam=beam), converted.n_best(text(), beam=beam)
        pairs = [pair for each in zip(ours, theirs, strict=True) for pair in zip(*each, strict=True)]
        same = [(one[0], other[0]) for one, other in pairs if one[0].text == other[0].text]
        assert len(same) >= least
        for one, other in same:
            assert one.score == pytest.approx(other.score, abs=1e-4)


def test_sentences_end_with_separators_where_these_are_likelier(tmp_path):
    own, converted = exported(tmp_path, "windows", end=-2, often=0.3)
    ours, theirs = own.n_best(text(), beam=1), converted.n_best(text(), beam=1)
    pairs = [pair for each in zip(ours, theirs, strict=True) for pair in zip(*each, strict=True)]
    same = [(one, other) for (one,), (other,) in pairs if one.text == other.text]
    assert len(same) >= 18 and not any("<" in best.text for pair in pairs for (best,) in pair)
    same = [pair for pair in same if len(pair[0].text.split()) < 20]  # the others end nowhere
    assert len({one.text for one, _ in same}) > 4
    assert all(one.score == pytest.approx(other.score, abs=1e-4) for one, other in same)


def test_scores_of_the_search_are_those_of_the_sentence(tmp_path):
    """Behind a prefix, for each hypothesis, also where it was cut off."""
    _, converted = exported(tmp_path, "windows")
    for lenpen in (0.0, 0.6, 1.0):
        for document, nbest in zip(text(), converted.n_best(text(), lenpen=lenpen, max_len_b=6), strict=True):
            best = [each[0].text for each in nbest]
            (scores,) = converted.score([document], [best])
            for each, score, source in zip(nbest, scores, document, strict=True):
                if source and "<" not in each[0].text:  # which is no text
                    assert each[0].score == pytest.approx(score.sum / len(score.tokens) ** lenpen, abs=1e-4)


@pytest.mark.parametrize("decoding", ["prefix", "window"])
def test_lengths_are_kept(tmp_path, decoding):
    _, converted = exported(tmp_path, "windows")
    converted = converted.with_options(decoding=decoding)
    found = converted.translate(text(), min_len=2, max_len_b=3)
    lengths = [len(line.split()) for each, lines in zip(found, text(), strict=True)
               for line, source in zip(each, lines, strict=True) if source]  # fmt: skip
    assert max(lengths) <= (3 if decoding == "prefix" else 9)
    assert decoding == "window" or min(lengths) >= 2


REFUSED = {
    "dual": (
        ("dual_encoder_transformer", "--task", "multi_source", "--source-context", "1"),
        "--arch dual_encoder_transformer: CTranslate2 has layers for",
    ),
    "shift on both sides": (
        ("concat_transformer", "--source-context", "1", "--target-context", "1", *SHIFT, "7"),
        "--segment-positions shift: CTranslate2's decoder",
    ),
    "restart": (
        ("concat_transformer", "--source-context", "1", "--segment-positions", "restart"),
        "--segment-positions restart: CTranslate2 counts",
    ),
    "no positions": (("transformer", "--no-token-positional-embeddings"), "--no-token-positional-embeddings"),
    "lstm": (("lstm",), "--arch lstm: CTranslate2 has layers for"),
    "output": (("transformer", "--decoder-output-dim", "4"), "--decoder-output-dim 4: CTranslate2"),
    "eos": (
        ("concat_transformer", "--source-context", "1", "--target-context", "1", "--context-end", "eos"),
        "--context-end eos",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_computed_is_refused_by_name(tmp_path, kind):
    (arch, *options), message = REFUSED[kind]
    task = options[options.index("--task") + 1] if "--task" in options else "document_window"
    state, _ = trained(tmp_path, *options, arch=arch, task=task)
    model = Trained.read(save(tmp_path / "model.pt", state), tmp_path / "data")
    with pytest.raises(BadInput, match=message):
        export_model(model, tmp_path / "out", CTranslate2(), {}, "")
    assert not (tmp_path / "out").exists()


def test_options_that_it_lacks_are_refused(tmp_path):
    _, converted = exported(tmp_path, "shift")
    for options in ({"unkpen": 1.0}, {"no_repeat_ngram_size": 2}):
        with pytest.raises(BadInput, match="CTranslate2's search has no such option"):
            converted.translate(text(), **options)
    with pytest.raises(BadInput, match="more source context than"):
        converted.with_options(source_context=100).translate([["a b c d e f g h i j"] * 99])
    with pytest.raises(BadInput, match="without target context alone"):
        converted.with_options(target_context=1).translate([["a b", "c"]])
    with pytest.raises(BadInput, match="CTranslate2 shows nothing"):
        converted.loaded.model  # noqa: B018
    for first in ("out", "model.pt"):
        with pytest.raises(BadInput, match="ensemble"):
            Translator.load([tmp_path / first, tmp_path / "out"], tmp_path / "data", device="cpu")
    with pytest.raises(BadInput, match="exported already"):
        Translator.load(tmp_path / "out", device="cpu", quantization="int8")


def test_eight_bits_are_near(tmp_path):
    own, converted = exported(tmp_path, "stock windows", quantization="int8")
    ours, theirs = (each.score(text(), text(2)) for each in (own, converted))
    sums = [[score.sum for each in scores for score in each] for scores in (ours, theirs)]
    assert sums[0] != sums[1]
    assert torch.corrcoef(torch.tensor(sums))[0, 1] > 0.98


@pytest.mark.parametrize("spoil", ["truncated", "other", "symbols", "start", "no digest", "deep"])
def test_damaged_folders(tmp_path, spoil):
    exported(tmp_path, "sentence")
    file, options = tmp_path / "out/model.bin", tmp_path / "out/checkpoint.json"
    symbols, config = tmp_path / "out/shared_vocabulary.json", tmp_path / "out/config.json"
    said = json.loads(options.read_text())
    if spoil == "truncated":
        file.write_bytes(file.read_bytes()[:1000])
    elif spoil == "other":
        file.write_bytes(b"\x00" + file.read_bytes()[1:])
    elif spoil == "symbols":  # two of them exchanged: other translations
        symbols.write_text(symbols.read_text().translate({ord("a"): "b", ord("b"): "a"}))
    elif spoil == "start":
        config.write_text(config.read_text().replace("</s>", "<s>"))
    elif spoil == "no digest":
        del said["extra_state"]["digest"]
    else:
        said["cfg"]["model"]["encoder_layers"] = 10**9
    options.write_text(json.dumps(said))
    with pytest.raises(BadInput) as error:
        Translator.load(tmp_path / "out", device="cpu")
    assert "\n" not in str(error.value)
