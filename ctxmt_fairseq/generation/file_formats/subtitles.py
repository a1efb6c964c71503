"""Subtitles: SubRip (.srt), WebVTT (.vtt) and SubStation Alpha (.ass, .ssa).

Text is replaced where it stands, so that times, styles and everything else stay byte for byte. A sentence may
run over cues, and a cue may hold several: what stands between full stops is translated as one, and shared out
over its cues again by their lengths.
"""

import html
import logging
import re
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput, named
from ctxmt_fairseq.generation.file_formats import FileFormat, Reading, layout
from ctxmt_fairseq.generation.file_formats.sentences import sentence_cutter
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated
from ctxmt_fairseq.text.languages import blank_behind, joined_text

logger = logging.getLogger(__name__)
_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_TAG = re.compile(layout.TAG)
_BLOCK = re.compile(layout.TAG + r"|\{[^{}\n]*\}")  # in SubStation Alpha braces hold comments, too
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_REFERENCE = re.compile(r"&(?:amp|lt|gt|nbsp|quot|apos|#\d{1,7});")
_END = re.compile(r"[.!?…:;。！？‥][\"'”’»)\]」』♪]*$")
_ALONE = re.compile(r"\s*(?:[\[(（【][^\])）】]*[\])）】]|[♪♫].*[♪♫])\s*")  # a sound or a line of a song
_SPEAKER = re.compile(r"[-–—]\s*")  # begins the lines of a cue in which several speak
_MOST = 4  # a sentence runs over so many cues
EMPTY = "…"  # what a cue has if the translation has fewer words than the sentence has cues


class Cue(NamedTuple):
    """A cue's place in the file, from the line (from 0) of its text, and its times in seconds."""

    line: int
    lines: List[str]
    start: float
    end: float


class _Group(NamedTuple):
    """What one speaker says in a cue: its lines, and their text without the dash before it and tags."""

    cue: int
    lines: List[str]
    speaker: str
    text: str
    tags: List[Tuple[float, str]]


class Subtitles(FileFormat):
    def __init__(self, path: str, how: Reading):
        super().__init__(path, how)
        self.rows = self.lines()
        self.dialogue = self.ending in (".ass", ".ssa")
        self.cues = [*(_dialogue(self.rows, path) if self.dialogue else _timed(self.rows))]
        if not self.cues:
            raise BadInput("expected subtitles, found no time of one", path)
        self.tag = _BLOCK if self.dialogue else _TAG
        # Of WebVTT it is said that & is written &amp;; some files of SubRip are written so, too.
        written = any(_REFERENCE.search(line) for cue in self.cues for line in cue.lines)
        self.escaped = self.ending == ".vtt" or self.ending == ".srt" and written
        read = html.unescape if self.escaped else str
        self.groups = [
            each for at, cue in enumerate(self.cues) for each in _groups(at, cue.lines, self.tag, read)
        ]
        self._warn_of_others()

    def _warn_of_others(self) -> None:
        """Say which lines of SubRip are in no cue; in the other formats there are such lines."""
        inside = {line + at for line, lines, *_ in self.cues for at in range(-1, len(lines))}
        others = (at for at in range(len(self.rows)) if at not in inside and self.ending == ".srt")
        empty = re.compile(rf"\ufeff?\s*\d*\s*|{_TIMES.pattern}\s*")  # its time, too, if it has no text
        found = [f"line {at + 1}" for at in others if not empty.fullmatch(self.rows[at])]
        if found:
            said = "%s: %d lines belong to no subtitle, and stay as they are: %s"
            logger.warning(said, self.path, len(found), named(found))

    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        sentences: List[str] = []
        lines: List[List[int]] = []  # of each document: where its sentences begin
        places: List[List[Tuple[int, int]]] = []  # of each sentence: groups, and its characters there
        cut = sentence_cutter(languages[0])
        for document in self._documents():
            lines.append([])
            for run in document:
                for text, where in _sentences(run, self.groups, cut):
                    sentences.append(text)
                    places.append(where)
                    lines[-1].append(self.cues[self.groups[where[0][0]].cue].line)

        def render(documents: InputDocuments, found: Sequence[Optional[Translated]]) -> str:
            parts: Dict[int, List[str]] = {}
            for where, text in zip(places, layout.kept_texts(documents, found), strict=True):
                shares = layout.shared_out(text, [share for _, share in where])
                for (group, _), share in zip(where, shares, strict=True):
                    parts.setdefault(group, []).append(share)
            return self._with(parts)

        return InputDocuments.of_file(self.path, sentences, lines, len(self.rows), render=render)

    def _documents(self) -> Iterator[List[List[int]]]:
        """The documents: groups in runs that may be one sentence."""
        document: List[List[int]] = []
        begin, end = 0.0, None
        for number, group in enumerate(self.groups):
            cue = self.cues[group.cue]
            if end is not None and max(cue.start - end, begin - cue.start) > self.how.pause:
                yield document
                document = []
            goes_on = document and not group.speaker and len(document[-1]) < _MOST
            goes_on = goes_on and (group.cue == self.groups[number - 1].cue or cue.start > begin)
            before = self.groups[number - 1].text
            apart = _END.search(before) or _ALONE.fullmatch(before) or _ALONE.fullmatch(group.text)
            if goes_on and not apart:
                document[-1].append(number)
            else:
                document.append([number])
            begin, end = cue.start, cue.end
        yield document

    def _with(self, parts: Dict[int, List[str]]) -> str:
        """The file with the translations of the groups."""
        texts: List[List[str]] = [[] for _ in self.cues]
        for number, group in enumerate(self.groups):
            laid_out = number in parts
            lines = _laid_out(group, parts[number], self.tag, self.escaped) if laid_out else group.lines
            texts[group.cue] += lines
        rows = [*self.rows]
        for cue in {self.groups[number].cue for number in parts}:
            line, lines, _, _ = self.cues[cue]
            text, newline = layout.body_and_end(rows[line])
            head, last = text.removesuffix(lines[0]), layout.body_and_end(rows[line + len(lines) - 1])[1]
            rows[line] = head + ("\\N" if self.dialogue else newline).join(texts[cue]) + last
            rows[line + 1 : line + len(lines)] = [""] * (len(lines) - 1)
        return "".join(rows)


