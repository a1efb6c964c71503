"""Models of every task, as Python loads them, and a text."""

import json

import pytest

from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import LENGTHS, TASKS, checkpoint, write_text
from tests.unit.evaluation.test_probe import read

SEARCH = {"beam": 3, "max_len_b": 8, "device": "cpu"}


@pytest.fixture(scope="package")
def models(tmp_path_factory):
    """task -> checkpoint."""
    root = tmp_path_factory.mktemp("models")
    return {task: checkpoint(root / task, task) for task in TASKS}


@pytest.fixture(scope="package")
def loaded(models):
    """task -> translator."""
    return {task: Translator.load(path, **SEARCH) for task, path in models.items()}


@pytest.fixture(scope="package")
def text(tmp_path_factory):
    """A text's prefix, and its sources, references and metadata as Python has them."""
    prefix = write_text(tmp_path_factory.mktemp("text"))
    columns = [read(prefix, suffix) for suffix in ("en", "fr", "meta.jsonl")]
    columns[2] = [json.loads(line) for line in columns[2]]
    return prefix, *(nested(column) for column in columns)


def nested(lines, lengths=LENGTHS):
    rest = iter(lines)
    return [[next(rest) for _ in range(length)] for length in lengths]
