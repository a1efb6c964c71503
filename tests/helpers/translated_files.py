"""Files of the kinds that ``ctxmt translate`` translates as they are."""

from ctxmt_fairseq.generation.file_formats import Reading
from ctxmt_fairseq.generation.input_documents import Translated

FILM = """\ufeff1\r
00:00:01,000 --> 00:00:02,500 X1:5\r
<i>The cat that I\r
saw yesterday</i>\r
\r
2\r
00:00:02,600 --> 00:00:04,000\r
is black. Isn't it?\r
\r
3\r
00:00:04,100 --> 00:00:05,000\r
- No.\r
- <b>Yes!</b>\r
\r
4\r
00:00:05,100 --> 00:00:06,000\r
♪ ♪\r
\r
5\r
00:00:59,000 --> 00:01:01,000\r
Later\r
"""
ASS = """[Script Info]
Title: T

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,A,0,0,0,,{\\an8}Well, {\\i1}this{\\i0} is\\Nit.
Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Not shown.
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,Bye.
"""
PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=3; plural=n;\\n"

#: a.c:1
#, c-format
msgid "Open %s now. It is old."
msgstr ""

msgid "one file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

msgid "Done"
msgstr "Fini"
"""
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" target-language="fr" datatype="plaintext"><body>
<trans-unit id="1"><source>Hello <g id="1">big</g> world</source></trans-unit>
<trans-unit id="2"><source>Bye</source></trans-unit>
<trans-unit id="3"><source>Done</source><target>Fini</target></trans-unit>
</body></file></xliff>
"""
XLIFF_2 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en">
<file id="f"><unit id="1"><segment id="a"><source>One.</source></segment>
<segment id="b"><source>Two.</source><target>Deux.</target></segment></unit>
<unit id="2" translate="no"><segment><source>No</source></segment></unit>
<unit id="3"><segment><source>A <pc id="1">b</pc></source></segment></unit></file></xliff>
"""
HTML = """<html lang="en"><body>
<p class="x">It is <b>old</b>. Cats &amp; dogs<br/>sleep.</p><script>var x = "a b";</script>
<img alt="A cat" src="c.png"></body></html>
"""
MD = "# A title\n\nIt is *old*, see [this page](http://x.y/a_b) and `code_x`.\n\n```\nno text\n```\n"


def translated(kind, path, content, change=lambda text: text, score=None, **how):
    """The sentences by document, and the file with changed sentences."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    documents = kind(str(path), Reading(**how)).documents(("en", "fr"))
    found = [Translated(change(text), score) for text in documents.sentences]
    ids = documents.documents
    starts = [*ids.starts.tolist()]
    sentences = [documents.sentences[a:b] for a, b in zip(starts, starts[1:], strict=False)]
    return sentences, documents.render(documents, found)
