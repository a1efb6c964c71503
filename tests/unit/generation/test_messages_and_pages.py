"""Messages of programs and pages, by translate-toolkit: all but their texts comes out as it went in."""

import re

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.file_formats import file_format
from ctxmt_fairseq.generation.file_formats import toolkit as toolkit_format
from tests.helpers.translated_files import HTML, MD, PO, XLIFF, XLIFF_2, translated

SAMPLES = {"po": PO, "xliff": XLIFF, "html": HTML, "md": MD}


@pytest.fixture
def toolkit():
    pytest.importorskip("translate", reason="the extra files is not installed")
    return toolkit_format.Toolkit


def test_messages_of_programs(toolkit, tmp_path, caplog):
    sentences, text = translated(toolkit, tmp_path / "a.po", PO, lambda text: f"<{text}".replace("%s", ""))
    assert sentences == [["Open %s now.", "It is old.", "one file", "%d files"]]
    read = text.split("\n\n")
    assert "#, c-format, fuzzy" in read[1] and read[1].count("%s") == 2  # of the source, and put back
    assert [line for line in read[2].splitlines() if line.startswith("msgstr")] == [
        'msgstr[0] "<one file"', 'msgstr[1] "<%d files"', 'msgstr[2] "<%d files"'
    ]  # fmt: skip
    assert read[3].rstrip() == 'msgid "Done"\nmsgstr "Fini"' and "1 tags and placeholders" in caplog.text
    one = PO.replace("nplurals=3", "nplurals=1").replace('msgstr[1] ""\nmsgstr[2] ""\n', "")
    assert 'msgstr[0] "%d files"\n' in translated(toolkit, tmp_path / "a.po", one)[1]
    half = PO.replace('msgstr[0] ""', 'msgstr[0] "un fichier"')
    text = translated(toolkit, tmp_path / "a.po", half)[1]
    assert 'msgstr[0] "un fichier"\nmsgstr[1] "%d files"\nmsgstr[2] "%d files"' in text
    sentences, text = translated(toolkit, tmp_path / "a.xliff", XLIFF, str.upper)
    assert sentences == [["Hello big world", "Bye"]] and text.count("<target") == 3
    assert 'state="needs-review-translation">BYE</target>' in text
    assert 'state="needs-review-translation">HELLO <g id="1">BIG</g> WORLD</target>' in text


INLINE = (
    'Press <bpt id="2">&lt;b&gt;</bpt>the <mrk mtype="protected">OK</mrk> key<ept id="2">&lt;/b&gt;</ept>, '
    '<g id="3">then <x id="5"/> <g id="4">wait</g></g>. <ph id="6"><sub>it</sub></ph><!-- it -->'
    "Now &lt;i&gt;go."
)


def upper_inline(text):
    """The words of ``INLINE`` that are to be translated."""
    return re.sub("Press|the |key|then|wait|Now|go", lambda found: found[0].upper(), text)


@pytest.mark.parametrize("change", [str.upper, lambda text: "un mot", lambda text: "", lambda text: text * 3])
def test_elements_within_a_text_of_xliff(toolkit, tmp_path, change):
    sentences, text = translated(toolkit, tmp_path / "a.xliff", XLIFF.replace("Bye", INLINE), change)
    assert sentences == [["Hello big world", "Press the key, then wait.", "Now go."]]
    target = re.search(r'id="2".*?<target [^>]*>(.*?)</target>', text, re.DOTALL)[1]
    assert re.findall(r"<[^<>]*>", target) == re.findall(r"<[^<>]*>", INLINE)
    for kept in (">&lt;b&gt;<", ">OK<", '<ph id="6"><sub>it</sub></ph>', "&lt;i&gt;"):
        assert kept in target
    assert change is not str.upper or target == upper_inline(INLINE)


