"""JSON that Python's reader takes, or stops at in its own words, and that is refused with the place."""

import json
import time

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import json_lines, load_json, parse_json


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "at most 64 brackets"),
        ("[" * 65 + "]" * 65, "at most 64 brackets"),
        ('{"a":' * 65 + "1" + "}" * 65, "at most 64 brackets"),
        ("1" * 5_000, "64 bits"),
        ("[9223372036854775808]", "64 bits"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"\\udfff": 1}', "half a character"),
        ("[NaN]", "found NaN"),
        ("-Infinity", "found -Infinity"),
        ("1e999", "beyond any"),
        ('{"a": 1', "expected JSON: "),
        ("", "expected JSON: "),
    ],
)
def test_refused(tmp_path, text, message):
    path = tmp_path / "set.json"
    path.write_text(text)
    for read in (
        load_json,
        lambda path: list(json_lines(path) or [None]),
        lambda path: parse_json(text, path),
    ):
        if not text and read is not load_json:
            continue
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value).startswith(f"{path}:") and message in str(refused.value)


def test_the_line_is_named(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text('{"a": 1}\n[NaN]\n')
    with pytest.raises(BadInput, match=r"set\.jsonl:2: expected a number, found NaN"):
        list(json_lines(path))
    path.write_bytes(b'{"a":\n"\xff"}')
    with pytest.raises(BadInput, match=r"set\.jsonl:2: expected UTF-8, found byte 0xff"):
        load_json(path)


@pytest.mark.parametrize(
    "value", [[[[1]]], {"a": "\U0001f600", "b": [-(2**63), 1.5, None, True]}, ["[" * 100], [[]] * 100]
)
def test_kept(tmp_path, value):
    for escaped in (True, False):
        path = tmp_path / "set.json"
        path.write_text("\ufeff" + json.dumps(value, ensure_ascii=escaped), encoding="utf-8")
        assert load_json(path) == value


def test_the_last_of_repeated_keys_counts(caplog):
    assert parse_json('{"a": 1, "a": 2}', "set.json") == {"a": 2}
    assert "'a' is repeated" in caplog.text


def test_repeated_keys_take_no_longer_than_others(tmp_path, caplog):
    """Counting each key anew would take minutes here."""
    path = tmp_path / "keys.json"
    keys = "".join(f'"k{number}": 1, ' for number in range(100_000))
    path.write_text(f'{{{keys}"last": 1, "last": 2}}')
    started = time.process_time()
    assert load_json(path)["last"] == 2
    assert time.process_time() - started < 5
    assert "the key 'last' is repeated" in caplog.text
