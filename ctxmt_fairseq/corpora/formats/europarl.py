"""Europarl's aligned text with its tags (<CHAPTER ID=6>, <SPEAKER ID=80 NAME="President">), v7 to v10.

SOURCE and TARGET are folders with a file per day (ep-00-01-17.txt), or two such files. A document is a
chapter (ep-00-01-17/6); the speaker becomes metadata. The text between two tags is paired line by line; if
one side has more lines than the other, that text is left out, and the document ends there.

Example: ctxmt corpus europarl --source txt/en --target txt/de --source-lang en --target-lang de \\
             --out text/train
"""

import re
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import FileWise, NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, open_text

_TAG = re.compile(r"\s*<(?P<name>[A-Za-z]+)(?P<attributes>(?:\s[^<>]*)?)/?>\s*")
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\">]+))")


class Europarl(NewCorpus):
    source: Input = option("of the source side", metavar="FOLDER|FILE")
    target: Input = option("of the target side", metavar="FOLDER|FILE")
    reading: FileWise

    def parts(self) -> Iterator[Part]:
        return self.reading.parts(pair_days, lines_of, days(self.source, self.target))


class Block(NamedTuple):
    """The lines between two tags, at least one, with their chapter of the agenda and the speaker, if
    known."""

    chapter: str
    speaker: Dict[str, str]
    lines: List[str]


def read_blocks(path: PathLike) -> List[Block]:
    """The blocks of a file, in order; blank lines are dropped."""
    blocks = [Block("", {}, [])]
    for number, line in enumerate(iterate_lines(path), 1):
        tag = _TAG.fullmatch(line)
        if tag is None:
            blocks[-1].lines.extend([line] if line.strip() else [])
            continue
        chapter, speaker, _ = blocks[-1]
        found = {key.lower(): quoted or bare for key, quoted, bare in _ATTRIBUTE.findall(tag["attributes"])}
        name = tag["name"].lower()
        if name == "chapter":
            chapter, speaker = found.get("id", "").lstrip("0"), {}
        elif name == "speaker":
            named = {"speaker": found.get("name"), "language": found.get("language")}
            speaker = {key: value for key, value in named.items() if value}
        elif name != "p":
            raise BadInput(f"expected <CHAPTER>, <SPEAKER> or <P>, found <{tag['name']}>", path, number)
        blocks.append(Block(chapter, speaker, []))
    blocks = [block for block in blocks if block.lines]
    if not blocks:
        raise BadInput("has no text", path)
    return blocks


def pair_days(pair: Tuple[PathLike, PathLike]) -> Part:
    """Pair a day's two files, which need the same chapters and speakers in the same order."""
    source, target = pair
    sides = read_blocks(source), read_blocks(target)
    shapes = [[(block.chapter, bool(block.speaker)) for block in blocks] for blocks in sides]
    if shapes[0] != shapes[1]:
        raise BadInput(f"expected the chapters and speakers of {source} in the same order", target)
    account = Account()
    builders: List[DocumentBuilder] = []
    for first, second in zip(*sides, strict=True):
        name = f"{Path(source).name.partition('.')[0]}/{first.chapter}".rstrip("/")
        if not builders or builders[-1].name != name:
            builders.append(DocumentBuilder(name, account))
        if len(first.lines) == len(second.lines):
            for here, there in zip(first.lines, second.lines, strict=True):
                builders[-1].add(here, there, first.speaker)
        else:
            builders[-1].leave_out("in blocks of different lengths", len(first.lines))
    return Part([line for builder in builders for line in builder.pairs], account)


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
    """Count the lines of a day's source file that are no tag and not blank, without reading the rest."""
    with open_text(pair[0]) as stream:
        return sum(1 for line in stream if line.strip() and not line.lstrip().startswith(b"<"))