def test_elements_that_come_out_in_another_order_are_left(toolkit, tmp_path, caplog):
    content = XLIFF.replace("Bye", '<g id="1">Run it all</g> `<x id="2"/>` now')

    def code_first(text):
        return " ".join(sorted(text.split(), key=lambda word: "`" not in word))

    _, text = translated(toolkit, tmp_path / "a.xliff", content, code_first)
    assert text.count("<target") == 2 and '<x id="2"/>` now</source>\n      </trans-unit>' in text
    assert "a.xliff: 1 texts are not translated, because their elements" in caplog.text


def test_what_is_around_a_text_may_say_that_it_is_not_translated(toolkit, tmp_path):
    content = XLIFF.replace("<body>", '<body><group translate="no">').replace("</body>", "</group></body>")
    assert "<group" in content and not translated(toolkit, tmp_path / "a.xliff", content)[0]
    one = content.replace('id="2"', 'id="2" translate="yes"')
    assert translated(toolkit, tmp_path / "a.xliff", one)[0] == [["Bye"]]


@pytest.mark.parametrize("element", ['<x id="1" ctype="lb"/>', '<ph id="1" subType="xlf:lb"/>'])
def test_a_line_break_is_between_words(toolkit, tmp_path, element):
    content = XLIFF.replace("Bye", f"One cat{element}Two dogs")
    sentences, text = translated(toolkit, tmp_path / "a.xliff", content, str.upper)
    assert sentences[0][1] == "One cat Two dogs" and re.search(r">ONE CAT <[^<>]*/> ?TWO DOGS<", text)


def test_a_file_for_another_language_is_named(toolkit, tmp_path, caplog):
    for content, ending in ((XLIFF, "xliff"), (PO, "po"), (XLIFF_2, "xlf")):
        translated(toolkit, tmp_path / f"a.{ending}", content)
    assert "is to be translated to" not in caplog.text
    header = '"Content-Type: text/plain; charset=UTF-8\\n"\n'
    assert header in PO
    translated(toolkit, tmp_path / "b.po", PO.replace(header, f'{header}"Language: fr_CA\\n"\n'))
    assert "is to be translated to" not in caplog.text
    translated(toolkit, tmp_path / "b.po", PO.replace(header, f'{header}"Language: es\\n"\n'))
    assert "b.po: is to be translated to es, as it says, and gets fr" in caplog.text
    translated(toolkit, tmp_path / "c.xlf", XLIFF_2.replace("srcLang=", 'trgLang="de" srcLang='))
    assert "c.xlf: is to be translated to de, as it says, and gets fr" in caplog.text


def test_second_xliff(toolkit, tmp_path):
    sentences, text = translated(toolkit, tmp_path / "a.xlf", XLIFF_2, str.upper)
    assert sentences == [["One.", "A b"]] and 'trgLang="fr"' in text and text.count("<target") == 3
    assert '<target>A <pc id="1">B</pc></target>' in text
    assert re.search(r'id="a" state="initial">\s*<source>One.</source>\s*<target>ONE.</target>', text)


@pytest.mark.parametrize("state", ["new", "needs-translation", "translated"])
def test_a_copy_of_the_source_is_a_translation_if_its_state_says_so(toolkit, tmp_path, state):
    content = XLIFF.replace(
        "<source>Bye</source>", f'<source>Bye</source><target state="{state}">Bye</target>'
    )
    sentences, text = translated(toolkit, tmp_path / "a.xliff", content, str.upper)
    assert sentences == [["Hello big world", *["Bye"] * (state != "translated")]]
    assert (">BYE</target>" in text) == (state != "translated") and text.count("<target") == 3


def test_pages(toolkit, tmp_path):
    sentences, text = translated(toolkit, tmp_path / "a.html", HTML, str.title)
    assert sentences == [["It is old.", "Cats & dogs sleep.", "A cat"]]
    assert '<html lang="fr"' in text and 'var x = "a b"' in text and 'alt="A Cat" src="c.png"' in text
    assert '<p class="x">It Is <b>Old</b>. Cats &amp; Dogs <br/>Sleep.</p>' in text
    sentences, text = translated(toolkit, tmp_path / "a.md", MD, lambda text: text.replace("old", "alt"))
    assert sentences == [["A title", "It is old, see this page and `code_x`."]]
    assert text == MD.replace("old*,", "alt*,")


