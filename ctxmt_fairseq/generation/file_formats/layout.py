"""Shares out a translation over the places of its source, and brings back what must not change."""

import bisect
import html
import itertools
import logging
import re
from collections import Counter
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import named
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated
from ctxmt_fairseq.text.languages import words_of

logger = logging.getLogger(__name__)
TAG = r"<[^\s<>][^<>\n]*>|\{\\[^{}\n]*\}"  # of HTML and subtitles; of ASS
_ONE, _TWO = r"[^`\n]", r"(?:[^`\n]|`(?!`))"  # the signs of a code span between so many backticks
CODE = (  # of Markdown; blanks begin and end it, or neither
    rf"(?:(?<!`)(?:`(?:(?!\s){_ONE}+(?<!\s)|\s{_ONE}+\s)`"
    rf"|``(?:(?!\s){_TWO}+(?<!\s)|\s{_TWO}+\s)``|```(?:[^`\n]|``?(?!`))+```)(?!`))"
)
_CLOSES = re.compile(r"</|\{\\[a-z]+0\}|\]|\[\^")
_OPENING, _CLOSING = "(«“„\"'‘¿¡（「『《", ".,:!?…)»”\"'’。、，：！？）」』》؟،"  # no ; because it ends &amp;
_LINE_BREAK = re.compile(r"((?<!\s)\s*\n\s*)")
_EITHER = re.compile(r"[*_]+")  # opens the first time, closes the second
# What stands between these may have tags of its own; not a hyphen in a word, a slash in a date or an address.
_JOINT = re.compile(r"[+|$–—{}]|(?<![:/])/(?![/\d])|(?<![\d:/])/(?!/)|(?<!\w)[-#]|[-#](?!\w)")
_ADDRESS = re.compile(r"\w+://\S+")
_PLACEHOLDER = (
    # A letter of another script behind one is no part of it: %d个.
    r"%(?:\(\w+\)|\d+\$)?[-+#0]{0,3}(?:\d{0,4}(?:\.\d{1,4})?(?:[sdifuxXc@]|(?:hh?|ll?|[jztLq])[diouxXeEfFgG])"
    # In "10%-a" and "100%e" they are the ends of words.
    r"|(?<!\d%)(?<!\d%-)(?:\d{0,4}\.\d{1,4})?[oeEgGrpn])(?![0-9A-Z_a-z\u00aa-\u058f])"
    r"|[$%#]?\{\{?\w*\}?\}|\$[A-Za-z_][0-9A-Za-z_]*"
    rf"|[$%#]?\{{\w+[.:!\[][^{{}}\s]{{1,99}}\}}|\{{[{{%][^{{}}\n]{{1,300}}[}}%]\}}|&#?\w+;|{CODE}"
)
_KEPT = re.compile(f"{TAG}|{_PLACEHOLDER}")


def body_and_end(row: str) -> Tuple[str, str]:
    """A line, and what ends it."""
    body = row.rstrip("\r\n")
    return body, row[len(body) :]


def body_of(part: str) -> str:
    """A text without white space around it and a byte order mark before it."""
    return part.lstrip("\ufeff").strip()


def in_place_of(part: str, text: str) -> str:
    """A text with what stands around the body of another one."""
    body = body_of(part)
    begin = part.index(body)
    return part[:begin] + text + part[begin + len(body) :]


def weight(text: str) -> int:
    """The length of a text without its blanks."""
    return len("".join(text.split()))