def _timed(rows: Sequence[str]) -> Iterator[Cue]:
    """The cues of SubRip and WebVTT: the lines behind a line with times, up to a blank one."""
    at = 0
    while at < len(rows):
        times = _TIMES.fullmatch(rows[at].rstrip("\r\n"))
        at += 1
        if not times:
            continue
        end = at
        while end < len(rows) and rows[end].strip() and not _TIMES.fullmatch(rows[end].rstrip("\r\n")):
            end += 1
        if end > at + 1 and end < len(rows) and rows[end].strip() and rows[end - 1].strip().isdecimal():
            end -= 1  # the next subtitle's number, without a blank line before it
        if end > at:
            start, stop = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
            yield Cue(at, [row.rstrip("\r\n") for row in rows[at:end]], start, stop)
        at = end


def _dialogue(rows: Sequence[str], path: str) -> Iterator[Cue]:
    """The cues of SubStation Alpha: lines that begin with Dialogue, whose last field is the text."""
    names: List[str] = []
    for number, row in enumerate(rows):
        key, _, value = row.rstrip("\r\n").partition(":")
        if key.strip() == "Format":
            names = [name.strip() for name in value.split(",")]
        if key.strip() != "Dialogue":
            continue
        if names[-1:] != ["Text"] or not {"Start", "End"} <= {*names}:
            raise BadInput("expected a line Format: .., Start, End, .., Text before it", path, number + 1)
        fields = dict(zip(names, value.split(",", len(names) - 1), strict=False))
        times = [re.fullmatch(rf"\s*{_TIME}\s*", fields.get(name, "")) for name in ("Start", "End")]
        if not all(times) or "Text" not in fields:
            raise BadInput(f"expected {len(names)} fields with times", path, number + 1)
        start, end = (_seconds(each.groups()) for each in times if each)
        if fields["Text"].strip() and not _DRAWING.search(fields["Text"]):
            yield Cue(number, [fields["Text"]], start, end)


def _seconds(parts: Sequence[Optional[str]]) -> float:
    hours, minutes, seconds, fraction = parts
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0) + float(f"0.{fraction}")


def _groups(
    cue: int, lines: Sequence[str], tag: "re.Pattern[str]", read: Callable[[str], str]
) -> Iterator[_Group]:
    """What each speaker says in a cue, as it is ``read``."""
    texts = [text for line in lines for text in (re.split(r"\\[Nn]", line) if tag is _BLOCK else [line])]
    speaks = [bool(_SPEAKER.match(tag.sub("", text))) for text in texts]
    speakers = sum(speaks)
    groups: List[List[str]] = []
    for text, begins in zip(texts, speaks, strict=True):
        if groups and not (speakers > 1 and begins):
            groups[-1].append(text)
        else:
            groups.append([text])
    for group in groups:
        text = joined_text(group)
        text, tags = layout.without(tag, text.replace("\\h", " ") if tag is _BLOCK else text, read)
        found = _SPEAKER.match(text) if speakers > 1 else None
        speaker = found[0] if found else ""
        yield _Group(cue, group, speaker, text[len(speaker) :], tags)


def _sentences(
    run: Sequence[int], groups: Sequence[_Group], cut: Callable[[str], List[str]]
) -> Iterator[Tuple[str, List[Tuple[int, int]]]]:
    """The sentences of a run, and how many characters of each stand in which group."""
    spans, text = [], ""
    for number in run:
        begin = len(text)
        text += groups[number].text.strip()
        spans.append((number, begin, len(text)))
        text += blank_behind(text)
    end = 0
    for sentence in cut(text):
        begin, end = end, end + len(sentence)
        parts = ((number, text[max(begin, first) : min(end, last)]) for number, first, last in spans)
        if where := [(number, layout.weight(part)) for number, part in parts if part.strip()]:
            yield " ".join(sentence.split()), where


def _laid_out(group: _Group, parts: Sequence[str], tag: "re.Pattern[str]", escaped: bool) -> List[str]:
    """The lines of a group: as many as before, if there are words enough."""
    text = group.speaker + (joined_text(parts) or EMPTY).replace("-->", "->")
    lines = layout.shared_out(text, [layout.weight(tag.sub("", line)) for line in group.lines])
    write = layout.escaped if escaped else str
    return layout.put_back("\n".join(filter(None, lines)), group.tags, write).split("\n")
