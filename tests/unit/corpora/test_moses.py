"""OPUS' Moses format with its .ids file."""

import json

import pytest

from ctxmt_fairseq.corpora.formats.moses import follows
from tests.helpers.corpus_files import convert

EN, ZH = "en/0/1218838/4681542.xml.gz", "zh_cn/0/1218838/5937424.xml.gz"
# Sentence 3 of the English side and 9, 10 of the Chinese one have no counterpart.
LINES = [
    ("- Hello .", "你好 。", EN, ZH, "1", "1"),
    ("How are you ? Well ?", "好 吗 ？", EN, ZH, "2 3", "2"),
    ("I see .", "好 。", EN, ZH, "5", "3 4"),
    ("Yes .", "对 。", EN, ZH, "6", "5"),
    ("No .", "不 。", EN, ZH, "7", "9"),
    ("", "空", EN, ZH, "8", "10"),
    ("Then .", "然后 。", EN, ZH, "9", "11"),
    ("Again .", "又 。", EN, ZH.replace("5937424", "6"), "10", "12"),
    ("Other .", "别 。", "en/0/7/1.xml.gz", "zh_cn/0/7/2.xml.gz", "s1.9", "1"),
    ("Film .", "电影 。", "en/0/7/1.xml.gz", "zh_cn/0/7/2.xml.gz", "s1.10", "2"),
    ("End .", "完 。", "en/0/7/1.xml.gz", "zh_cn/0/7/2.xml.gz", "s2.1", "3"),
]


@pytest.fixture
def moses(tmp_path):
    def run(lines=LINES, source="en", target="zh_cn", *options):
        places = {"en": [0], "zh_cn": [1], "ids": [2, 3, 4, 5]}
        files = {
            f"O.{end}": "".join("\t".join(line[place] for place in columns) + "\n" for line in lines)
            for end, columns in places.items()
        }
        names = ("--source", f"O.{source}", "--target", f"O.{target}", "--ids", "O.ids")
        return convert(tmp_path, "moses", files, *names, *options, languages=(source, target))[0]

    return run


def test_documents_end_at_holes(moses, tmp_path, capsys):
    columns = moses(LINES, "en", "zh_cn", "--clean", "dashes")
    assert columns["en"] == ["Hello .", *(line[0] for line in LINES[1:] if line[0])]
    assert columns["zh_cn"] == [line[1] for line in LINES if line[0]]
    first, second = "0/1218838/4681542", "0/7/1"
    assert columns["docids"] == [
        first, first, f"{first}/2", f"{first}/2", f"{first}/3", f"{first}/4", f"{first}/5",
        second, second, f"{second}/2",
    ]  # fmt: skip
    counts = json.loads((tmp_path / "out.counts.json").read_text())
    assert (counts["kind"], counts["unit"], counts["read"]) == ("moses", "lines", 11)
    assert counts["left_out"] == {"empty": 1} and counts["remarks"] == {"cleaned: dashes": 1}
    assert "10 sentences in 7 documents" in capsys.readouterr().out


def test_the_other_direction(moses):
    columns = moses(LINES, "zh_cn", "en")
    assert columns["docids"][:2] == ["0/1218838/5937424"] * 2 and columns["en"][1] == "How are you ? Well ?"
    assert columns["docids"][6] == "0/1218838/6"


@pytest.mark.parametrize("before, after, expected", [
    ("5", "6", True), ("9", "10", True), ("s1.5", "s1.6", True), ("5", "7", False), ("6", "5", False),
    ("5", "5", False), ("s1.5", "s2.6", False), ("1.7", "2.1", False), ("a", "b", False),
])  # fmt: skip
def test_which_sentences_follow(before, after, expected):
    assert follows(before, after) == expected


@pytest.mark.parametrize("change, message", [
    (lambda lines: [(*lines[0][:5], "")], "ids:1: expected two documents and the numbers"),
    (lambda lines: [lines[0], (*lines[1][:2], "fr/1.xml", *lines[1][3:])],
     "ids:2: expected documents of en and zh_cn, found fr/1.xml"),
    (lambda lines: [("a\nb", *lines[0][1:])], "expected as many lines as"),
])  # fmt: skip
def test_refusals(moses, tmp_path, refusal, change, message):
    assert message in refusal(moses, change(LINES))
    assert not list(tmp_path.glob("out*"))
