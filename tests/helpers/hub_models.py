"""Tiny random models of transformers' classes with their tokenizers, in folders as the hub has them."""

import io
import json
from collections import Counter
from typing import Any, NamedTuple

import sentencepiece
import torch
from subword_nmt.learn_bpe import learn_bpe

from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus
from tests.helpers.demo_corpus_files import lines_of

SIZES = dict(d_model=16, encoder_ffn_dim=24, decoder_ffn_dim=32, encoder_layers=2, decoder_layers=1)
HEADS = dict(encoder_attention_heads=2, decoder_attention_heads=4, max_position_embeddings=64)
MORE = dict(attention_dropout=0.0, dropout=0.1, scale_embedding=True)
ENDING = 4.0  # the logit of </s>
SPECIAL = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
# --source-lang, --target-lang, --source-token, --target-token of each family
LANGUAGES = {
    "marian": ("en", "fr", None, None),
    "marian-many": ("en", "fr", None, "fra"),
    "marian-two": ("en", "fr", None, None),
    "m2m_100": ("en", "fr", None, None),
    "nllb": ("en", "fr", "eng_Latn", "fra_Latn"),
    "mbart50": ("en", "fr", "en_XX", "fr_XX"),
    "fsmt": ("en", "fr", None, None),
}


class Hub(NamedTuple):
    """A folder, its model and its tokenizer; and what it is told to begin translations with."""

    folder: Any
    model: Any
    tokenizer: Any
    forced: Any


def demo_text(folder):
    """English and French lines of a small demo corpus in ``folder``."""
    if not folder.exists():
        write_demo_corpus(folder, documents=40, evaluation_documents=4, examples=2)
    return [lines_of(folder / f"train.{language}") for language in ("en", "fr")]


def _pieces(path, lines, size=120):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, minloglevel=2
    )
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(number) for number in range(processor.get_piece_size())]


def _random(model):
    """All parameters, and biases of the output, drawn anew: no layer norm is the identity."""
    torch.manual_seed(3)
    for parameter in model.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.3)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, mean=0.2, std=0.3)
    norm = getattr(model.get_decoder(), "layer_norm", None) or model.get_decoder().layers[-1].final_layer_norm
    weight, bias = norm.weight.detach(), norm.bias.detach()
    table = model.get_output_embeddings().weight
    with (
        torch.no_grad()
    ):  # a normalised state has the mean 0, so this row gives </s> the same logit everywhere
        table[model.config.eos_token_id] = ENDING / (bias / weight).sum() / weight
    return model.eval()


