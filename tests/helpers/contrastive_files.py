"""Files of contrastive sets, and the message with which one is refused."""

import json

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_set


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def error(path, **arguments):
    with pytest.raises(BadInput) as caught:
        read_contrastive_set(path, **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def lexical():
    """A set in the format of Bawden et al."""
    pair = {"correct": ["La rive.", "Au bord !"], "incorrect": ["La banque.", "Au guichet !"]}
    return {"3": {"type": "disambig", "examples": [{"src": ["The river.", "To the bank!"], "trg": pair}]}}


def voita_record():
    """A record in the format of Voita et al."""
    return {
        "src": "Sit down . _eos You look tired .",
        "dst": ["Садись . _eos Вы устали .", "Садись . _eos Ты устал ."],
        "true_ind": 1,
        "ctx_dist": 1,
    }
