"""Models for transformers: its classes compute the same, cut text the same, and translate the same."""

import os

import pytest
import torch
from fairseq.data import Dictionary
from hypothesis import assume, given
from hypothesis import strategies as st

from ctxmt_fairseq import BadInput, Translator
from ctxmt_fairseq.corpora.data_folder import write_description
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.generation.exported_models import Trained, export_model
from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
from ctxmt_fairseq.generation.hub_export import HuggingFace
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR, SPECIAL_WORDS
from tests.helpers.hub_models import demo_text
from tests.helpers.saved_models import drawn, save, trained

pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers alone takes seconds
KINDS = {
    "sentence": ("transformer",),
    "stock windows": ("transformer", "--source-context", "1", "--target-context", "1"),
    "joined": ("concat_transformer", "--source-context", "2", "--share-all-embeddings"),
    "windows": (
        *("concat_transformer", "--source-context", "1", "--target-context", "1", "--activation-fn", "gelu"),
        *("--share-decoder-input-output-embed", "--decoder-learned-pos", "--decoder-layers", "2"),
    ),
    "Marian": (
        *("concat_transformer", "--marian", "--activation-fn", "swish", "--source-context", "1"),
        *("--no-scale-embedding", "--max-source-positions", "300"),
    ),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return [lines[:600] for lines in demo_text(tmp_path_factory.mktemp("text") / "demo")]


def data_folder(folder, text, joined=False, normalization="identity", steps=None):
    """Dictionaries of pieces, in another order than SentencePiece's; the two sides have different sizes."""
    folder.mkdir()
    for number, (language, lines) in enumerate(zip(("en", "fr"), text, strict=True)):
        lines = text[0] + text[1] if joined else lines
        model = train_subwords(lines, 150 if joined else 150 - 20 * number, normalization=normalization)
        path = folder / ("spm.model" if joined else f"spm.{language}.model")
        path.write_bytes(model)
        pieces, dictionary = Subwords(path).processor, Dictionary()
        for piece in sorted(map(pieces.id_to_piece, range(3, pieces.get_piece_size()))):
            dictionary.add_symbol(piece)
        dictionary.save(str(folder / f"dict.{language}.txt"))
    if steps:
        described = {"source_lang": "en", "target_lang": "fr", "splits": {}, "text_steps": steps}
        write_description(folder, described)
    return folder


def exported(folder, text, kind, *options, **how):
    """A random model, and what transformers makes of its export."""
    import transformers

    arch, *more = KINDS[kind] if kind in KINDS else kind
    data = data_folder(folder / "data", text, "--share-all-embeddings" in more, **how)
    state = drawn(trained(folder, *more, *options, arch=arch, data=data)[0])
    state["model"][f"decoder.layers.{1 if kind == 'windows' else 0}.final_layer_norm.bias"].fill_(1.0)
    state["model"]["decoder.output_projection.weight"][2] = 0.5  # so that </s> is likely everywhere
    path = save(folder / "model.pt", state)
    export_model(Trained.read(path, data), folder / "out", HuggingFace(), {}, "")
    own = Translator.load(path, data, device="cpu", lenpen=0.0, max_len_b=40)
    found = [getattr(transformers, f"Auto{name}").from_pretrained(folder / "out", local_files_only=True)
             for name in ("ModelForSeq2SeqLM", "Tokenizer")]  # fmt: skip
    return own, found[0].eval(), found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_the_same(tmp_path, text, kind):
    own, model, tokenizer = exported(tmp_path, text, kind)
    loaded, number = own.loaded, 8
    sides = [lines[:number] for lines in text]
    encoded = [[getattr(loaded, f"encode_{side}")(each) for each in lines]
               for side, lines in zip(("source", "target"), sides, strict=True)]  # fmt: skip
    scores = TranslationScorer(*encoded, Documents.from_lengths([4, 4])).scores(loaded)

    def windows(lines, size):
        return [f" {SEPARATOR} ".join(lines[max(at - size, at // 4 * 4) : at + 1]) for at in range(number)]

    options = loaded.task.options
    sources = windows(sides[0], options["source_context"])
    ids = tokenizer(
        sources,
        text_target=windows(sides[1], options["target_context"]),
        padding=True,
        return_tensors="pt",
    )
    with torch.no_grad():
        logits = model(**ids).logits
    found = logits.log_softmax(-1).gather(2, ids["labels"][:, :, None])[:, :, 0].double()
    for ours, theirs, labels in zip(scores, found, ids["labels"], strict=True):
        row = theirs[labels != tokenizer.pad_token_id]
        torch.testing.assert_close(torch.tensor(ours.window), row, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["sentence", "joined", "Marian"])
def test_translations_are_the_same(tmp_path, text, kind):
    own, model, tokenizer = exported(tmp_path, text, kind, steps=[{"step": "spaces"}])
    ended = 0
    assert model.generation_config.min_length == 2  # a translation of no words at all is none here either
    for beam in (1, 3):
        for sentence in text[0][:6]:
            ((best, *_),) = own.n_best([[sentence]], beam=beam)[0]
            ids = tokenizer(sentence, return_tensors="pt")
            output = model.generate(
                **ids,
                num_beams=beam,
                length_penalty=0.0,
                early_stopping=True,
                do_sample=False,
                max_new_tokens=40,
            )
            if beam == 1 or 2 in output[0, 1:]:  # where a search is cut off, each has another rule
                ended += beam > 1
                assert tokenizer.decode(output[0], skip_special_tokens=True) == best.text
    assert ended >= 3


HOSTILE = st.text() | st.text(
    st.sampled_from("aeAE .,'\"«»’…（）％\u00a0\u200b\u0301ßİ@&<>|[]-_0123９\U0001f600中▁")
)


@pytest.mark.parametrize("normalization", ["identity", "nmt_nfkc_cf"])
def test_text_is_cut_the_same(tmp_path, text, normalization):
    own, _, tokenizer = exported(tmp_path, text, "windows", normalization=normalization)
    dictionaries = own.loaded.task.source_dictionary, own.loaded.task.target_dictionary

    @given(HOSTILE)
    def check(text):
        text = " ".join(text.split())  # of which every command sees its words alone
        assume(not text.startswith(">>") and not any(word in text for word in SPECIAL_WORDS))
        assume(not any(word in text for word in (SEPARATOR, MASK, "<unk>")))
        for side, dictionary in zip(("source", "target"), dictionaries, strict=True):
            tokens = getattr(own.loaded, f"encode_{side}")(text)
            name = "text" if side == "source" else "text_target"
            table = tokenizer.encoder if side == "source" else tokenizer.target_encoder
            symbols = {number: symbol for symbol, number in table.items()}
            found = tokenizer(**{name: text})["input_ids"]
            assert [dictionary[token] for token in tokens] == [symbols[each] for each in found]

    check()
    for name in ("text", "text_target"):  # a window
        ids = [
            tokenizer(**{name: each})["input_ids"] for each in ("The cat", "sleeps.", "The cat <sep> sleeps.")
        ]
        assert ids[2] == [*ids[0][:-1], 4, *ids[1]]
    assert tokenizer.decode(ids[2], skip_special_tokens=True).count(" <sep> ") == 1


REFUSED = {
    "pre-norm": (("transformer", "--encoder-normalize-before"), "--encoder-normalize-before True"),
    "norm": (("transformer", "--layernorm-embedding"), "--layernorm-embedding True"),
    "function": (("transformer", "--activation-fn", "tanh"), "--activation-fn tanh"),
    "dimension": (("transformer", "--decoder-embed-dim", "4"), "--decoder-embed-dim"),
    "segments": (
        ("concat_transformer", "--segment-positions", "shift", "--segment-shift", "7"),
        "--segment-positions shift",
    ),
    "eos": (
        ("concat_transformer", "--source-context", "1", "--context-end", "eos"),
        "--context-end eos: its tokenizer",
    ),
    "no separator": (("concat_transformer", "--source-context", "1", "--no-separator"), "--no-separator"),
}


def refused(folder, data, message, arch="transformer", *options):
    state, _ = trained(folder, *options, arch=arch, data=data)
    model = Trained.read(save(folder / "model.pt", state), data)
    with pytest.raises(BadInput, match=message):
        export_model(model, folder / "out", HuggingFace(), {}, "")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("kind", REFUSED)
def test_what_does_not_fit_is_refused_by_name(tmp_path, text, kind):
    (arch, *options), message = REFUSED[kind]
    refused(tmp_path, data_folder(tmp_path / "data", text), message, arch, *options)


def test_text_that_its_tokenizer_cannot_cut_is_refused(tmp_path, text):
    data = data_folder(tmp_path / "data", text)
    described = {"source_lang": "en", "target_lang": "fr", "splits": {}, "text_steps": []}
    for change, message in (
        ({"text_steps": [{"step": "lowercase"}]}, "text step lowercase"),
        ({"language_tokens": {"en": "▁the"}}, "language token ▁the"),
    ):
        write_description(data, {**described, **change})
        refused(tmp_path, data, message)
    os.unlink(data / "ctxmt.json")
    os.unlink(data / "spm.fr.model")
    refused(tmp_path, data, "no SentencePiece model of fr")
