"""Text of any language comes out of the subwords as it was written; BLEU counts the words that it has."""

import json
import random

import numpy as np
import pytest
import sacrebleu
import torch
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import Spaces
from ctxmt_fairseq.tasks.interactive import SteppedTokenizer
from ctxmt_fairseq.text.languages import bleu_tokenizer
from ctxmt_fairseq.text.text_lines import tidy

TEXTS = {  # what SentencePiece's own default rule, or a blank for every white space, would change
    "fr": "«\u00a0Ça va\u202f?\u00a0» 10\u202f000\u00a0€ l’été… ﬁn ½ № 5 “là”",
    "zh-Hans": "你好，世界！ＡＢＣ１２３①：；？\u3000（完）",
    "ja": "これはペンです。ｶﾞｷﾞ①㈱\u3000「はい」？",
    "fa": "می\u200cخواهم كتاب ي ۱۲۳ ؟ «سلام»",
    "ar": "ﷺ السَّلامُ عليكم، ﻻ ٣٫١٤ ؟",
    "th": "น้ำ เป็น ดี ๆ ฯลฯ กำ",
    "hi": "क़लम ज़रूर है। १२३",
    "tr": "İstanbul’da ıslak İIiı",
}


def write(prefix, sides, lines=150):
    for side in sides:
        draw = random.Random(1)
        words = TEXTS[side].split(" ")
        text = (" ".join(draw.choices(words, k=6)) for _ in range(lines))
        prefix.with_name(f"{prefix.name}.{side}").write_text("".join(f"{tidy(line)}\n" for line in text))
    prefix.with_name(f"{prefix.name}.docids").write_text("".join(f"{at // 5}\n" for at in range(lines)))


def preprocessed(folder, sides, *options):
    write(folder / "text", sides)
    (source, target), out = sides, folder / f"data{len(options)}"
    languages = ["--source-lang", source, "--target-lang", target]
    text = [f"--{split}={folder / 'text'}" for split in ("train", "valid", "test")]
    main(
        [
            "preprocess",
            *languages,
            *text,
            "--spm-type",
            "bpe",
            "--out",
            str(out),
            *options,
        ]
    )
    return out


@pytest.fixture(scope="module")
def french_chinese(tmp_path_factory):
    return preprocessed(tmp_path_factory.mktemp("zh"), ("fr", "zh-Hans"))


@pytest.mark.parametrize("sides", [("fr", "zh-Hans"), ("ja", "fa"), ("ar", "th"), ("hi", "tr")])
def test_text_comes_out_as_it_was_written(sides, tmp_path, capsys):
    data = preprocessed(tmp_path, sides)
    assert "come out of the subwords" not in capsys.readouterr().err
    for side in sides:
        subwords = Subwords.load(data, side)
        lines = (tmp_path / f"text.{side}").read_text().splitlines()
        assert [subwords.decode(subwords.encode(line)) for line in lines] == lines
        trip = json.loads((data / "ctxmt.json").read_text())["splits"]["test"]["round_trip"]
        assert trip[side] == {"lines": 150, "changed": 0}


def test_what_a_rule_changes_is_counted_and_said_once(tmp_path, capsys, caplog):
    data = preprocessed(tmp_path, ("fr", "zh-Hans"), "--normalization", "nmt_nfkc")
    said = [
        record.getMessage() for record in caplog.records if "come out of the subwords" in record.getMessage()
    ]
    assert (
        len(said) == 2
        and "text.fr: " in said[0]
        and "text.zh-Hans: " in said[1]
        and said[0].count("' -> '") == 3
    )
    trip = json.loads((data / "ctxmt.json").read_text())["splits"]["train"]["round_trip"]
    assert min(side["changed"] for side in trip.values()) > 75
    assert f"{100 * trip['fr']['changed'] / 150:.2f} %" in capsys.readouterr().out


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="▁\ufdd0\ufdd1\ufdd2\ufeff"))
)
def test_any_text_keeps_its_white_space(french_chinese, text):
    text = tidy(text)
    spaces = Spaces()
    once = " ".join(spaces.apply(text).split())
    # A blank beside another space has no place of its own.
    if not any(f"{space} " in text for space in Spaces.SIGNS):
        assert spaces.undo(once) == text
        subwords = Subwords.load(french_chinese, "fr")
        assert subwords.decode(subwords.encode(text)) == text


