"""Europarl's aligned text with its tags (v7 to v10), which are no XML: one file per day and language."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple, Union

from ctxmt_fairseq.corpora.assembly.document_builder import DocumentBuilder
from ctxmt_fairseq.corpora.assembly.pairs import Account, Part
from ctxmt_fairseq.data.documents import iterate_lines, open_file
from ctxmt_fairseq.errors import BadInput

PathLike = Union[str, Path]
_TAG = re.compile(r"\s*<(?P<name>[A-Za-z]+)(?P<attributes>(?:\s[^<>]*)?)/?>\s*")
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|([^\s\">]+))")


class Block(NamedTuple):
    """The lines between two tags.

    Attributes:
        chapter: of the agenda.
        speaker: name and the language that was spoken, where they are known.
        lines: at least one.
    """

    chapter: str
    speaker: Dict[str, str]
    lines: List[str]


def read_blocks(path: PathLike) -> List[Block]:
    """The blocks of a file, in order; blank lines are dropped.

    Raises:
        BadInput: as ``iterate_lines``; a tag that is none of Europarl's, or no text.
    """
    blocks: List[Block] = []
    chapter, speaker, lines = "", {}, []  # type: str, Dict[str, str], List[str]
    for number, line in enumerate(iterate_lines(path), 1):
        tag = _TAG.fullmatch(line)
        if tag is None:
            if line.strip():
                lines.append(line)
            continue
        blocks += [Block(chapter, speaker, lines)] if lines else []
        lines = []
        name = tag["name"].lower()
        found = {key.lower(): quoted or bare for key, quoted, bare in _ATTRIBUTE.findall(tag["attributes"])}
        if name == "chapter":
            chapter, speaker = found.get("id", "").lstrip("0"), {}
        elif name == "speaker":
            speaker = {"speaker": found.get("name", ""), "language": found.get("language", "")}
            speaker = {key: value for key, value in speaker.items() if value}
        elif name != "p":
            raise BadInput(f"expected <CHAPTER>, <SPEAKER> or <P>, found <{tag['name']}>", path, number)
    blocks += [Block(chapter, speaker, lines)] if lines else []
    if not blocks:
        raise BadInput("expected text with the tags of Europarl, found none", path)
    return blocks


def pair_days(pair: Tuple[PathLike, PathLike]) -> Part:
    """The pairs of a day, ``ep-00-01-17.txt`` in both languages.

    A document is a chapter (``ep-00-01-17/6``). Blocks are paired in order; where they do not have as many
    lines on both sides they are left out, and end the document. What the source side says of the speaker
    becomes metadata.

    Raises:
        BadInput: files that cannot be read, or do not have the same chapters and speakers in the same order.
    """
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
    """The files of two folders by their names, or two files.

    Raises:
        BadInput: a folder without files, or a file that is in one of the folders only.
    """
    if not (Path(source).is_dir() and Path(target).is_dir()):
        yield Path(source), Path(target)
        return
    names = [{path.name for path in Path(side).iterdir() if path.is_file()} for side in (source, target)]
    if not names[0]:
        raise BadInput("expected files of Europarl in the folder", source)
    for name in sorted(names[0] ^ names[1]):
        raise BadInput(
            f"expected the file {name}, as in the other folder", target if name in names[0] else source
        )
    for name in sorted(names[0]):
        yield Path(source) / name, Path(target) / name


def lines_of(pair: Tuple[PathLike, PathLike]) -> int:
    """Lines of text in a source file of which no more may be known: those that are no tag and not blank."""
    with open_file(pair[0]) as stream:
        return sum(1 for line in stream if line.strip() and not line.lstrip().startswith(b"<"))