def _write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def make_hub(folder, kind, text, safe=True):
    """Write a folder of a kind of ``LANGUAGES``; ``text``: ``demo_text``."""
    import transformers  # takes seconds

    folder.mkdir(parents=True)
    forced = None
    if kind.startswith("marian"):
        sides = [
            _pieces(folder / f"{side}.spm", lines)
            for side, lines in zip(("source", "target"), text, strict=True)
        ]
        codes = [">>fra<<", ">>deu<<"] if kind == "marian-many" else []
        both = ["</s>", "<unk>", *dict.fromkeys(sorted({*sides[0], *sides[1]} - {"<s>", "</s>", "<unk>"}))]
        lists = [[*both, *codes, "<pad>"]] * 2
        if kind == "marian-two":
            lists = [["</s>", "<unk>", *side[3:], "<pad>"] for side in sides]
            _write(folder / "target_vocab.json", {x: n for n, x in enumerate(lists[1])})
        _write(folder / "vocab.json", {x: n for n, x in enumerate(lists[0])})
        spm = [str(folder / f"{side}.spm") for side in ("source", "target")]
        target = str(folder / "target_vocab.json") if kind == "marian-two" else None
        tokenizer = transformers.MarianTokenizer(
            *spm, str(folder / "vocab.json"), target, separate_vocabs=kind == "marian-two"
        )
        pad = len(lists[1]) - 1
        config = transformers.MarianConfig(
            vocab_size=len(lists[0]), decoder_vocab_size=len(lists[1]), pad_token_id=len(lists[0]) - 1,
            decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=None,
            activation_function="swish", share_encoder_decoder_embeddings=kind != "marian-two",
            **SIZES, **HEADS, **MORE,
        )  # fmt: skip
        model = _random(transformers.MarianMTModel(config))
        model.final_logits_bias.normal_()[:, 0] = 3.0
        _write(folder / "tokenizer_config.json", {"source_lang": "en", "target_lang": "fr"})
    elif kind == "fsmt":
        tokenizer = _fsmt_tokenizer(folder, text, transformers)
        config = transformers.FSMTConfig(
            langs=["en", "fr"], src_vocab_size=len(tokenizer.encoder), forced_eos_token_id=None,
            tgt_vocab_size=len(tokenizer.decoder), activation_function="relu", **SIZES, **HEADS, **MORE,
        )  # fmt: skip
        model = _random(transformers.FSMTForConditionalGeneration(config))
    else:
        name = "sentencepiece.bpe.model"
        pieces = _pieces(folder / name, text[0] + text[1], 200)
        spm = str(folder / name)
        if kind == "m2m_100":
            _write(folder / "vocab.json", {**SPECIAL, **{x: n + 4 for n, x in enumerate(pieces[3:])}})
            tokenizer = transformers.M2M100Tokenizer(str(folder / "vocab.json"), spm, "en", "fr")
            rows, forced = len(tokenizer.encoder) + 100 + 8, tokenizer.get_lang_id("fr")
        else:
            cls = transformers.NllbTokenizer if kind == "nllb" else transformers.MBart50Tokenizer
            tokenizer = cls(spm, src_lang=LANGUAGES[kind][2], tgt_lang=LANGUAGES[kind][3])
            rows, forced = len(tokenizer), tokenizer.convert_tokens_to_ids(LANGUAGES[kind][3])
            rows += 2 * (kind == "nllb")
        made = transformers.MBartConfig if kind == "mbart50" else transformers.M2M100Config
        config = made(
            vocab_size=rows, activation_function="gelu" if kind == "mbart50" else "relu",
            decoder_start_token_id=2, forced_eos_token_id=None, tokenizer_class=type(tokenizer).__name__,
            **SIZES, **HEADS, **MORE,
        )  # fmt: skip
        cls = transformers.MBartForConditionalGeneration
        model = _random((cls if kind == "mbart50" else transformers.M2M100ForConditionalGeneration)(config))
    model.save_pretrained(folder, safe_serialization=safe)
    tokenizer.save_pretrained(folder)
    return Hub(folder, model, tokenizer, forced)


def _fsmt_tokenizer(folder, text, transformers):
    """Codes of both languages together, and the symbols that they make of each."""
    codes = io.StringIO()
    learn_bpe(io.StringIO("\n".join(text[0] + text[1])), codes, 80)
    (folder / "merges.txt").write_text("".join(codes.getvalue().splitlines(True)[1:]), encoding="utf-8")
    for side in ("src", "tgt"):
        _write(folder / f"vocab-{side}.json", SPECIAL)
    files = [str(folder / name) for name in ("vocab-src.json", "vocab-tgt.json", "merges.txt")]
    for side, lines in zip(("src", "tgt"), text, strict=True):
        tokenizer = transformers.FSMTTokenizer(["en", "fr"][:: 1 if side == "src" else -1], *files)
        counts = Counter(piece for line in lines for piece in tokenizer._tokenize(line))
        _write(folder / f"vocab-{side}.json", {**SPECIAL, **{x: n + 4 for n, x in enumerate(sorted(counts))}})
    _write(folder / "tokenizer_config.json", {"langs": ["en", "fr"], "do_lower_case": False})
    return transformers.FSMTTokenizer(["en", "fr"], *files)
