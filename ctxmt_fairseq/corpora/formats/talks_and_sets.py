"""Pairs files that have the same documents, line by line, in tags that are not always well-formed XML:
IWSLT's talks (``train.tags.*``), and test sets of WMT and IWSLT (SGM, XML)."""

import html
import io
import re
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.archives import read_document
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import PathLike

# No XML parser reads them, because an unescaped & or < in the text must not matter; only these tags count.
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>srcset|refset|tstset|doc|src|ref|hyp|seg)\b(?P<attributes>[^<>]*)>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'/>]+)")
_KINDS = {"srcset": "src", "refset": "ref", "tstset": "hyp", "src": "src", "ref": "ref", "hyp": "hyp"}
_DOCID = re.compile(
    r"<doc\b[^>]*\bdocid\s*=\s*[\"']?([^\"'\s>]+)|<talkid>\s*(\S+?)\s*</talkid>", re.IGNORECASE
)
Texts = Mapping[str, Mapping[str, str]]  # document -> segments by their id, in order


class Segment(NamedTuple):
    """A segment of a test set, on one side: ``src``, ``ref`` or ``hyp``, whose translator ``by`` names."""

    document: str
    kind: str
    by: Optional[str]
    id: str
    text: str


def paired_files(
    sources: Sequence[PathLike], targets: Sequence[PathLike], kind: str = "ref", by: Optional[str] = None
) -> Iterator[Part]:
    """Read a part from each pair of files: the pairs of all documents, in the order of the source side.

    Args:
        kind, by: which translation, see ``read_side``.
    """
    if len(sources) != len(targets):
        raise BadInput(f"--target: has {len(targets)} files, but --source has {len(sources)}")
    for source, target in zip(sources, targets, strict=True):
        (here, numbered), (there, _) = read_side(source, "src"), read_side(target, kind, by)
        for one, other, first, second in ((here, there, source, target), (there, here, target, source)):
            for name in one:
                if name not in other:
                    raise BadInput(f"lacks the document {name}, which is in {first}", second)
        account, pairs = Account(), []
        for name, texts in here.items():
            others = there[name]
            if list(texts) != list(others):
                message = f"{name}: its {len(others)} segments are not the {len(texts)} of {source}"
                raise BadInput(message, target)
            builder = DocumentBuilder(name, account, keep_empty=numbered)
            for number, text in texts.items():
                builder.add(text, others[number])
            pairs += builder.pairs
        yield Part(pairs, account)


def read_side(path: PathLike, kind: str, by: Optional[str] = None) -> Tuple[Texts, bool]:
    """Read one side's documents, and whether they are a test set, whose lines all stay, also the empty ones.

    Args:
        kind: which side of a test set: ``src``, ``ref``, or ``hyp`` (what a system translated).
        by: the translator or system whose translation is taken; default: the first.
    """
    text = _read(path)
    if "<seg" not in text:
        talks = read_tagged_talks(text, path)
        numbered = {name: enumerate(lines) for name, lines in talks.items()}
        return {name: {str(at): line for at, line in lines} for name, lines in numbered.items()}, False
    found = [segment for segment in read_segments(text, path) if segment.kind == kind]
    names = list(dict.fromkeys(segment.by for segment in found if segment.by)) if kind != "src" else []
    if by is not None and by not in names:
        raise BadInput(f"expected a translation by {by}, found {', '.join(names) or 'no names'}", path)
    documents: Dict[str, Dict[str, str]] = {}
    for segment in found:
        if not names or segment.by in (None, by or names[0]):
            texts = documents.setdefault(segment.document, {})
            if segment.id in texts:
                raise BadInput(f"the segment {segment.id!r} is twice in {segment.document}", path)
            texts[segment.id] = segment.text
    if not documents:
        raise BadInput(f"has no document with <{kind}> and no set of such documents", path)
    return documents, True


def _read(path: PathLike) -> str:
    try:
        return read_document(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"expected UTF-8, found byte 0x{error.object[error.start]:02x}", path) from None


def read_segments(text: str, path: PathLike) -> Iterator[Segment]:
    """Read the segments of SGM (``<srcset>``, ``<refset>``) or of XML since 2021 (``<doc>``, ``<src>``,
    ``<ref>``); messages call the file ``path``."""
    inside: Dict[str, Dict[str, str]] = {}  # the elements that are open, with their attributes
    start = 0
    for tag in _TAG.finditer(text):
        name, ends = tag["name"].lower(), bool(tag["end"])
        if ("seg" in inside) != (name == "seg" and ends):
            line = text.count("\n", 0, tag.start()) + 1
            raise BadInput("expected <seg> and </seg> in turn", path, line)
        if not ends:
            found = _ATTRIBUTE.findall(tag["attributes"])
            inside[name] = {key.lower(): html.unescape(value.strip("\"'")) for key, value in found}
            start = tag.end()
            continue
        if name == "seg":
            yield _segment(inside, html.unescape(" ".join(text[start : tag.start()].split())), path)
        inside.pop(name, None)
    if inside:
        raise BadInput("the file ends within a document", path, text.count("\n") + 1)


def _segment(inside: Dict[str, Dict[str, str]], text: str, path: PathLike) -> Segment:
    side = next((name for name in _KINDS if name in inside), None)
    document = inside.get("doc", {})
    name = document.get("docid") or document.get("id")
    if side is None or not name:
        message = "a segment is not in a document with an id (docid=, id=), or not in src, ref or hyp"
        raise BadInput(message, path)
    who = {**inside[side], **(document if side.endswith("set") else {})}
    by = who.get("translator") or who.get("system") or who.get("sysid")
    return Segment(
        "/".join(filter(None, (who.get("setid"), name))), _KINDS[side], by, inside["seg"].get("id", ""), text
    )


def read_tagged_talks(text: str, path: PathLike) -> Dict[str, List[str]]:
    """Read the lines of each talk by its id, in order; metadata, lines that begin with a tag, are dropped.

    A talk begins with ``<doc docid="...">``, in older files with ``<url>``, and has its id there or in
    ``<talkid>``. Messages call the file ``path``.
    """
    talks: Dict[str, List[str]] = {}
    name, head = "", False  # of the open talk; whether only metadata was seen of it
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        tag = line.strip().lower()
        if not tag.startswith("<"):
            if not name:
                message = "the text is in no talk with an id (<doc docid=...>, <talkid>)"
                raise BadInput(message, path, number)
            talks[name].append(html.unescape(" ".join(line.split())))
            head = False
            continue
        if tag.startswith(("<doc ", "</doc>")) or (tag.startswith("<url>") and not head):
            name, head = "", not tag.startswith("</")
        found = _DOCID.search(line)
        if found and head and not name:
            name = found[1] or found[2]
            if name in talks:
                raise BadInput(f"the talk {name} is there twice", path, number)
            talks[name] = []
    if not talks:
        raise BadInput("has no talks (<doc docid=...>, <talkid>)", path)
    return talks
