"""Files of programs and pages, read and written by translate-toolkit: .po, .xliff, .html, .md.

The file is one document. All but the texts is as translate-toolkit writes it.
"""

import html
import io
import itertools
import logging
import re
from collections import Counter
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import regex

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.generation.file_formats import FileFormat, Reading, layout
from ctxmt_fairseq.generation.file_formats.html_page import translated_page
from ctxmt_fairseq.generation.file_formats.inline_elements import InlineElements
from ctxmt_fairseq.generation.file_formats.sentences import sentence_cutter
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated

logger = logging.getLogger(__name__)
_TAG = rf"(?<=\s)(?:{layout.TAG})\s|{layout.TAG}"  # one that stands alone keeps the blank behind it
_TAGS = re.compile(_TAG)
_ELEMENTS = regex.compile(rf"{layout.CODE}(*SKIP)(*FAIL)|{_TAG}")
_MARKUP = regex.compile(  # what stands in code is code; what is escaped is text, and *.txt
    rf"(?:{layout.CODE}|\\[!-/:-@\[-`{{-~]|(?<!\S)\*(?=\.\w))(*SKIP)(*FAIL)|{_TAG}|\[[ xX]\]\s"
    r"|\[\^[^\]\s]++\](?::\s)?|\$\$[^$]++\$\$|\A\[![A-Za-z]++\]\n> "  # footnotes, formulas, callouts
    r"|!?\[(?=[^\]\n]{0,300}\][(\[])"
    r"|\](?:\((?:[^()\n]++|\([^()\n]*+\))*+\)|\[[^\]\n]*\])|(?<![\s*])\*+|\*++(?!\s)|(?<!\w)_+|_+(?!\w)"
)
_CALLOUT = re.compile(r"(\[![A-Za-z]+\])[ \t]*\n> ?")
_BREAK = regex.compile(rf"{layout.CODE}(*SKIP)(*FAIL)|(?<=\S)<br\b[^<>]{{0,99}}>", regex.IGNORECASE)
_EMPTY = re.compile(r"<([^\s<>/]+)(?=[\s>])([^<>]*)></\1>")
_ENCODING = re.compile(
    r"""^\ufeff?<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)"""
    r"""|^"Content-Type:[^\n]*?charset=([^\s"\\;]*)|<meta\s[^<>]*?charset\s*=\s*["']?([^\s"'<>;/]*)""",
    re.IGNORECASE | re.MULTILINE,
)
_WRITTEN = {"utf-8", "utf8", "us-ascii", "ascii", "charset", ""}  # as UTF-8; the last ones are in templates
_SECOND = re.compile(r"""<xliff\b[^<>]*\sversion\s*=\s*["']2""")
_STORES = {"po": "pofile", "xliff": "xlifffile", "xliff2": "Xliff2File"}
_NONE_YET = ("new", "needs-translation", "initial")  # states of XLIFF


