"""One version everywhere, with a date."""

import re
from pathlib import Path

import ctxmt_fairseq

ROOT = Path(__file__).parents[2]


def test_changelog_and_citation_name_the_version():
    version, date = re.search(
        r"^## (\S+) \((\d{4}-\d\d-\d\d)", (ROOT / "CHANGELOG.md").read_text(), re.M
    ).groups()
    citation = (ROOT / "CITATION.cff").read_text()
    assert (
        version == ctxmt_fairseq.__version__ and f"\nversion: {version}\ndate-released: {date}\n" in citation
    )
