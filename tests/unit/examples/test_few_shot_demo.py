"""The attribute set that examples/mtcue/few_shot_demo.sh makes of the demo corpus' contrastive sets."""

import json
import runpy
from pathlib import Path

import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus

SCRIPT = Path(__file__).resolve().parents[3] / "examples" / "mtcue" / "attribute_set.py"


@pytest.mark.parametrize(("right", "accuracy"), [(True, 100), (False, 0)])
def test_each_answer_is_judged_as_the_contrastive_set_does(tmp_path, right, accuracy):
    corpus = tmp_path / "corpus"
    write_demo_corpus(corpus, documents=20, evaluation_documents=20, examples=20)
    records = list(runpy.run_path(str(SCRIPT))["attribute_set"](corpus))
    lines = (corpus / "contrastive" / "formality.jsonl").read_text("utf-8").splitlines()
    examples = list(map(json.loads, lines))
    answers = [one["targets"][one["correct"] if right else 1 - one["correct"]][1] for one in examples]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    (tmp_path / "answers").write_text("".join(f"{answer}\n" for answer in answers), "utf-8")
    command = ["control", "attributes", "--hypotheses", tmp_path / "answers", tmp_path / "set.jsonl"]
    assert not main([*map(str, command), "--json", str(tmp_path / "json")])
    found = json.loads((tmp_path / "json").read_text())["attributes"]
    judged = {name: (one["examples"], one["neither"], one["accuracy"]) for name, one in found.items()}
    assert judged == {"formality": (20, 0, accuracy)}
