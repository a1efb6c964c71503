"""Options take what their types say; everything else is one line."""

import argparse

import pytest

from ctxmt_fairseq.base import option_types


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (option_types.positive_int, ["0", "-3", "1.5", "", "x", "9" * 5000, "1_0", "2147483648", "\u0663"]),
        (option_types.non_negative_int, ["-1", "nan"]),
        (option_types.workers, ["-3", "0", "100000"]),
        (option_types.seed, ["-1", "4294967296"]),
        (option_types.finite_float, ["inf", "-inf", "nan", "1e999", "a"]),
        (option_types.number(0, 1000), ["inf", "nan", "-1", "1e300"]),
        (option_types.share, ["0", "1.1", "nan"]),
        (option_types.language, ["a/b", "", ".", "..", "-x", "a b", "a\n", "/etc"]),
        (option_types.name, ["", " "]),
        (option_types.prefix, ["", ".", "..", "a/", "a/."]),
        (option_types.names, ["", ":", "a:", ":b"]),
    ],
)
def test_refused(kind, wrong):
    for text in wrong:
        with pytest.raises(argparse.ArgumentTypeError, match="^expected "):
            kind(text)


def test_taken():
    assert option_types.positive_int("12") == option_types.seed("12") == 12
    assert option_types.number(-1, 1)("-0.5") == -0.5
    assert option_types.language("zh-CN") == "zh-CN" and option_types.language("\u00e9") == "\u00e9"
    assert option_types.names("a:b c") == "a:b c"
