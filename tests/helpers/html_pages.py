"""HTML taken apart, for tests: elements that are closed as they were opened, their attributes and text."""

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Attributes: ``tags`` in their order, ``attributes`` [(tag, name, value)], ``text`` of all elements but
    style, ``tables`` as rows of cells, ``styles``."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.tables, self.styles = [], [], [], [], []
        self._open = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice"
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self._open and self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if "style" in self._open:
            self.styles.append(data)
            return
        self.texts.append(data)
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data

    def handle_comment(self, data):
        raise AssertionError("the page has no comments")

    def handle_pi(self, data):
        raise AssertionError("the page has no processing instructions")

    def handle_decl(self, decl):
        assert decl == "DOCTYPE html"

    def unknown_decl(self, data):
        raise AssertionError("the page has no such declarations")


def column(page, head, name):
    """The cells of the row of this name, in the first table with it and this head (but its first cell)."""
    tables = [table for table in page.tables if table[0][1:] == list(head)]
    return next(row[1:] for table in tables for row in table if row[0] == name)


def check_harmless(page, html):
    """No script, no address but pictures and places in the page, no style but its own."""
    allowed = """
        html head meta title style body header h1 nav ul li a main section h2 h3 p div table caption thead
        tbody tr th td b svg rect line text g polyline polygon circle span figure figcaption img article dl
        dt dd pre details summary
    """
    assert set(page.tags) <= set(allowed.split())
    for tag, name, value in page.attributes:
        assert not name.startswith("on") and name not in ("style", "srcset", "xlink:href", "action", "srcdoc")
        if name == "href":
            assert tag == "a" and re.fullmatch(r"#s\d+", value)
        if name == "src":
            assert tag == "img" and re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", value)
    (style,) = page.styles
    assert not re.search(r"url\(|@import|expression|\\", style)
    (policy,) = (
        value for tag, name, value in page.attributes if name == "content" and "default-src" in value
    )
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "http" not in policy
    return style
