"""Pictures that the page holds: PNG, taken apart and put together again of what a browser draws."""

import base64
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

from ctxmt_fairseq.data.documents import read_bytes
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.errors import BadInput

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEPT = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")  # no text, profiles, or what else a file may carry
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of a colour type
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}  # bits
LARGEST = 16_000  # dots of a side
MOST = 100_000_000  # dots


@dataclass(frozen=True)
class Picture:
    """A PNG file.

    Attributes:
        data: its content, as a URI.
        width, height: in dots.
    """

    path: Path
    title: str
    data: str
    width: int
    height: int


def read_picture(path: Path) -> Picture:
    """A PNG file, checked to its last dot, without anything that is not drawn.

    Raises:
        BadInput: it is no PNG, damaged, too large, or has other bytes behind it.
    """
    content, width, height = checked_png(read_bytes(path), path)
    data = "data:image/png;base64," + base64.b64encode(content).decode()
    return Picture(path, _title(path), data, width, height)


def _title(path: Path) -> str:
    """What it shows: the title of the numbers beside it, else its name."""
    beside = path.with_suffix(".json")
    try:
        return get(Place(beside), load_json(beside), "title", str)
    except BadInput:
        return path.stem


def checked_png(content: bytes, path: Path) -> Tuple[bytes, int, int]:
    """The content of a PNG file without what is not drawn, and its width and height.

    Raises:
        BadInput: see ``read_picture``.
    """
    if not content.startswith(SIGNATURE):
        raise BadInput("expected a PNG picture", path)
    at, kept = len(SIGNATURE), [SIGNATURE]
    kinds: List[bytes] = []
    data: List[bytes] = []
    while at < len(content) and kinds[-1:] != [b"IEND"]:
        if len(content) < at + 12:
            raise BadInput("expected a whole PNG picture, found its beginning", path)
        (length,) = struct.unpack(">I", content[at : at + 4])
        kind, end = content[at + 4 : at + 8], at + 12 + length
        checksum = struct.pack(">I", zlib.crc32(content[at + 4 : end - 4]))
        if end > len(content) or content[end - 4 : end] != checksum:
            raise BadInput("expected a PNG picture, found a damaged one", path)
        kinds.append(kind)
        if kind in KEPT:
            kept.append(content[at:end])
        elif not kind[:1].islower():  # a part that a reader must know
            raise BadInput("expected a PNG picture, found an unknown part in it", path)
        if kind == b"IDAT":
            data.append(content[at + 8 : end - 4])
        at = end
    if kinds[:1] != [b"IHDR"] or kinds[-1] != b"IEND" or kinds.count(b"IHDR") > 1 or at != len(content):
        raise BadInput("expected a PNG picture and nothing else", path)
    header = kept[1][8:-4]
    if len(header) != 13:
        raise BadInput("expected a PNG picture, found a damaged one", path)
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", header)
    if not (0 < width <= LARGEST and 0 < height <= LARGEST and width * height <= MOST):
        raise BadInput(
            f"expected a picture of at most {LARGEST} x {LARGEST} dots, found {width} x {height}", path
        )
    if depth not in DEPTHS.get(colour, ()) or (compression, filtering, interlace) != (0, 0, 0):
        raise BadInput("expected a PNG picture without interlacing", path)
    row = 1 + (width * CHANNELS[colour] * depth + 7) // 8
    if _inflated(b"".join(data), row * height) != row * height:
        raise BadInput("expected a PNG picture, found a damaged one", path)
    return b"".join(kept), width, height


def _inflated(data: bytes, most: int) -> int:
    """How many bytes compressed data stands for; -1 if it is damaged or has more than ``most``."""
    reader = zlib.decompressobj()
    size = 0
    try:
        while not reader.eof:
            part = reader.decompress(data, 1 << 20)
            data = reader.unconsumed_tail
            size += len(part)
            if size > most or not part and not data:
                break
    except zlib.error:
        return -1
    return size if reader.eof and not reader.unused_data else -1
