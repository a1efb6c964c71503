"""Files that are translated as they are: one unit out for one unit in, all else byte for byte."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.file_formats import (
    FileFormat,
    check_same_kind,
    file_format,
    layout,
    register_file_format,
)
from ctxmt_fairseq.generation.file_formats.prose import Prose
from ctxmt_fairseq.generation.file_formats.subtitles import Subtitles
from ctxmt_fairseq.generation.file_formats.table import Table
from tests.helpers.translated_files import translated

# ---- sharing out ---------------------------------------------------------------------------------------


@given(st.text("ab 中\u00a0", max_size=30), st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_parts_are_the_text_and_as_many_as_asked_for(text, lengths):
    parts = layout.shared_out(text, lengths)
    assert len(parts) == len(lengths) and "".join("".join(parts).split()) == "".join(text.split())
    empty = [not part for part in parts]
    assert empty == sorted(empty) and sum(not each for each in empty) == min(
        len(lengths), len(layout.words_of(text))
    )


def test_parts_are_in_proportion():
    assert layout.shared_out("one two three four", [1, 1]) == ["one two", "three four"]
    assert layout.shared_out("one two three four", [3, 1]) == ["one two three", "four"]
    assert layout.shared_out("他们来了", [1, 3]) == ["他", "们来了"]
    assert layout.shared_out("我喜欢猫，他也是。", [4, 4]) == ["我喜欢猫，", "他也是。"]
    assert layout.shared_out("他说「你好」。再见", [2, 5]) == ["他说", "「你好」。再见"]


@given(
    st.lists(st.sampled_from(["a", "b", "%s", "{0}", "$x", "<b>", "&lt;"]), max_size=8),
    st.lists(st.sampled_from(["c", "%s", "{0}", "{1}", "<i>"]), max_size=8),
)
def test_placeholders_of_the_source_come_back_once_each(source, translation):
    text, changes = layout.with_kept(" ".join(source), " ".join(translation))
    wanted = sorted(word for word in source if word not in "ab")
    assert sorted(layout._KEPT.findall(text)) == wanted
    assert [word for word in text.split() if word == "c"] == [word for word in translation if word == "c"]
    if sorted(word for word in translation if word != "c") == wanted:
        assert changes == 0 and text == " ".join(translation)


@pytest.mark.parametrize(
    "text",
    [
        "50 % de",
        "a%b",
        "5 $ or $ 6",
        "{ }",
        "100%",
        "x < y > z",
        "a ``b'' c",
        "10%-a",
        "100%e",
        "%10a",
        "100 %a",
    ],
)
def test_other_text_is_no_placeholder(text):
    assert not layout._KEPT.findall(text)


@pytest.mark.parametrize(
    "name",
    ["%lu", "%5.2lf", "%zu", "%lld", "%g", "%(name)r", "%{count}", "${user.name}", "#{x}", "%1$@", "%n"],
)
def test_placeholders_of_many_languages(name):
    assert layout.with_kept(f"It is {name} here", "Ici") == (f"Ici {name}", 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [("找到%d个文件", "%d"), ("%s을(를) 찾을 수 없습니다", "%s"), ("ملف%sهنا", "%s"), ("$nameさん", "$name")],
)
def test_a_letter_of_another_script_behind_a_placeholder_is_no_part_of_it(text, name):
    assert layout.with_kept(f"Is {name} here", text) == (text, 0)
    assert layout.with_kept("Is %s here", "100%sûr") == ("%s 100%sûr", 1)


@pytest.mark.parametrize("text", ["Êtes-vous là", "am 12/05/2024 um", "s https://a.example/some/path.html d"])
def test_no_tag_comes_into_a_word(text):
    """Nor into a date or an address, at whatever share."""
    for share in range(100):
        found = layout.put_back(text, [(share / 100, "<b>"), ((share + 9) / 100, "</b>")])
        assert [re.sub("</?b>", "", word) for word in found.split()] == text.split()
        assert not re.search(r"[^ ]<b>|</b>[^ ]", found.replace("<b></b>", ""))


@pytest.mark.parametrize("code", ["` a*b `", "```rm *.txt and _x_```", "`` `foo` ``", "`a b`", "``a ` b``"])
def test_code_is_kept_whole(code):
    assert layout.with_kept(f"Run {code} now", f"Los {code} jetzt") == (f"Los {code} jetzt", 0)
    assert layout.with_kept(f"Run {code} now", "Los jetzt")[0].count(code) == 1


def test_blanks_that_do_not_break_stay():
    assert layout.with_kept("Open %s now", "Ouvrir\u00a0?") == ("Ouvrir\u00a0 %s ?", 1)


def test_placeholders_of_templates():
    text = "{a.b} {0:.2f} {x!r} {{ a b }} {% if x %} {c}"
    assert layout.with_kept(text, "{d}")[0] == text


# ---- hostile lengths ---------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_hostile_lengths_take_no_quadratic_time():
    marks = "<i>" * 50_000
    text, found = layout.without(re.compile(layout.TAG), marks + "a b")
    assert layout.put_back(text * 10_000, found).startswith(marks)
    assert layout.with_kept("%s " * 20_000, "a")[1] == 20_000
    assert layout.with_kept("a", "%" + "0" * 100_000) == ("%" + "0" * 100_000, 0)
    assert len(layout.shared_out("a " * 50_000, [1] * 50_000)) == 50_000


# ---- tables and prose ----------------------------------------------------------------------------------


def test_a_table_gets_columns(tmp_path):
    content = "id\tsource\tdocument\r\n7\tHello. \td\u20281\r\n8\t\td1\r\n"
    sentences, text = translated(Table, tmp_path / "a.tsv", content, str.upper, 0.5)
    assert [len(each) for each in sentences] in ([1, 1], [2])
    rows = [
        "id\tsource\tdocument\ttranslation\tscore",
        "7\tHello. \td\u20281\tHELLO.\t0.5000",
        "8\t\td1\t\t0.5000",
    ]
    assert text == "".join(f"{row}\r\n" for row in rows)
    names = {"source": "a", "document": "b"}
    assert translated(Table, tmp_path / "a.tsv", "b\ta\n1\tx", **names)[1] == "b\ta\ttranslation\n1\tx\tx"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "a.tsv:1: expected one column 'source'"),
        ("source\tdocument\nx\n", "a.tsv:2: expected 2 columns, found 1"),
        ("source\tdocument\nx\t \n", "a.tsv:2: expected a document's id"),
        ("source\tdocument\ttranslation\n", "a.tsv:1: rename the column 'translation'"),
    ],
)
def test_broken_tables(tmp_path, content, line):
    with pytest.raises(BadInput) as error:
        translated(Table, tmp_path / "a.tsv", content)
    assert line in str(error.value)


@given(st.text("aB.?! \n\t\u00a0中。♪1", max_size=60))
def test_prose_comes_out_as_it_went_in(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "prose.txt"
    sentences, text = translated(Prose, path, content)
    assert text == content and len(sentences) <= 1
    changed = translated(Prose, path, content, lambda text: f"[{text}]")[1]
    assert changed.replace("[", "").replace("]", "") == content
    assert all(re.search(r"\w", inside) for inside in re.findall(r"\[(.*?)\]", changed))


def test_a_byte_order_mark_is_not_read(tmp_path):
    sentences, text = translated(Prose, tmp_path / "a.txt", "\ufeffIt is old.\n", str.upper)
    assert (sentences, text) == ([["It is old."]], "\ufeffIT IS OLD.\n")


# ---- names ---------------------------------------------------------------------------------------------


def test_an_output_is_called_like_its_kind():
    check_same_kind("a.xlf.gz", "b.xliff")
    check_same_kind("a.srt", "b.txt")
    for output in ("b.vtt", "b.docx", "b.md.gz"):
        with pytest.raises(BadInput, match=f"{output}: is written as a.srt is: choose a name with .srt"):
            check_same_kind("a.srt", output)


def test_formats_by_name(monkeypatch):
    assert (
        file_format("A.SRT") is file_format("a.srt.gz") is Subtitles
        and file_format("x.tsv") is Table
        and file_format("x.en") is None
    )
    with pytest.raises(BadInput, match="docx: files of the kind .docx are not read: save it as text"):
        file_format("x.docx")
    with pytest.raises(
        BadInput, match="a.markdown.gz: files of the kind .markdown are not read: call it .md"
    ):
        file_format("a.markdown.gz")

    class Mine(FileFormat):
        def documents(self, languages):
            raise NotImplementedError

    monkeypatch.setattr("ctxmt_fairseq.generation.file_formats.FORMATS", {})
    assert register_file_format(".mine")(Mine) is Mine and file_format("x.mine") is Mine