def test_words_of_a_text_are_those_between_white_space(french_chinese):
    subwords = Subwords.load(french_chinese, "fr")
    pieces = subwords.encode("10\u202f000\u00a0€ là").split()
    starts = subwords.word_starts(pieces)
    words = [""] * sum(starts)
    for piece, number in zip(pieces, np.cumsum(starts) - 1, strict=True):
        words[number] += subwords.bare(piece)
    assert words == ["10", "000", "€", "là"]


def test_user_symbols_are_one_piece_each(tmp_path):
    data = preprocessed(tmp_path, ("fr", "tr"), "--user-symbols", "<formal>", "⟦0⟧")
    pieces = Subwords.load(data, "fr").encode("<formal> Ça⟦0⟧ va").split()
    assert pieces.count("<formal>") == pieces.count("⟦0⟧") == 1


@pytest.mark.parametrize(
    "options, message",
    [
        (("--normalization", "nfd"), "--normalization: expected identity, "),
        (("--normalization", "rules.tsv"), "rules.tsv: no such file"),
        (("--normalization", "nfkc", "--no-subwords"), "are for a SentencePiece model that is trained here"),
        (("--spm-type", "bpe", "--no-subwords"), "are for a SentencePiece model that is trained here"),
        (("--character-coverage", "0.99", "--no-subwords"), "for a SentencePiece model that is trained here"),
        (("--normalization-source", "nfkc"), "give --normalization, or --normalization-source with"),
        (("--normalization-source", "nfkc", "--normalization-target", "identity"), "or give --separate"),
    ],
)
def test_rules_that_cannot_be_used(tmp_path, refusal, options, message):
    assert message in refusal(preprocessed, tmp_path, ("fr", "tr"), *options)


def test_bleu_counts_words_as_the_language_has_them(french_chinese, tmp_path, capsys, monkeypatch):
    lines = (french_chinese.parent / "text.zh-Hans").read_text().splitlines()
    ours = [line[:-2] + "人" for line in lines]
    for name, text in (("hyp", ours), ("ref", lines)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in text))
    main(["score", str(tmp_path / "hyp"), str(tmp_path / "ref"), "--data", str(french_chinese)])
    shown = capsys.readouterr().out
    assert "tok:zh" in shown and f"{sacrebleu.corpus_bleu(ours, [lines], tokenize='zh').score:.2f}" in shown

    # In training: of a batch the same counts, over text and not over pieces.
    task = task_of(french_chinese)
    encoded = [task.tgt_dict.encode_line(task._pieces.target.encode(task.tokenizer.target.apply(line)),
               add_if_not_exist=False) for line in (*ours, *lines)]  # fmt: skip
    batch = {"target": torch.nn.utils.rnn.pad_sequence(encoded[150:], True, task.tgt_dict.pad())}
    monkeypatch.setattr(task, "inference_step", lambda *_: [[{"tokens": each}] for each in encoded[:150]])
    found = task._inference_with_bleu(None, batch, None)
    expected = sacrebleu.corpus_bleu(
        [line.replace("人", "UNKNOWNTOKENINHYP") for line in ours], [lines], tokenize="zh"
    )
    assert (found.counts, found.totals) == (expected.counts, expected.totals)


def task_of(data):
    words = [str(data), "--task", "document_window", "--arch", "transformer_tiny", "--eval-bleu"]
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=words)
    task = tasks.setup_task(convert_namespace_to_omegaconf(args).task)
    assert (task.cfg.source_lang, task.cfg.target_lang) == ("fr", "zh-Hans")
    task.tokenizer = SteppedTokenizer(task.cfg)
    return task


@pytest.mark.parametrize(
    "language, tokenizer",
    [
        ("zh", "zh"),
        ("zh_CN", "zh"),
        ("zh-Hant-TW", "zh"),
        ("th", "char"),
        ("fr", None),
        ("pt-BR", None),
        ("", None),
    ],
)
def test_tokenizers_that_sacrebleu_has(language, tokenizer):
    assert bleu_tokenizer(language) == tokenizer
    assert bleu_tokenizer("ja") in ("ja-mecab", "char") and bleu_tokenizer("ko") in ("ko-mecab", None)
