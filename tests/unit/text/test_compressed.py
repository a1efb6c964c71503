"""Compressed text: read by its content whatever its name, in bounded memory, refused where damaged."""

import bz2
import gzip
import io
import json
import lzma
import resource
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.text import compressed
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.json_files import load_json
from ctxmt_fairseq.text.text_lines import iterate_lines, read_text


def zstandard(content):
    return pytest.importorskip("pyarrow").compress(content, "zstd", asbytes=True)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstandard": zstandard}
packers = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
TEXT = "Une idée\n\nA\n".encode()


@packers
def test_every_reader_reads_it(tmp_path, pack, monkeypatch):
    """Two texts one behind the other are one text, as the tools have it."""
    path = tmp_path / "text"
    path.write_bytes(pack(TEXT) + pack(b"B"))
    assert list(iterate_lines(path)) == ["Une idée", "", "A", "B"]
    path.write_bytes(pack(b""))
    assert list(iterate_lines(path)) == []
    path.write_bytes(pack(b"d\nd\ne\n"))
    assert Documents.read(path).starts.tolist() == [0, 2, 3]
    path.write_bytes(pack(json.dumps({"a": ["é"]}).encode()))
    assert load_json(path) == {"a": ["é"]}
    stream = io.BufferedReader(io.BytesIO(pack(TEXT)))
    monkeypatch.setattr("ctxmt_fairseq.text.text_lines.open_file", lambda path: stream)
    assert list(iterate_lines("-")) == ["Une idée", "", "A"]


@packers
def test_commands_make_the_same_of_it(tmp_path, pack, capsys):
    """A corpus whose files are compressed, under their plain names."""
    for folder, done in (("plain", bytes), ("packed", pack)):
        (tmp_path / folder).mkdir()
        for end, content in {
            "en": b"a b\nb\n",
            "fr": b"c\nd\n",
            "docids": b"1\n1\n",
            "meta.speaker": b"x\n\n",
        }.items():
            (tmp_path / folder / f"t.{end}").write_bytes(done(content))
        text, languages = str(tmp_path / folder / "t"), ("--source-lang", "en", "--target-lang", "fr")
        main(["corpus", "check", text, *languages])
        main(["preprocess", "--train", text, *languages, "--no-subwords", "--out", f"{text}-data"])
    plain, packed = (tmp_path / folder / "t-data" for folder in ("plain", "packed"))
    names = sorted(path.name for path in plain.iterdir())
    assert names == sorted(path.name for path in packed.iterdir())
    assert all((plain / name).read_bytes() == (packed / name).read_bytes() for name in names)
    assert "faults: none" in capsys.readouterr().out


@packers
def test_what_is_cut_or_changed_is_refused_or_text(tmp_path, pack):
    whole = pack(TEXT * 50)
    path = tmp_path / "text"
    for at in range(0, len(whole), 3):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]):
            path.write_bytes(content)
            for read in (
                lambda path: list(iterate_lines(path)),
                lambda path: list(iterate_lines(path, True)),
                read_text,
            ):
                try:
                    read(path)
                except BadInput as error:
                    assert str(error).startswith(f"{path}:")
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="text:1: damaged|text: damaged"):
        list(iterate_lines(path))


@packers
def test_a_bomb_takes_no_memory(tmp_path, pack, monkeypatch):
    """Long lines are refused after 16 MiB, a whole text after its bound; the lines of a long text go by."""
    (tmp_path / "line").write_bytes(pack(b"0" * 2**25))
    (tmp_path / "lines").write_bytes(pack((b"0" * 1023 + b"\n") * 2**15))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadInput, match="line:1: expected lines of at most"):
        list(iterate_lines(tmp_path / "line"))
    assert sum(len(line) == 1023 for line in iterate_lines(tmp_path / "lines")) == 2**15
    monkeypatch.setattr("ctxmt_fairseq.text.text_lines.LARGEST", 2**20)
    with pytest.raises(BadInput, match="line: expected at most 1 MiB of text"):
        read_text(tmp_path / "line")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**16  # KiB


def test_what_would_take_much_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "_MEMORY", 2**20)
    (tmp_path / "text").write_bytes(lzma.compress(TEXT))
    with pytest.raises(BadInput, match="text:1: damaged: Memory usage limit exceeded"):
        list(iterate_lines(tmp_path / "text"))


def test_zstandard_without_its_package(tmp_path, monkeypatch):
    (tmp_path / "text").write_bytes(b"\x28\xb5\x2f\xfd rest")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match='text: Zstandard needs the package pyarrow, in the extra "corpora"'):
        list(iterate_lines(tmp_path / "text"))


@given(
    st.binary(max_size=12), st.sampled_from([b"", b"BZh9", b"\x1f", b"\xfd7z", b"\x28\xb5", b"BZh91AY&SY"])
)
def test_text_that_begins_alike(tmp_path_factory, rest, head):
    """No bytes end in anything but lines or ``BadInput``."""
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(head + rest)
    try:
        assert "\n".join(iterate_lines(path, True)).encode("utf-8", "surrogateescape") is not None
    except BadInput as error:
        assert "damaged" in str(error)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_names_say_how_text_is_written(tmp_path, ending):
    if ending == ".zst":
        pytest.importorskip("pyarrow")
    packed = compressed.compressed(TEXT * 99, f"text{ending}")
    (tmp_path / "text").write_bytes(packed)
    assert read_text(tmp_path / "text") == TEXT * 99 and (len(packed) < 200) == bool(ending)
