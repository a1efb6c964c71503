"""The driver of examples/evidence, with a place for tiny runs."""

import pytest

from tests.helpers.evidence_runs import evidence_modules, tiny_place


@pytest.fixture(scope="module")
def evidence():
    with evidence_modules() as modules:
        yield modules


@pytest.fixture
def place(evidence, tmp_path):
    return tiny_place(evidence, tmp_path)
