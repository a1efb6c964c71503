"""Pairs files that have the same documents, line by line, in tags that are not always well-formed XML:
IWSLT's talks (``train.tags.*``), and test sets of WMT and IWSLT (SGM, XML)."""

import codecs
import html
import io
import re
from typing import Dict, Iterator, NamedTuple, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.archives import read_document
from ctxmt_fairseq.corpora.formats.language_codes import code_of, matching
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import PathLike, check_not_same, is_text

# No XML parser reads them, because an unescaped & or < in the text must not matter; only these tags count.
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>srcset|refset|tstset|doc|src|ref|hyp|seg|speaker|title|keywords)\b(?P<attributes>[^<>]*)>",
    re.IGNORECASE,
)
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'/>]+)")
_KINDS = {"srcset": "src", "refset": "ref", "tstset": "hyp", "src": "src", "ref": "ref", "hyp": "hyp"}
_DOCID = re.compile(
    r"<doc\b[^<>]*\bdocid\s*=\s*[\"']?([^\"'\s>]+)|<talkid>\s*([^\s<]+)\s*</talkid>", re.IGNORECASE
)
# What a line of training text that is no text begins with; other lines that begin with < are text ("<3").
_METADATA = re.compile(
    r"\s*<(?:/?(?:doc|url|keywords|speaker|talkid|title|description|reviewer|translator|transcript|content|seekvideo|"
    r"head|date|dtime|wordnum|charnum|mteval|srcset|refset|tstset|file)\b[^<>]*>|\?xml\b)",
    re.IGNORECASE,
)
_TAG_LIKE = re.compile(r"\s*<[a-z]+>", re.IGNORECASE)
_NO_UTF8 = re.compile("[\udc80-\udcff]")  # what "surrogateescape" makes of other bytes
_ABOUT = ("genre", "domain", "origlang")  # attributes of documents that are kept as metadata
_TALK = ("speaker", "title", "keywords")  # elements of talks that are
_TALK_LINE = re.compile(rf"\s*<({'|'.join(_TALK)})>(.*)</\1>\s*", re.IGNORECASE)
ANY = "any"  # translator: in each document the first that it has


class Segment(NamedTuple):
    """A segment of a test set, on one side: ``src``, ``ref`` or ``hyp``, whose translator ``by`` names;
    ``language`` is a code, if the file has one; ``about`` is its document's metadata."""

    document: str
    kind: str
    by: Optional[str]
    id: str
    text: str
    language: Optional[str]
    about: Dict[str, str]


class Side(NamedTuple):
    """One side's documents: their segments by id, in order; what is wrong with some (the first counts); their
    metadata. The lines of a ``numbered`` test set all stay, also the empty ones. ``dropped`` lines are no
    text, ``tag_like`` ones look so, and are."""

    texts: Dict[str, Dict[str, str]]
    problems: Dict[str, BadInput]
    about: Dict[str, Dict[str, str]]
    numbered: bool = True
    dropped: int = 0
    tag_like: int = 0


def paired_files(
    sources: Sequence[PathLike],
    targets: Sequence[PathLike],
    languages: Sequence[str],
    kind: str = "ref",
    by: Optional[str] = None,
    skip: bool = False,
) -> Iterator[Part]:
    """Read a part from each pair of files: the pairs of all documents, in the order of the source side
    (``read_side``). ``skip`` leaves out and counts documents that are broken, or that one side lacks."""
    if len(sources) != len(targets):
        raise BadInput(f"--target: has {len(targets)} files, but --source has {len(sources)}")
    for source, target in zip(sources, targets, strict=True):
        here = read_side(source, "src", languages[0])
        there = read_side(target, kind, languages[1], by)
        if not here.numbered:
            check_not_same(source, target)
        account, pairs = Account(), []
        account.leave_out("metadata", here.dropped)
        account.remarks["lines that begin like a tag"] += here.tag_like
        for name in dict.fromkeys([*here.texts, *there.texts]):
            problem = _problem(name, (here, there), (source, target), by)
            builder = DocumentBuilder(name, account, keep_empty=here.numbered)
            if problem is None:
                about = {**there.about.get(name, {}), **here.about.get(name, {})}
                for number, text in here.texts[name].items():
                    builder.add(text, there.texts[name][number], about)
            elif skip:
                lines = max(len(side.texts.get(name, ())) for side in (here, there))
                builder.leave_out("in broken documents", lines, problem)
            else:
                raise problem
            pairs += builder.pairs
        yield Part(pairs, account)


