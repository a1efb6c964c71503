"""Europarl's aligned text with its tags (<CHAPTER ID=6>, <SPEAKER ID=80 NAME="President">), v7 to v10.

SOURCE and TARGET are folders with a file per day (ep-00-01-17.txt), or two such files. A document is a
chapter (ep-00-01-17/6); the speaker becomes metadata. The text between two tags is paired line by line; if
one side has more lines than the other, that text is left out, and the document ends there. --skip-broken
leaves out chapters whose speakers are not those of the other side, and files that are broken altogether.

Example: ctxmt corpus europarl --source txt/en --target txt/de --source-lang en --target-lang de \\
             --out text/train
"""

import contextlib
import functools
import re
from collections import Counter
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, NamedTuple, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import FileWise, NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Pair, Part
from ctxmt_fairseq.text.text_lines import (
    PathLike,
    check_not_same,
    is_text,
    iterate_lines,
    open_text,
    raw_lines,
)

_TAG = re.compile(r"\s*<(?P<name>[A-Za-z]+)(?P<attributes>(?:\s[^<>]*)?)/?>\s*")
_ATTRIBUTE = re.compile(r"(?<!\w)(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\">]+))")


class Europarl(NewCorpus):
    source: Input = option("text of the source side", metavar="FOLDER|FILE")
    target: Input = option("text of the target side", metavar="FOLDER|FILE")
    reading: FileWise

    def parts(self) -> Iterable[Part]:
        check_not_same(self.source, self.target)
        work = functools.partial(pair_days, skip=self.reading.skip_broken)
        return self.reading.parts(work, lines_of, days(self.source, self.target))


class Block(NamedTuple):
    """The lines between two tags, not all of them blank, with the speaker, if known, and the ``number`` of
    the speech, which is the same in all languages (while names are not)."""

    speaker: Dict[str, str]
    lines: List[str]
    number: str = ""

    @property
    def filled(self) -> List[str]:
        return [line for line in self.lines if line.strip()]


class Day(NamedTuple):
    """A file's chapters of the agenda in order, what is wrong with some, and how many lines are no text.

    A chapter's key is its number, and how often the number came before.
    """

    chapters: Dict[Tuple[str, int], List[Block]]
    problems: Dict[Tuple[str, int], BadInput]
    dropped: Counter


def read_day(path: PathLike, lenient: bool = False) -> Day:
    """Read a file; ``lenient`` is that of ``iterate_lines``."""
    day, seen = Day({}, {}, Counter()), Counter[str]()
    key, block = ("", 0), Block({}, [])
    blocks = [(key, block)]
    for number, line in enumerate(iterate_lines(path, lenient), 1):
        tag = _TAG.fullmatch(line)
        if tag is None:
            block.lines.append(line)
            continue
        day.dropped["tags"] += 1
        speaker, speech = block.speaker, block.number
        found = {key.lower(): quoted or bare for key, quoted, bare in _ATTRIBUTE.findall(tag["attributes"])}
        name = tag["name"].lower()
        if name == "chapter":
            chapter, speaker, speech = found.get("id", "").lstrip("0"), {}, ""
            key = chapter, seen[chapter]
            seen[chapter] += 1
        elif name == "speaker":
            named = {"speaker": found.get("name"), "language": found.get("language")}
            speaker = {key: value for key, value in named.items() if value}
            speech = found.get("id", "").lstrip("0")
        if name not in ("chapter", "speaker", "p") or not is_text(line):
            message = f"expected <CHAPTER>, <SPEAKER> or <P>, found <{tag['name']}>"
            day.problems.setdefault(key, BadInput(message, path, number))
        block = Block(speaker, [], speech)
        blocks.append((key, block))
    for key, block in blocks:
        if block.filled:
            day.chapters.setdefault(key, []).append(block)
        else:
            day.dropped["blank"] += len(block.lines)
    if not day.chapters:
        raise BadInput("has no text", path)
    return day


def pair_days(pair: Tuple[PathLike, PathLike], skip: bool = False) -> Part:
    """Pair a day's two files, which need the same chapters and speakers in the same order.

    Args:
        skip: leave out and count the chapters that do not have them.
    """
    source, target = pair
    sides = read_day(source, skip), read_day(target, skip)
    account = Account(sides[0].dropped.total(), left_out=+sides[0].dropped)
    pairs: List[Pair] = []
    problems = {**sides[1].problems, **sides[0].problems}
    different = BadInput(f"expected the chapters and speakers of {source} in the same order", target)
    if list(sides[0].chapters) != list(sides[1].chapters) and not skip:
        raise next(iter(problems.values()), different)
    for key in dict.fromkeys([*sides[0].chapters, *sides[1].chapters]):
        here, there = (side.chapters.get(key, []) for side in sides)
        shapes = [[(bool(block.speaker), block.number) for block in blocks] for blocks in (here, there)]
        if shapes[0] != shapes[1]:
            problems.setdefault(key, different)
        name = f"{Path(source).name.partition('.')[0]}/{key[0]}".rstrip("/")
        name += f"#{key[1] + 1}" if key[1] else ""
        builder = DocumentBuilder(name, account)
        if key not in problems:
            for first, second in zip(here, there, strict=True):
                _pair_blocks(first, second, builder)
        elif skip:
            lines = sum(len(block.lines) for block in here or there)
            builder.leave_out("in broken chapters", lines, f"{name}: {problems[key]}")
        else:
            raise problems[key]
        pairs += builder.pairs
    return Part(pairs, account)


def _pair_blocks(first: Block, second: Block, builder: DocumentBuilder) -> None:
    """Pair line by line, or, if a side has more blank lines, those that are not blank."""
    here, there = first.filled, second.filled
    if len(first.lines) == len(second.lines):
        rows = list(zip(first.lines, second.lines, strict=True))
        here, there = ([row[side] for row in rows if any(map(str.strip, row))] for side in (0, 1))
    builder.account.leave_out("blank", len(first.lines) - len(here))
    if len(here) != len(there):
        builder.leave_out("in blocks of different lengths", len(here))
        return
    for text, translation in zip(here, there, strict=True):
        builder.add(text, translation, first.speaker)


def days(source: PathLike, target: PathLike) -> Iterator[Tuple[Path, Path]]:
    """Pair the files of two folders by their names; or give back two files."""
    sides = Path(source), Path(target)
    if not all(side.is_dir() for side in sides):
        yield sides
        return
    names = [{path.name for path in side.iterdir() if path.is_file()} for side in sides]
    if not names[0]:
        raise BadInput("the folder has no files", source)
    for name in sorted(names[0] ^ names[1]):
        raise BadInput(f"lacks the file {name}, which the other folder has", sides[name in names[0]])
    for name in sorted(names[0]):
        yield sides[0] / name, sides[1] / name


def lines_of(pair: Tuple[PathLike, PathLike]) -> int:
    """Count the lines of a day's source file that are no tag and not blank, as far as it can be read."""
    count = 0
    with contextlib.suppress(BadInput), open_text(pair[0]) as stream:
        for line in raw_lines(stream, pair[0]):
            count += bool(line.strip()) and not line.lstrip().startswith(b"<")
    return count