def shared_out(text: str, weights: Sequence[int]) -> List[str]:
    """Cut a text between its words, as nearly as can be in proportion.

    Args:
        weights: of the parts.

    Returns:
        as many parts; if there are too few words the last are empty.
    """
    starts, before = [], [0]  # where each word starts, and what all words before it weigh
    for start, word in _placed_words(text):
        starts.append(start)
        before.append(before[-1] + len(word))
    cuts, first, done, whole = [0], 0, 0, max(1, sum(weights))
    for number, each in enumerate(weights[:-1], 1):
        done += each
        wanted = before[-1] * done / whole
        last = max(first + 1, len(starts) - (len(weights) - number))  # each later part wants a word
        least, most = first + 1, min(last, len(starts) - 1)
        first = _nearest(before, wanted, least, most) if least <= most else len(starts)
        cuts.append(starts[first] if least <= most else len(text))
    return [text[begin:end].strip() for begin, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _placed_words(text: str) -> Iterator[Tuple[int, str]]:
    """Each word and where it starts, with the signs that open and close at it: 「猫」。"""
    begin = at = 0
    for word in words_of(text):
        start = text.index(word, at)
        apart = start > at or word.strip(_CLOSING) and text[begin:at].strip(_OPENING)
        if apart and begin < at:
            yield begin, text[begin:at]
        begin = start if apart else begin
        at = start + len(word)
    if begin < at:
        yield begin, text[begin:at]


def in_lines_of(source: str, text: str) -> str:
    """A text with the line breaks of its source, at their shares of it."""
    lines = _LINE_BREAK.split(body_of(source))
    shares = shared_out(text, [*map(weight, lines[::2])])
    return "".join(itertools.chain(*zip(shares, [*lines[1::2], ""], strict=True)))


def _nearest(rising: Sequence[int], wanted: float, least: int, most: int) -> int:
    """The place, from ``least`` to ``most``, of the number nearest to one; of two the first."""
    place = bisect.bisect_left(rising, wanted, least, most)
    return place - 1 if place > least and wanted - rising[place - 1] <= rising[place] - wanted else place


def without(
    pattern: "re.Pattern[str]", text: str, read: Callable[[str], str] = str
) -> Tuple[str, List[Tuple[float, str]]]:
    """A text, as it is ``read``, without what a pattern finds, and the finds with their places: the share of
    the text before."""
    bare = read(pattern.sub("", text))
    found, place, at = [], 0, 0
    for match in pattern.finditer(text):
        place += len(read(text[at : match.start()]))
        at = match.end()
        found.append((place / len(bare) if bare.strip() else 0.0, match[0]))
    return bare, found


def put_back(text: str, found: Sequence[Tuple[float, str]], write: Callable[[str], str] = str) -> str:
    """Put finds into a text, which ``write`` escapes, at their shares of it: what closes behind a word, all
    else before one, with the word's punctuation or without; those at either end stay there."""
    before_words, behind_words = {0, len(text)}, {0, len(text)}
    for start, word in _placed_words(text):
        end = start + len(word)
        before_words |= {start, end - len(word.lstrip(_OPENING))}
        behind_words |= {start + len(word.rstrip(_CLOSING)), end}
    joints = {place for joint in _JOINT.finditer(text) for place in joint.span()}
    for kept in itertools.chain(_KEPT.finditer(text), _ADDRESS.finditer(text)):
        joints -= {*range(kept.start() + 1, kept.end())}
    borders = [sorted(each | joints) for each in (before_words, behind_words)]
    before: Counter = Counter()
    parts, at = [], 0
    for share, each in found:
        closes = before[each] % 2 if _EITHER.fullmatch(each) else bool(_CLOSES.match(each))
        before[each] += 1
        own = borders[closes]
        place = max(at, own[_nearest(own, share * len(text), 0, len(own) - 1)])
        parts += [write(text[at:place]), each]
        at = place
    return "".join([*parts, write(text[at:])])


def escaped(text: str) -> str:
    """A text as HTML and WebVTT have it."""
    return html.escape(text, quote=False)


def with_kept(source: str, translation: str) -> Tuple[str, int]:
    """The translation with every tag and placeholder of the source as often as there, and how many had to be
    put back or taken out."""
    wanted = without(_KEPT, source)[1]
    left = Counter(each for _, each in wanted)
    surplus = 0

    def checked(match: "re.Match[str]") -> str:
        nonlocal surplus
        if left[match[0]]:
            left[match[0]] -= 1
            return match[0]
        surplus += 1
        return ""

    text = _KEPT.sub(checked, translation)
    missing = []
    for share, each in reversed(wanted):  # of several alike those at the end are missing
        if left[each]:
            left[each] -= 1
            missing.append((share, each))
    if missing:
        text = put_back(text, [(share, f" {each} ") for share, each in missing[::-1]])
        text = re.sub(" {2,}", " ", text).strip()
    return text, len(missing) + surplus


def kept_texts(documents: InputDocuments, found: Sequence[Optional[Translated]]) -> List[str]:
    """The texts of translations, with their sources' tags and placeholders; warns where they lacked some."""
    texts, changed = [], []
    for number, each in enumerate(found):
        text, changes = with_kept(documents.sentences[number], each.text if each else "")
        texts.append(text)
        changed += [documents.place(number)] * changes
    if changed:
        which = (len(changed), named(list(dict.fromkeys(changed))))
        logger.warning("%d tags and placeholders were put back or taken out, by position: %s", *which)
    return texts
