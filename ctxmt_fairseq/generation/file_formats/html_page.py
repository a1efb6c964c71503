"""HTML, read by translate-toolkit. Hidden from it is what it would unescape, drop or translate: tags, in
which only texts change, comments and scripts, and what a page says is not to be translated."""

import html
import itertools
import re
from html.parser import HTMLParser
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.generation.file_formats.omitted_tags import OMITTABLE, ended_by_end, ended_by_start
from ctxmt_fairseq.text.languages import primary

_REFERENCE = re.compile(r"<[^<>]*>|&#?\w+(?![\w;])")  # without a semicolon, outside tags
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[.*?(?:\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<(script|style|pre|svg|math|textarea)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# They may have text, too.
_BLOCKS = (
    "body center details dialog dl fieldset figure form hgroup legend noscript ol summary table tr ul".split()
)
_ATTRIBUTES = ("aria-label", "label", "placeholder")  # which are read, beside those of translate-toolkit
_DEEPEST = 1000  # elements within each other: translate-toolkit's time grows with their square
_BUTTONS = ("submit", "button", "reset")  # whose value is what they say


class _Marked(HTMLParser):
    """Finds where what is not to be translated begins and ends (``borders``, in turn): ``translate="no"`` and
    the class ``notranslate``, but for what is ``translate="yes"`` in them."""

    def __init__(self, content: str, empty: List[str]):
        super().__init__(convert_charrefs=False)
        self.content, self.empty = content, empty
        self.lines = [0, *(found.end() for found in re.finditer("\n", content))]
        self.open: List[Tuple[str, bool]] = [("", True)]  # elements, and whether they are translated
        self.borders: List[int] = []
        self.feed(content)
        self._end(ended_by_end(self._names()), len(content))
        if len(self.borders) % 2:
            raise ValueError(f"not closed: {content[self.borders[-1] :][:50]}")

    def _place(self) -> int:
        line, column = self.getpos()
        return self.lines[line - 1] + column

    def _names(self) -> Iterator[str]:
        return (name for name, _ in reversed(self.open))

    def _end(self, count: int, place: int) -> None:
        for _ in range(count):
            _, translated = self.open.pop()
            if translated != self.open[-1][1]:
                self.borders.append(place)

    def handle_starttag(self, tag: str, attrs: Any, alone: bool = False) -> None:
        self._end(ended_by_start(self._names(), tag), self._place())
        said = {name: (value or "").lower() for name, value in attrs}
        before = self.open[-1][1]
        now = before or said.get("translate") in ("yes", "")
        if said.get("translate") == "no" or "notranslate" in said.get("class", "").split():
            now = False
        ends = [self._place()]
        if alone or tag in self.empty:
            ends.append(ends[0] + len(self.get_starttag_text() or ""))
        else:
            self.open.append((tag, now))
            if len(self.open) > _DEEPEST:
                raise ValueError(f"more than {_DEEPEST} elements are not closed")
        self.borders += ends if now != before else []

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs, alone=True)

    def handle_endtag(self, tag: str) -> None:
        self._end(ended_by_end(self._names(), tag), self._place())
        name, translated = self.open[-1]
        if name == tag:
            self._end(1, self.content.index(">", self._place()) + 1)
        elif not translated and tag not in OMITTABLE:  # elsewhere translate-toolkit says so itself
            raise ValueError(f"mismatched closing tag: expected {name!r}, found {tag!r}")


class _Hidden:
    """Parts of a page, and the tags that stand for them; ``split`` is a tag of text of its own."""

    def __init__(self, content: str):
        names = map("ctxmt{}".format, itertools.count())
        self.split = next(name for name in names if name not in content.lower())
        self.parts: List[str] = []
        self.tag = re.compile(rf"<[^\s<>]+ {self.split}=(\d+)(?: /)?>")

    def hide(self, part: str, name: str = "img") -> str:
        self.parts.append(self.shown(part))
        return f"<{name} {self.split}={len(self.parts) - 1}{' /' * (name == self.split)}>"

    def shown(self, text: str) -> str:
        return self.tag.sub(lambda found: self.parts[int(found[1])], text)


def _literal(found: "re.Match[str]") -> str:
    """A reference as it is, also one without its semicolon; of what is none the sign itself, as in AT&T."""
    known = found[0][0] == "<" or html.unescape(found[0]) != found[0]
    return found[0] if known else found[0].replace("&", "&amp;", 1)


def translated_page(content: str, translated: Callable[[str], str], languages: Tuple[str, str]) -> str:
    """A page with its texts translated, in which tags stand for hidden parts.

    Raises:
        ValueError: elements are not closed; translate-toolkit has errors of its own.
    """
    needs = "these files need translate-toolkit (Python 3.11 or newer)"
    known: Any = import_of_extra("translate.storage.html", "files", needs).htmlfile
    blocks = [*known.TRANSLATABLE_ELEMENTS, *_BLOCKS]
    hidden = _Hidden(content)
    tags: Dict[str, str] = {}

    def language(name: str) -> str:
        return languages[1] if primary(name) == primary(languages[0]) else name

    class Page(known):
        TRANSLATABLE_ELEMENTS = [*blocks, hidden.split]

        def translate_attributes(self, tag: str, attrs: Any) -> Any:
            button = tag == "input" and str(dict(attrs).get("type")).lower() in _BUTTONS
            names = [*known.TRANSLATABLE_ATTRIBUTES, *_ATTRIBUTES]
            # The others' values are the program's behind the page.
            self.TRANSLATABLE_ATTRIBUTES = [name for name in names if button or name != "value"]
            self.callback = language if tag == "html" else translated
            made = super().translate_attributes(tag, attrs)
            self.callback = translated
            self.changed = made != attrs
            return [
                (name, value and html.escape(value) if (name, value) in attrs else value)
                for name, value in made
            ]

        omitted = False  # whether the page has no such end tag

        def end_omitted(self, count: int) -> None:
            self.omitted = True
            for name in self.tag_path[: -count - 1 : -1]:
                super().handle_endtag(name)
            self.omitted = False

        def parse_endtag(self, i: int) -> int:
            self.end_tag = self.rawdata[i : self.rawdata.find(">", i) + 1]  # as the page spells it
            return super().parse_endtag(i)

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.auto_close_empty_element()
            self.end_omitted(ended_by_start(reversed(self.tag_path), tag))
            super().handle_starttag(tag, attrs)

        def handle_endtag(self, tag: str) -> None:
            self.auto_close_empty_element()
            self.end_omitted(ended_by_end(reversed(self.tag_path), tag))
            if tag in OMITTABLE and tag not in self.tag_path:  # as after <p>.. <ul>..</ul>: the list ended it
                self.append_markup({"type": "endtag"})
            else:
                super().handle_endtag(tag)

        def handle_entityref(self, name: str) -> None:
            self.handle_data(f"&{name};")

        def handle_charref(self, name: str) -> None:
            self.handle_data(f"&#{name};")

        def append_markup(self, markup: Any) -> None:
            if markup["type"] == "endtag":
                markup["html_content"] = "" if self.omitted else self.end_tag
            raw: Optional[str] = self.get_starttag_text()
            if raw and markup["type"] in ("starttag", "startendtag"):
                if not hidden.tag.fullmatch(raw):
                    if raw not in tags:
                        made = markup["html_content"] if self.changed else raw
                        tags[raw] = hidden.hide(made, re.split(r"[\s/>]", raw[1:], maxsplit=1)[0])
                    raw = tags[raw]
                markup["html_content"] = markup["untranslated_html"] = raw
            super().append_markup(markup)

    splits = {*blocks} - known.INLINE_TRANSLATABLE_ELEMENTS

    def hide(found: str) -> str:
        if found.startswith(("<![", "<?")) and not re.match(r"(?s)<\?php|.*[\]?]>\Z", found):
            raise ValueError(f"not closed: {found[:50]}")
        name = re.match(r"</?(\w+)", found)
        return hidden.hide(found, hidden.split if name and name[1].lower() in splits else "img")

    body = content.removeprefix("\ufeff")
    text = _HIDDEN.sub(lambda found: hide(found[0]), body)
    borders = [0, *_Marked(text, known.EMPTY_HTML_ELEMENTS).borders, len(text)]
    parts = [text[begin:end] for begin, end in itertools.pairwise(borders)]
    parts[1::2] = map(hide, parts[1::2])
    page = Page(callback=translated)
    loose = not re.search(r"<(?:body|frameset)\b", text, re.IGNORECASE)
    around = hidden.hide("", hidden.split).replace(" /", "") if loose else ""
    page.parse((around + _REFERENCE.sub(_literal, "".join(parts))).encode())
    page.auto_close_empty_element()
    page.end_omitted(ended_by_end(reversed(page.tag_path)))
    if page.tag_path == [hidden.split]:
        page.end_translation_unit()
    return content[: len(content) - len(body)] + hidden.shown(page.filesrc)
