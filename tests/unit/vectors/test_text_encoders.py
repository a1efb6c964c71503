"""Folders of sentence encoders, which checkpoints and stores name, are data: nothing in them runs."""

import json

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "own.Module"}]),
        (
            "0_Router/router_config.json",
            {"types": {"query": "own.Module"}, "structure": {"query": ["query"]}},
        ),
        ("0_Router/config.json", {"types": {"query": "own.Module"}}),
        ("0_Router/wordembedding_config.json", {"tokenizer_class": "own.Module"}),
    ],
)
def test_modules_from_elsewhere_are_refused(tmp_path, name, content):
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'victim')!r}, 'w')\nclass Module: pass\n")
    router = {"idx": 0, "name": "0", "path": "0_Router", "type": "sentence_transformers.models.Router"}
    (tmp_path / "modules.json").write_text(json.dumps([router]))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(BadInput, match="expected modules of sentence-transformers, found own.Module"):
        load_text_encoder(str(tmp_path))
    assert not (tmp_path / "victim").exists()
