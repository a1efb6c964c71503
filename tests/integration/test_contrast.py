"""``ctxmt contrast`` through the shell."""

import json

from tests.integration.commands import refused, run


def test_a_model_without_context_is_right_in_exactly_half_of_the_twins(corpus, sentence_level, tmp_path):
    sets = [
        corpus / "demo" / "contrastive" / name for name in ("pronoun-distance-1", "lexical-cohesion.json")
    ]
    files = {name: tmp_path / name for name in ("report", "examples")}
    done = run(
        *("ctxmt", "contrast", sentence_level / "checkpoint_last.pt", *sets, "--cpu"),
        *("--json", files["report"], "--examples", files["examples"]),
    )
    assert "%|" not in done.stderr  # no progress bar where nobody looks
    reports = json.loads(files["report"].read_text())
    examples = [json.loads(line) for line in files["examples"].read_text().splitlines()]
    assert [report["name"] for report in reports] == ["pronoun-distance-1", "lexical-cohesion"]
    for report in reports:
        assert f"{report['name']} ({report['convention']})" in done.stdout
        assert len(report["conventions"]) == 4
        for numbers in report["conventions"].values():
            assert (numbers["accuracy"], numbers["ties"]) == (50.0, 0)
    assert len(examples) == 8 and sum(example["chosen"] == example["correct"] for example in examples) == 4


def test_a_missing_set_is_refused(sentence_level, tmp_path):
    model = sentence_level / "checkpoint_last.pt"
    assert "nowhere" in refused("ctxmt", "contrast", model, tmp_path / "nowhere", "--cpu")