class Toolkit(FileFormat):
    """Of .po and .xliff what has no translation yet gets one, which is marked as to be reviewed."""

    def __init__(self, path: str, how: Reading):
        super().__init__(path, how)
        self.content = self.text()
        self.html = self.ending.startswith(".htm")
        self._check()
        names = map("ctxmt{}e".format, itertools.count())
        self.mark = next(name for name in names if name not in self.content)
        same, texts = self._filled(None)
        if lost := (_letters(self.content) - _letters(same)).total():
            why = "is the file, or an element, not closed?"
            raise BadInput(f"translate-toolkit would lose {lost} of its letters: {why}", path)
        self.texts = [*dict.fromkeys(texts)]

    def _check(self) -> None:
        """Raises BadInput: what would make its reader follow, unfold or decode something."""
        start = self.content.lower()
        if "<!entity" in start or "<!doctype" in start and self.ending in (".xliff", ".xlf"):
            raise BadInput("declares entities or a document type, which are not read", self.path)
        found = _ENCODING.search(self.content) if self.ending != ".md" else None
        encoding = next(filter(None, found.groups()), "") if found else ""
        if encoding.lower() not in _WRITTEN:
            raise BadInput(f"says that it is {encoding}: convert it to UTF-8, and say so there", self.path)

    def _bare(self, text: str) -> Tuple[str, List[Tuple[float, str]]]:
        """A text as it is read, without its markup, and the markup with its places."""
        other = _MARKUP if self.ending == ".md" else _ELEMENTS
        how = (_TAGS, html.unescape) if self.html else (other, str)
        bare, markup = layout.without(how[0], _BREAK.sub(r" \g<0>", text), how[1])
        return " ".join(bare.split()) if self.html else bare, markup

    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        cut = sentence_cutter(languages[0])
        bare = [self._bare(text) for text in self.texts]
        parts = [cut(text) for text, _ in bare]
        sentences = [" ".join(sentence.split()) for each in parts for sentence in each]

        def render(documents: InputDocuments, found: Sequence[Optional[Translated]]) -> str:
            rest = iter(layout.kept_texts(documents, found))
            made = {}
            for text, (_, markup), each in zip(self.texts, bare, parts, strict=True):
                lines = ((part, layout.in_lines_of(part, next(rest))) for part in each)
                translated = "".join(itertools.starmap(layout.in_place_of, lines))
                write = layout.escaped if self.html else str
                made[text] = layout.put_back(translated, markup, write) if each else text
            file = self._filled(made, languages)[0]
            ends = "\r\n" in self.content and "\r" not in file  # which its reader has made \n
            return file.replace("\n", "\r\n") if ends else file

        # Which line a text is on is not known: messages count texts.
        numbers = [number for number, each in enumerate(parts) for _ in each]
        texts = f"{self.path}, text"
        return InputDocuments.of_file(texts, sentences, [numbers], len(parts), render=render)

    def _filled(
        self, made: Optional[Dict[str, str]], languages: Tuple[str, str] = ("", "")
    ) -> Tuple[str, List[str]]:
        """The file with translations of its texts (None: as it is), and the texts."""
        seen: List[str] = []

        def translated(text: str) -> str:
            seen.append(text)
            return made.get(text, text) if made else text

        try:
            if self.html:
                return translated_page(self.content, translated, languages), seen
            if self.ending == ".md":
                return self._markdown(translated), seen
            return self._store(translated, made is not None, languages[1]), seen
        except BadInput:
            raise
        except Exception as error:  # translate-toolkit has no error of its own
            said = " ".join(str(error).split())[:200]
            raise BadInput(f"is no {self.ending} file: {said}", self.path) from None

    def _markdown(self, translated: Callable[[str], str]) -> str:
        # Its reader makes a tag of &lt;b&gt;, two cells of a\|b, and one line of a callout and its text.
        signs = (sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in self.content)
        ampersand, bar, end = next(signs), next(signs), next(signs)

        def hide(text: str) -> str:
            return _CALLOUT.sub(rf"\1{end}", text.replace("&", ampersand).replace("\\|", bar))

        def shown(text: str) -> str:
            return text.replace(ampersand, "&").replace(bar, "\\|").replace(end, "\n> ")

        how = {"extract_code_blocks": False, "extract_frontmatter": False, "no_placeholders": True}
        page = _storage("markdown").MarkdownFile(callback=lambda text: hide(translated(shown(text))), **how)
        page.lookup_callback = lambda _: None  # it would ask for headings with their names, too
        body = self.content.removeprefix("\ufeff").replace("\r\n", "\n")
        page.parse(hide(body).encode())
        # It writes all line breaks within a paragraph like this; older readers know two blanks alone.
        made = page.filesrc if "\\\n" in body else page.filesrc.replace("\\\n", "  \n")
        return "\ufeff" * self.content.startswith("\ufeff") + shown(made)

    def _store(self, translated: Callable[[str], str], fill: bool, language: str) -> str:
        second = self.ending != ".po" and _SECOND.search(self.content)
        kind = "po" if self.ending == ".po" else "xliff2" if second else "xliff"
        store = getattr(_storage(kind), _STORES[kind]).parsestring(self.content.encode())
        if second and fill and not store.gettargetlanguage():  # without it no targets are allowed
            store.settargetlanguage(language)
        said = str(store.gettargetlanguage() or language)
        if fill and re.split("[-_]", said.lower())[0] != re.split("[-_]", language.lower())[0]:
            logger.warning(
                "%s: is to be translated to %s, as it says, and gets %s", self.path, said, language
            )
        left_out = 0
        for unit in store.units:
            if not unit.istranslatable() or _is_within_kept(unit) or _has_translation(unit):
                continue
            inline = InlineElements(unit.source_dom, self.mark) if kind != "po" else None
            sources = [inline.text] if inline else getattr(unit.source, "strings", [unit.source])
            forms = [translated(str(text)) for text in sources]
            if inline and not inline.are_in_order(forms[0]):
                left_out += 1
            elif fill:
                count = len(getattr(unit.target, "strings", forms))  # one: it is for all numbers
                plural = (forms[:1] + forms[1:] * max(1, count - 1))[-count:]
                known = getattr(unit.target, "strings", [])  # some forms may have a translation
                both = itertools.zip_longest(known, plural, fillvalue="")
                plural = [str(one) or other for one, other in both]
                unit.target = forms[0] if len(forms) == 1 else plural
                if inline:
                    inline.fill(unit.target_dom, forms[0])
                unit.set_state_n(unit.S_NEEDS_REVIEW) if kind == "xliff" else unit.markfuzzy()
        if left_out:
            said = "%s: %d texts are not translated, because their elements came out in another order"
            logger.warning(said, self.path, left_out)
        buffer = io.BytesIO()
        store.serialize(buffer)
        return buffer.getvalue().decode("utf-8")


def _letters(text: str) -> "Counter[str]":
    """How often each letter and digit stands in a file, whose empty elements have one tag."""
    text = _EMPTY.sub(r"<\1\2/>", text.replace("<![CDATA[", ""))
    return Counter(filter(str.isalnum, html.unescape(text).casefold()))


def _storage(name: str) -> Any:
    needs = "these files need translate-toolkit (Python 3.11 or newer)"
    return import_of_extra(f"translate.storage.{name}", "files", needs)


def _is_within_kept(unit: Any) -> bool:
    """Whether what is around a unit of XLIFF says for it that nothing is translated."""
    element: Any = getattr(unit, "xmlelement", None)
    around = [] if element is None else [element, *element.iterancestors()]
    return next((said for node in around if (said := node.get("translate"))), "yes") == "no"


def _has_translation(unit: Any) -> bool:
    """Whether a unit has a target; a copy of its source with a state that says that it is none is none."""
    forms = getattr(unit.target, "strings", [unit.target or ""])
    if not forms or not all(map(str, forms)):
        return False
    element: Any = getattr(unit, "xmlelement", None)  # of XLIFF
    nodes = [] if element is None else [element, *element.iterfind("{*}target")]
    return unit.target != unit.source or not any(node.get("state") in _NONE_YET for node in nodes)
