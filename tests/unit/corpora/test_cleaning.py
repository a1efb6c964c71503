"""Cleaning of subtitles, step by step."""

from argparse import ArgumentTypeError
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer

from ctxmt_fairseq.corpora.cleaning import STEPS, chosen_steps, clean


def cleaned(line, language, steps, changed):
    """As a corpus has it: its blanks are folded."""
    return " ".join(clean(line, language, steps, changed).split())


@pytest.mark.parametrize(
    "step, language, line, expected",
    [
        ("entities", "en", "Tom &amp;amp; Ann &lt;i&gt;", "Tom & Ann <i>"),
        ("entities", "en", "fish & chips", "fish & chips"),
        ("ocr", "fr_CA", "iI dit", "il dit"),  # a region has its language's rules
        ("punctuation", "fr-CA", "1\u00a0234", "1,234"),
        ("punctuation", "en_GB", '"Yes".', '"Yes."'),
        ("markup", "en", "<i>Go</i> <font color=red>now</font> {\\an8}!", "Go now !"),
        ("markup", "en", "2 < 3 and 4 > 1", "2 < 3 and 4 > 1"),
        ("brackets", "en", "(laughs) Yes. [DOOR SLAMS] *sighs* No.", "Yes. No."),
        ("music", "en", "♪ La la # la ♪", "La la la"),
        ("music", "en", "Take the #1 bus", "Take the #1 bus"),
        ("dashes", "en", "- Hello.", "Hello."),
        ("dashes", "en", "-Hello - you.", "Hello - you."),
        ("dashes", "en", "- - Hello.", "Hello."),
        ("dashes", "en", "-5 degrees", "-5 degrees"),
        ("dashes", "fr", "—Où?", "Où?"),
        ("speakers", "en", "JOHN: Come in.", "Come in."),
        ("speakers", "en", "MRS. O’NEIL: Come in.", "Come in."),
        ("speakers", "ru", "АННА: Входи.", "Входи."),
        ("speakers", "en", "Note: come in.", "Note: come in."),
        ("speakers", "en", "AT 10:30 we left", "AT 10:30 we left"),
        (
            "ocr",
            "en",
            "l'm sure l'll go, l think. | see. ln time.",
            "I'm sure I'll go, I think. I see. In time.",
        ),
        ("ocr", "en", "l.A. is not ill", "I.A. is not ill"),
        ("ocr", "fr", "I'homme, iI dort. II rit.", "l'homme, il dort. Il rit."),
        ("ocr", "de", "lch bin wiIIig. ln lhm, lhr!", "Ich bin willig. In Ihm, Ihr!"),
        ("ocr", "de", "y = a * ln(x)", "y = a * ln(x)"),
        ("punctuation", "en", "“Hello” … he said", '"Hello" ... he said'),
    ],
)
def test_step(step, language, line, expected):
    changed = Counter()
    assert cleaned(line, language, [step], changed) == expected
    assert changed == ({f"cleaned: {step}": 1} if line != expected else {})
    assert cleaned(expected, language, [step], Counter()) == expected


def test_steps_in_their_order():
    changed = Counter()
    line = "- &lt;i&gt;JOHN: (whispers) l'm here…&lt;/i&gt; ♪"
    assert cleaned(line, "en", chosen_steps("all"), changed) == "I'm here..."
    assert set(changed) == {f"cleaned: {name}" for name in STEPS}
    assert clean(line, "en", (), changed) == line


@given(
    st.text(st.sampled_from("aZ1 \t\r\xa0()'\"`´’‘„“”–—…«»,.:;!?%$ºn"), max_size=12),
    st.sampled_from(["en", "fr", "ru"]),
)
def test_punctuation_is_moses_own(line, language):
    """Whether or not the line is passed over because no rule matches."""
    assert clean(line, language, ["punctuation"], Counter()) == MosesPunctNormalizer(language).normalize(line)


def test_chosen_steps():
    assert chosen_steps("all") == tuple(STEPS) and chosen_steps("none") == ()
    assert chosen_steps("ocr,dashes") == ("dashes", "ocr")
    assert chosen_steps("-ocr,-music") == tuple(name for name in STEPS if name not in ("ocr", "music"))
    with pytest.raises(ArgumentTypeError, match="dust: expected all, none"):
        chosen_steps("dust")