def _problem(
    name: str, sides: Sequence[Side], paths: Sequence[PathLike], by: Optional[str]
) -> Optional[BadInput]:
    """Why the texts of a document cannot be paired; None: they can."""
    if not is_text(name):
        return BadInput(f"expected UTF-8, found the document {name!r}", paths[0])
    for side in sides:
        if name in side.problems:
            return side.problems[name]
    for side, path, other in zip(sides, paths, reversed(paths), strict=True):
        if name not in side.texts and path == other:
            whose = f"by {by}" if by else "by the first translator (--by any takes whichever there is)"
            what = "source" if side is sides[0] else "translation" if by == ANY else f"translation {whose}"
            return BadInput(f"the document {name} has no {what}; --skip-broken leaves it out", path)
        if name not in side.texts:
            return BadInput(f"lacks the document {name}, which is in {other}", path)
    here, there = (side.texts[name] for side in sides)
    if list(here) != list(there):
        message = f"{name}: its {len(there)} segments are not the {len(here)} of {paths[0]}"
        return BadInput(message, paths[1])
    return None


def read_side(path: PathLike, kind: str, language: str = "", by: Optional[str] = None) -> Side:
    """Read one side's documents: of a test set ``src``, ``ref`` or ``hyp`` (what a system translated),
    without segments that say another language. ``by`` is the translator or system whose translation is taken;
    None: the first of the file; ``ANY``: the first of each document."""
    text = read_document(path).removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    if not re.search("<seg", text, re.IGNORECASE):
        return read_tagged_talks(text, path)
    found = [segment for segment in read_segments(text, path) if segment.kind == kind]
    codes = {segment.language for segment in found if segment.language}
    others = codes.difference(matching(codes, language) if language else codes)
    if others and all(segment.language in others for segment in found):
        raise BadInput(f"has no <{kind}> in {language}, but in {', '.join(sorted(others))}", path)
    found = [segment for segment in found if segment.language not in others]
    names = list(dict.fromkeys(segment.by for segment in found if segment.by)) if kind != "src" else []
    if by not in (None, ANY, *names):
        raise BadInput(f"expected a translation by {by}, found {', '.join(names) or 'no names'}", path)
    side = Side({}, {}, {})
    chosen: Dict[str, Optional[str]] = {}  # whose translation of each document
    for segment in found:
        if names and segment.by is not None:
            whose = segment.by if by == ANY else by or names[0]
            if chosen.setdefault(segment.document, whose) != segment.by:
                continue
        texts = side.texts.setdefault(segment.document, {})
        side.about.setdefault(segment.document, segment.about)
        if segment.id in texts:
            problem = BadInput(f"the segment {segment.id!r} is twice in {segment.document}", path)
            side.problems.setdefault(segment.document, problem)
        _check_utf8(side, segment.document, segment.text, path)
        texts[segment.id] = segment.text
    if not side.texts:
        raise BadInput(f"has no document with <{kind}> and no set of such documents", path)
    return side


def _check_utf8(side: Side, document: str, text: str, path: PathLike, line: Optional[int] = None) -> None:
    found = _NO_UTF8.search(text)
    if found:
        byte = ord(found[0]) & 0xFF
        side.problems.setdefault(document, BadInput(f"expected UTF-8, found byte 0x{byte:02x}", path, line))


