"""ContraWSD: JSON, and the text that the suite makes of it."""

import pytest

from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_set
from tests.helpers.contrastive_files import error, write, write_json

RECORDS = [
    {
        "source": "Die Bank ist nass.", "reference": "The bench is wet.",
        "ambig word": "Bank", "sense": "bench|seat",
        "errors": [{"contrastive": "The bank is wet.", "replacement": "bank"},
                   {"contrastive": "The shore is wet."}],
    },
    {
        "source": "Die Bank ist nass.", "reference": "The bench is wet.",
        "ambig word": "nass", "sense": "wet",
        "errors": [{"contrastive": "The bench is moist."}],
    },
]  # fmt: skip


def candidates(found):
    return [(one.source, [each.current for each in one.candidates], one.correct) for one in found.examples]


def test_both_layouts_are_one_set(tmp_path):
    found = read_contrastive_set(write_json(tmp_path / "de-en.json.text", RECORDS))
    assert (found.format, str(found.convention)) == ("contrawsd", "sum-current")
    assert [one.phenomenon for one in found.examples] == ["Bank", "nass"]
    assert found.examples[0].meta == {"sense": "bench|seat"} and found.examples[0].distance is None
    texts = [
        text
        for one in RECORDS
        for text in (one["reference"], *(each["contrastive"] for each in one["errors"]))
    ]
    write(tmp_path / "plain.de", *["Die Bank ist nass."] * 5)
    plain = read_contrastive_set(write(tmp_path / "plain.en", *texts), format="contrawsd")
    assert candidates(plain) == candidates(found) and len(found.examples[0].candidates) == 3


@pytest.mark.parametrize(
    "change, words",
    [
        ({"sense": 1}, "expected a string at the key 'sense'"),
        ({"errors": [{}]}, "expected the key 'contrastive'"),
    ],
)
def test_broken_records(tmp_path, change, words):
    found = error(write_json(tmp_path / "a.json", [RECORDS[1], {**RECORDS[0], **change}]))
    assert "a.json: example 2: " in found and words in found


def test_plain_text_that_does_not_fit(tmp_path):
    write(tmp_path / "a.de", "A", "B")
    assert "expected as many lines as" in error(write(tmp_path / "a.en", "A"), format="contrawsd")
    assert "is given for both sides" in error(tmp_path / "a.de", format="contrawsd")
    assert "a.en:1: " in error(write(tmp_path / "a.en", "A", "B"), format="contrawsd")
