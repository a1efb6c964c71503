"""Each kind of file through the shell: the same kind comes out, and a broken one is one line."""

import os

import pytest

from tests.helpers.translated_files import ASS, FILM, HTML, MD, PO, XLIFF
from tests.integration.commands import refused, run

SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
VTT = "WEBVTT\n\nNOTE a b\n\n00:01.000 --> 00:02.000 line:1\nThe cat sleeps.\n"
JSONL = '{"source": "The cat sleeps.", "document": 1, "speaker": "ž"}\n'
TSV = "id\tsource\tdocument\n7\tThe cat sleeps.\td1\n"
PROSE = "  The cat sleeps.  It is old.\n\n* * *\n"
# What stays of each file, and what does not.
KINDS = {
    "a.srt": (FILM, "00:00:01,000 --> 00:00:02,500 X1:5\r\n<i> </i>\r\n ♪ ♪\r\n", "yesterday"),
    "a.vtt": (VTT, "NOTE a b\n\n00:01.000 --> 00:02.000 line:1\n", "sleeps"),
    "a.ass": (ASS, "[Events]\nFormat: Comment: {\\p1}m {\\an8} {\\i1}", "Bye"),
    "a.jsonl": (JSONL, '"source": "The cat sleeps.", "speaker": "ž", "translation":', None),
    "a.tsv": (TSV, "id\tsource\tdocument\ttranslation\n7\tThe cat sleeps.\td1\t", None),
    "a.txt": (PROSE, "\n\n* * *\n", "sleeps"),
    "a.po": (PO, '"Done"\nmsgstr "Fini" #, c-format, fuzzy msgstr[2]', 'msgstr ""\n\nmsgid "one'),
    "a.xliff": (XLIFF, '<g id="1">big</g> needs-review-translation <target>Fini', None),
    "a.html": (HTML, '<p class="x"> <b> </b> <script>var x = "a b";</script> src="c.png"', "sleep"),
    "a.md": (MD, "# [ ](http://x.y/a_b) \n```\nno text\n```\n", "A title"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_each_kind(name, last, tmp_path):
    content, kept, gone = KINDS[name]
    if name.endswith((".po", ".xliff", ".html", ".md")):
        pytest.importorskip("translate", reason="the extra files is not installed")
    path, output = tmp_path / name, tmp_path / f"out.{name}"
    path.write_bytes(content.encode())
    split = ("--split", "sentences") if name == "a.txt" else ()
    run("ctxmt", "translate", last, path, "--output", output, *SEARCH, *split)
    text = output.read_bytes().decode()
    assert all(part in text for part in kept.split(" "))
    assert text != content and (gone is None or gone not in text)
    assert sorted(os.listdir(tmp_path)) == [name, f"out.{name}"]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.srt", FILM.encode("utf-16"), "a.srt:1: is not UTF-8"),
        ("a.jsonl", JSONL.encode("latin-1", "replace")[:40], "a.jsonl:1: expected JSON"),
        ("a.html", b"<p>The cat <b", "a.html: translate-toolkit would lose 1 of its letters"),
    ],
)
def test_a_broken_file_is_one_line(name, content, line, last, tmp_path):
    if name == "a.html":
        pytest.importorskip("translate", reason="the extra files is not installed")
    (tmp_path / name).write_bytes(content)
    said = refused("ctxmt", "translate", last, tmp_path / name, "--output", tmp_path / "out", *SEARCH)
    assert said.startswith(f"ctxmt: error: {tmp_path}/{line}")
    assert os.listdir(tmp_path) == [name]


def test_a_page_keeps_its_scripts_and_comments(last, tmp_path):
    pytest.importorskip("translate", reason="the extra files is not installed")
    parts = [
        "<!-- a\n b -->",
        "<script>// x\nvar a = '</p>'\n</script>",
        "<pre>a\n  b</pre>",
        "<script>// cut\noff",
    ]
    (tmp_path / "a.html").write_text(
        "<div>The cat {} sleeps.</div><div>{}{} It is old.</div>{}".format(*parts)
    )
    run("ctxmt", "translate", last, tmp_path / "a.html", "--output", tmp_path / "out", *SEARCH)
    text = (tmp_path / "out").read_text()
    assert all(part in text for part in parts) and "ctxmt" not in text and "sleeps" not in text