@pytest.mark.parametrize(
    ("name", "content", "expected", "read"),
    [
        ("a.html", "<p>Use &lt;b&gt; here.</p>", "<p>Use &lt;b&gt; there.</p>", "Use <b> here."),
        ("a.md", "Use &lt;b&gt; here &amp; now.\n", "Use &lt;b&gt; there &amp; now.\n", None),
        ("a.md", "Use `<b>` and *it* here.\n", "Use `<b>` and *it* there.\n", "Use `<b>` and it here."),
        ("a.md", "\ufeff# It is here\n", "\ufeff# It is there\n", "It is here"),
        (
            "a.html",
            "<p>Q&A, R&D is here &copy 2020.",
            "<p>Q&amp;A, R&amp;D is there © 2020.",
            "Q&A, R&D is here © 2020.",
        ),
        *(
            ("a.po", f'msgid "{text}"\nmsgstr ""\n', f'\nmsgstr "{text}"\n', text)
            for text in ("All *.txt and *.csv", "2*3*4 of `%s' to `%s'", "a < b or c > d")
        ),
        ("a.po", 'msgid "$<b>5</b>/<i>x</i>"\nmsgstr ""\n', 'msgstr "$<b>5</b>/<i>x</i>"\n', "$5/x"),
        ("a.po", 'msgid "It is here.\\n"\nmsgstr ""\n', '\nmsgstr "It is there.\\n"\n', "It is here."),
        (
            *("a.xliff", re.sub(">(Hello.*|Bye)</source>", ">It here</source><target/>", XLIFF)),
            *('review-translation">It there</target>', "It here"),
        ),
    ],
)
def test_signs_of_markup_stay_what_they_are(toolkit, tmp_path, name, content, expected, read):
    sentences, text = translated(
        toolkit, tmp_path / name, content, lambda text: text.replace("here", "there")
    )
    assert expected in text and (read is None or sentences == [[read]])


def test_what_a_page_says_of_itself_is_no_sentence(toolkit, tmp_path):
    content = (
        '<html lang="{}"><body><form><input type="hidden" value="a b"><option value="old">Old</option>'
        '<input type="submit" value="{}"></form><p>{}</p></body></html>'
    )
    read = content.format("en-US", "Go", "en")
    sentences, text = translated(toolkit, tmp_path / "a.html", read, str.upper)
    assert sentences == [["Old", "Go", "en"]]
    assert text == content.format('fr" dir="ltr', "GO", "EN").replace(">Old<", ">OLD<")
    loose = "<body>One <b>two</b>.<form>Name: <textarea>A b</textarea></form></body>"
    sentences, text = translated(toolkit, tmp_path / "a.html", loose, str.upper)
    assert sentences == [["One two.", "Name:"]] and "ONE <b>TWO</b>.<form>NAME: <textarea>A b<" in text
    other = read.replace("en-US", "de")
    assert '<html lang="de"><body>' in translated(toolkit, tmp_path / "a.html", other, str.upper)[1]


