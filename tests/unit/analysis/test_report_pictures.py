"""Pictures that a report holds: checked to the last dot, without what is not drawn."""

import base64
import io
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from ctxmt_fairseq.analysis.page.found import read_picture
from ctxmt_fairseq.base.errors import BadInput


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*more, width=4, height=3, colour=2, interlace=0, data=None, end=b""):
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, interlace)
    rows = b"".join(b"\0" + bytes(range(3 * 4)) for _ in range(3)) if data is None else data
    parts = [chunk(b"IHDR", header), *more, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + end


def test_a_picture_keeps_what_is_drawn_and_nothing_else(tmp_path):
    note = b"Comment\0<script>alert(1)</script>"
    (tmp_path / "a.png").write_bytes(png(chunk(b"tEXt", note), chunk(b"zzAp", b"x")))
    picture = read_picture(tmp_path / "a.png")
    content = base64.b64decode(picture.data.split(",")[1])
    (tmp_path / "b.png").write_bytes(png(chunk(b"iCCP", b"name\0\0" + zlib.compress(b"hidden" * 99))))
    assert b"iCCP" not in base64.b64decode(read_picture(tmp_path / "b.png").data.split(",")[1])
    assert b"script" not in content and b"zzAp" not in content
    assert Image.open(io.BytesIO(content)).getpixel((0, 0))[:3] == (0, 1, 2) and picture.caption == "a"


HOSTILE = {
    "an SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "nothing": b"",
    "the signature alone": png()[:8],
    "its beginning": png()[:-5],
    "a wrong checksum": png()[:-20] + b"\xff" + png()[-19:],
    "bytes behind it": png(end=b"<script>"),
    "two headers": png(chunk(b"IHDR", b"\0" * 13)),
    "an unknown part": png(chunk(b"ABCD", b"x")),
    "no rows": png(data=b""),
    "too many rows": png(data=bytes(1000)),
    "a bomb": png(data=bytes(10**7)),
    "too wide": png(width=100_000),
    "no width": png(width=0),
    "an unknown colour": png(colour=5),
    "interlaced": png(interlace=1),
    "a length beyond its end": png()[:8] + b"\xff\xff\xff\xff" + png()[12:],
}


def drawn_anew(path):
    """Whether a picture is taken; it then holds nothing but its dots."""
    try:
        picture = read_picture(path)
    except BadInput as error:
        assert str(error).startswith(f"{path}: expected ")
        return False
    content = base64.b64decode(picture.data.split(",")[1])
    assert b"script" not in content and b"tEXt" not in content
    assert Image.open(io.BytesIO(content)).size == (4, 3)
    return True


@pytest.mark.parametrize("name", HOSTILE)
def test_no_other_picture_is_taken(tmp_path, name):
    (tmp_path / "a.png").write_bytes(HOSTILE[name])
    taken = {"its beginning", "bytes behind it", "an unknown part", "too many rows", "a bomb"}
    assert drawn_anew(tmp_path / "a.png") == (name in taken)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_spoilt_picture_is_refused_or_drawn_anew(tmp_path_factory, data):
    content = bytearray(png())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "spoilt.png"
    path.write_bytes(bytes(content))
    drawn_anew(path)