def read_segments(text: str, path: PathLike) -> Iterator[Segment]:
    """Read the segments of SGM (``<srcset>``, ``<refset>``) or of XML since 2021 (``<doc>``, ``<src>``,
    ``<ref>``); messages call the file ``path``."""
    for begin, end in (("<!--", "-->"), ("<![CDATA[", "]]>")):  # all are closed, so the patterns are linear
        last = text.rfind(begin)
        if last >= 0 and text.find(end, last) < 0:
            raise BadInput(f"{begin} is not closed", path, text.count("\n", 0, last) + 1)
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _CDATA.sub(lambda found: html.escape(found[1], quote=False), text)
    inside: Dict[str, Dict[str, str]] = {}  # the elements that are open, with their attributes
    start = 0
    for tag in _TAG.finditer(text):
        name, ends = tag["name"].lower(), bool(tag["end"])
        if name in _TALK and "seg" in inside:  # text of a web page
            continue
        if ("seg" in inside) != (name == "seg" and ends):
            line = text.count("\n", 0, tag.start()) + 1
            raise BadInput("expected <seg> and </seg> in turn", path, line)
        if not ends:
            inside[name] = _attributes(tag["attributes"])
            start = tag.end()
            continue
        content = html.unescape(" ".join(text[start : tag.start()].split()))
        if name == "seg":
            yield _segment(inside, content, path)
        elif name in _TALK and name in inside and "doc" in inside:
            inside["doc"][name] = content
        inside.pop(name, None)
    if inside.keys() - set(_TALK):
        raise BadInput("the file ends within a document", path, text.count("\n") + 1)


def _segment(inside: Dict[str, Dict[str, str]], text: str, path: PathLike) -> Segment:
    side = next((name for name in _KINDS if name in inside), None)
    document = inside.get("doc", {})
    name = (document.get("docid") or document.get("id") or "").strip()
    if side is None or not name:
        message = "a segment is not in a document with an id (docid=, id=), or not in src, ref or hyp"
        raise BadInput(message, path)
    who = {**inside[side], **(document if side.endswith("set") else {})}
    by = who.get("translator") or who.get("system") or who.get("sysid")
    keys = {"srcset": ("srclang",), "refset": ("trglang",), "tstset": ("trglang",)}
    codes = (code_of(who.get(key)) for key in keys.get(side, ("lang", "language")))
    return Segment(
        "/".join(filter(None, (who.get("setid"), name))),
        _KINDS[side],
        by,
        inside["seg"].get("id", ""),
        text,
        next(filter(None, codes), None),
        _known(document),
    )


def _attributes(text: str) -> Dict[str, str]:
    return {key.lower(): html.unescape(value.strip("\"'")) for key, value in _ATTRIBUTE.findall(text)}


def _known(about: Dict[str, str]) -> Dict[str, str]:
    texts = ((key, single_spaces(about.get(key, ""))) for key in (*_ABOUT, *_TALK))
    return {key: text for key, text in texts if text and is_text(text)}


def read_tagged_talks(text: str, path: PathLike) -> Side:
    """Read the lines of each talk by its id, in order; lines that begin with a known tag are metadata.

    A talk begins with ``<doc docid="...">``, in older files with ``<url>``, and has its id there or in
    ``<talkid>``. Messages call the file ``path``.
    """
    talks = Side({}, {}, {}, numbered=False)
    name, head, dropped, tag_like = "", False, 0, 0  # of the open talk; whether only metadata was seen of it
    about: Dict[str, str] = {}
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        if not _METADATA.match(line):
            if not name:
                message = "the text is in no talk with an id (<doc docid=...>, <talkid>); "
                message += "ctxmt corpus records reads columns, JSON lines and Parquet"
                raise BadInput(message, path, number)
            _check_utf8(talks, name, line, path, number)
            tag_like += _TAG_LIKE.match(line) is not None
            talks.texts[name][str(len(talks.texts[name]))] = html.unescape(" ".join(line.split()))
            head = False
            continue
        dropped += 1
        tag = line.strip().lower()
        if tag.startswith(("<doc ", "</doc>")) or (tag.startswith("<url>") and not head):
            name, head, about = "", not tag.startswith("</"), _attributes(line)
        if described := _TALK_LINE.fullmatch(line):
            about[described[1].lower()] = html.unescape(described[2])
        found = _DOCID.search(line)
        if found and head and not name:
            name = found[1] or found[2]
            if name in talks.texts:
                talks.problems.setdefault(name, BadInput(f"the talk {name} is there twice", path, number))
            talks.texts.setdefault(name, {})
            talks.about.setdefault(name, about)
    if not talks.texts:
        raise BadInput("has no talks (<doc docid=...>, <talkid>)", path)
    known = {name: _known(about) for name, about in talks.about.items()}
    return talks._replace(about=known, dropped=dropped, tag_like=tag_like)