@pytest.mark.parametrize(
    "content",
    [
        # References are shorter than they are written.
        "<p>one&nbsp;two&nbsp;three&nbsp;four&nbsp;five <a href=u>cat</a> seven eight</p>".replace(
            "&nbsp;", " &amp; "
        ),
        # Attributes of tags within a text, and those that are no text.
        """<P>Cat <a title="cat &amp; &quot;" href="?a=1&amp;copy=2">cat</a> b <img alt="cat"> cat.</p>""",
        """<p data-b='{"a": 1}' b='x > y'>cat</p><b>&nbsp;&copy;</b><p>cat <BR CLASS=a> cat</p>""",
        "<p>cat <i b='x > y'>cat</i> <!-- a --> cat</p>",
        # What says that it is not to be translated.
        "<p>cat <b class='x notranslate'>x <b>y</b> z</b> cat</p>",
        "<div translate=no title=x>x<div>y</div>z<p translate=yes>cat</p>x</div><p>cat</p>",
        "<p>cat</p><?php echo 'x > y'; ?><p>cat</p><![x[y]]><p>cat</p><?php x > y",
        # Text outside of elements, and beside what is a block.
        'cat <b>cat</b>.\n<p>cat</p>\ncat <a title="cat">cat</a>.\n',
        "\ufeff<!DOCTYPE html>\n<title>cat</title>\ncat<hr>",
        "<body>cat <pre>x</pre> cat <p translate=no>x</p> cat</body>",
        # End tags that HTML may leave out, and one too many.
        "<html><head><title>cat</title><body><h1>cat</h1>\n<p>cat <i>cat</i>\n<p>cat\n<hr>cat",
        "<ul>\n<li>cat\n<li><p>cat<p>cat<ol><li>cat<li>cat</ol>\n<li translate=no>x\n<li>cat</ul>cat",
        "<dl><dt>cat<dd>cat <br><dd translate=no>x<p>x<dt>cat</dl><p translate=no>x<p>cat",
        "<table><thead><tr><th>cat<th>cat<tbody><tr><td>cat<td><p>cat<tr><td>cat<img></table>",
        "<p>cat<br>\n" * 1001 + "<ul>" + "<li>cat" * 1001,
        "<P>cat <B>cat</B> cat<UL><LI>cat</UL >cat</P><DIV translate=no>x</DIV>",
        "<p>cat<ul><li>cat</ul>cat</p><div translate=no>x<p>x<ul></ul>x</p></div><p>cat</p>",
        "<p>cat <kbd>Ctrl</kbd>+<kbd>C</kbd> <a>cat</a>|<a>cat</a></p><p>cat`s cat'</p>",
        '<select><optgroup label="cat"><option value=x>cat<option value=x>cat<optgroup></select>',
    ],
)
def test_all_but_the_texts_of_a_page_stays(toolkit, tmp_path, content):
    sentences, text = translated(
        toolkit, tmp_path / "a.html", content, lambda text: text.replace("cat", "dog")
    )
    assert text == content.replace("cat", "dog") and "x" not in "".join(sentences[0])
    assert translated(toolkit, tmp_path / "a.html", content)[1] == content


@pytest.mark.parametrize(
    "content",
    [
        "A cat  \nis here.\n\n> A cat  \n> b.\n",
        "A cat\\\nis here.\n\n- A cat\\\n  b.\n",
        "# A cat\r\n\r\nis here.\r\n",
        "No \\*cat\\*, \\[cat\\](b) 2 * 3 ** cat, **cat** or ``**a** ` b``.\n",
        "A [cat](http://a.b/c(d)) and [*cat*](<http://a b>).\n",
        "A [cat](a)/[cat](b), **cat**/**cat**, all *.txt and *.csv, <kbd>Ctrl</kbd>+<kbd>C</kbd>.\n",
        "| cat     | b   |\n| ------- | --- |\n| a \\| cat | b   |\n",
        "这是**cat**字。\n",
    ],
)
def test_all_but_the_texts_of_markdown_stays(toolkit, tmp_path, content):
    text = translated(toolkit, tmp_path / "a.md", content, lambda text: text.replace("cat", "dog"))[1]
    assert text == content.replace("cat", "dog")


def test_what_markdown_names_is_no_text(toolkit, tmp_path):
    """Names of headings, callouts, formulas, footnotes."""
    content = "## {} {{#cat}}\n\n> [!note]\n> {}[^cat] {} $$cat^2$$.\n\n[^cat]: {}\n"
    texts = ("A cat", "The cat", "is", "It sleeps.")
    sentences, text = translated(toolkit, tmp_path / "a.md", content.format(*texts), str.upper)
    assert sentences == [["A cat", "The cat is .", "It sleeps."]]
    assert text == content.format(*map(str.upper, texts))


def test_lines_of_a_message_stay(toolkit, tmp_path):
    content = 'msgid ""\n"The old\\n"\n"  cat.\\n"\n"And the\\n"\n"dog"\nmsgstr ""\n'
    sentences, text = translated(toolkit, tmp_path / "a.po", content, str.upper)
    assert sentences == [["The old cat.", "And the dog"]]
    assert text.endswith('"THE OLD\\n"\n"  CAT.\\n"\n"AND THE\\n"\n"DOG"\n')


@pytest.mark.parametrize(
    "content", ["<p>a</p><div translate=no>x<p>y</p>", "<p translate=no>x<b>y</p>", "<![" * 200_000, "a<? b"]
)
def test_what_is_not_to_be_translated_must_end(toolkit, tmp_path, content):
    with pytest.raises(BadInput, match="is no .html file: (not closed|mismatched closing tag)"):
        translated(toolkit, tmp_path / "a.html", content)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x SYSTEM "file:///etc/passwd">'


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.xliff", XLIFF.replace("<xliff", f"{ENTITIES}<xliff").replace("Bye", "&b;"), "declares entities"),
        ("a.xliff", XLIFF.replace("<xliff", f"{OUTSIDE}<xliff"), "declares entities or a document type"),
        ("a.xliff", XLIFF.replace("UTF-8", "UTF-7"), "says that it is UTF-7: convert it to UTF-8"),
        ("a.xliff", XLIFF[:-30], "is no .xliff file"),
        ("a.xliff", "<xliff", "is no .xliff file"),
        ("a.html", ENTITIES + HTML, "declares entities"),
        ("a.html", HTML.replace("<body>", '<meta charset="latin-1">'), "says that it is latin-1"),
        ("a.html", "<p>The cat <b", "translate-toolkit would lose 1 of its letters"),
        ("a.html", "<div>" * 30_000, "more than 1000 elements are not closed"),
        ("a.po", PO.replace("UTF-8", "idna"), "says that it is idna"),
        ("a.po", "msgid x\n", "is no .po file"),
        ("a.po", PO + '\nmsgid "lost"\n', "translate-toolkit would lose 9 of its letters"),
        ("a.md", "> " * 3000 + "cat", "is no .md file"),
        ("a.tsv", "source\tdocument\n\0\t1\n", "a.tsv:2: expected text, found NUL"),
        ("a.tsv", "source\tdocument\n".encode("utf-16"), "a.tsv:1: is not UTF-8"),
        *((f"a.{kind}", f"{text}\0", "found NUL") for kind, text in SAMPLES.items()),
        *((f"a.{kind}", f"{text}é".encode("latin-1"), "is not UTF-8") for kind, text in SAMPLES.items()),
        *((f"a.{kind}", text.encode("utf-16"), ":1: is not UTF-8") for kind, text in SAMPLES.items()),
        *((f"a.{kind}", text.encode("utf-16-le"), "found NUL") for kind, text in SAMPLES.items()),
    ],
)
def test_broken_files(toolkit, tmp_path, name, content, line):
    with pytest.raises(BadInput) as error:
        translated(file_format(name), tmp_path / name, content)
    assert str(error.value).startswith(f"{tmp_path / name}:") and line in str(error.value)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("html", "<div>A <!-- a\n b --></div><script>// x\nvar a = '</p>'\n</script> <pre>a\n  b</pre>\n"),
        ("html", "<p>A</p><script>// cut\noff"),
        ("html", '<style>\na { b: c }\n</style><p><img ctxmt0="0" ctxmtx="0"> A</p>'),
        ("md", "---\ntitle: a\nlayout: b\n---\n\n# A\n\n- [ ] A\n- [x] A\n"),
    ],
)
def test_what_is_no_text_stays(toolkit, tmp_path, kind, content):
    assert translated(toolkit, tmp_path / f"a.{kind}", content)[1] == content
    assert translated(toolkit, tmp_path / f"a.{kind}", content, lambda text: "B")[1] == content.replace(
        "A", "B"
    )
