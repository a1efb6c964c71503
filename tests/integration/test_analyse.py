"""``ctxmt analyse``: a picture and its numbers, from real checkpoints."""

import json

import pytest

from tests.integration.commands import TINY, TRAINING, USER_DIR, read, refused, run

CONTEXT = "The cat was asleep."
SENTENCE = "Then it left, I think."


def trained(once, data, name, *options):
    """The checkpoint of a tiny model after two updates."""

    def build(folder):
        run(
            *("fairseq-train", data, "--user-dir", USER_DIR, "--task", "multi_source", *TINY, *TRAINING),
            *("--source-context", 1, "--max-tokens", 1000, "--save-dir", folder, "--max-update", 2),
            *("--no-epoch-checkpoints", "--disable-validation", *options),
        )

    return once(name, build) / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def grouping(once, data):
    return trained(once, data, "grouping", "--arch", "caching_transformer_tiny", "--shortening", "group")


@pytest.fixture(scope="module")
def gated(once, data):
    return trained(once, data, "gated", "--arch", "gated_context_transformer_tiny")


def here(*arguments):
    """The command in this process, which takes a fraction of the time."""
    from ctxmt_fairseq.cli.main import main

    main([str(argument) for argument in arguments])


def files(folder):
    """The numbers of the json file, after a look at the two others."""
    (picture,) = folder.glob("*.png")
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 5000
    numbers = json.loads(picture.with_suffix(".json").read_text(encoding="utf-8"))
    table = [line.split("\t") for line in read(picture.with_suffix(".tsv"))]
    assert len(table) == 1 + len(numbers["values"]) and len(list(folder.iterdir())) == 3
    for line, values in zip(table[1:], numbers["values"], strict=True):
        assert [float(cell) for cell in line[1:]] == pytest.approx(values, abs=1e-6)
    return numbers


def test_groups(grouping, tmp_path):
    done = run("ctxmt", "analyse", "groups", grouping, "--sentence", SENTENCE, "--cpu", cwd=tmp_path)
    numbers = files(tmp_path)
    tokens = numbers["token"]
    assert "".join(tokens[:-1]).replace("▁", " ").strip() == SENTENCE and tokens[-1] == "<eos>"
    assert numbers["group"] == [str(group) for group in range(1, 10)]
    assert [sum(row) for row in numbers["values"]] == pytest.approx([1] * len(tokens))
    assert done.stdout.startswith(f"{len(tokens)} tokens in ") and "groups.png" in done.stdout
    assert done.stderr == ""


def test_groups_take_the_options_of_the_other_analyses(grouping, tmp_path, refusal):
    document = tmp_path / "document"
    document.write_text(f"{CONTEXT}\n{SENTENCE}\n")
    analyse = ("analyse", "groups", grouping, "--cpu", "--output")
    for name, text in (
        ("alone", ("--sentence", SENTENCE)),
        ("given", ("--context", CONTEXT, "--sentence", SENTENCE)),
        ("line", ("--document", document, "--line", 2)),
    ):
        (tmp_path / name).mkdir()
        here(*analyse, tmp_path / name / "groups.png", *text)
    assert files(tmp_path / "alone") == files(tmp_path / "given") == files(tmp_path / "line")
    assert "--metadata needs a model of the task metadata_context" in refusal(
        here, *analyse, tmp_path / "groups.png", "--sentence", SENTENCE, "--metadata", "A film"
    )


def test_attention_of_text_and_of_a_line_is_the_same(gated, tmp_path, capsys):
    document = tmp_path / "document"
    document.write_text(f"Something else.\n\n{CONTEXT}\n{SENTENCE}\nAnd more.\n")
    for name in ("given", "line"):
        (tmp_path / name).mkdir()
    text = ("--context", "Too far.", "--context", CONTEXT, "--sentence", SENTENCE)
    analyse = ("analyse", "attention", gated, "--cpu", "--output")
    done = run("ctxmt", *analyse, tmp_path / "given" / "map.png", *text)
    assert "useful, mean over the words: 0." in done.stdout and done.stderr == ""
    here(*analyse, tmp_path / "line" / "map.png", "--document", document, "--line", 4)
    numbers = files(tmp_path / "given")
    assert numbers == files(tmp_path / "line")
    assert capsys.readouterr().out == done.stdout.replace("/given/", "/line/")
    assert numbers["context"][0] == "<bos>" and numbers["context"][-1] == "<eos>"
    assert numbers["sections"] == [{"name": "source −1", "columns": len(numbers["context"])}]
    assert [sum(row) for row in numbers["values"]] == pytest.approx([1] * len(numbers["source"]))
    assert all(0 < mass < 1 for mass in numbers["useful"])


def test_decoder_attention_to_groups_with_its_own_translation(grouping, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here("analyse", "attention", grouping, "--context", CONTEXT, "--sentence", SENTENCE, "--cpu")
    numbers = files(tmp_path)
    assert numbers["translation"][-1] == "<eos>" and numbers["useful"] is None
    assert numbers["sections"] == [{"name": name, "columns": 9} for name in ("source −1", "current")]


def test_models_that_do_not_fit_are_refused(gated, source_only, tmp_path):
    output = ("--sentence", SENTENCE, "--output", tmp_path / "map.png", "--cpu")
    line = refused("ctxmt", "analyse", "groups", gated, *output)
    assert "expected a caching_transformer with --shortening group or select" in line
    line = refused("ctxmt", "analyse", "attention", source_only / "checkpoint_last.pt", *output)
    assert "the sentence has no context that the model reads" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --sentence or --document"),
        (("--sentence", "a", "--document", "b"), "give --sentence or --document"),
        (("--sentence", "a", "--line", "1"), "--line needs --document"),
        (("--document", "a", "--context", "b"), "--context goes with --sentence"),
        (("--document", "nowhere"), "nowhere: no such file"),
        (("--sentence", "a", "--output", "map.svg"), "map.svg: the name of a picture must"),
        (("--sentence", "a", "--output", "no/map.png"), "no/map.png: cannot be written: no such folder"),
    ],
)
def test_bad_options_are_refused_before_the_model_is_loaded(tmp_path, monkeypatch, refusal, options, message):
    monkeypatch.chdir(tmp_path)
    assert refusal(here, "analyse", "attention", "no-model", *options).startswith(f"ctxmt: error: {message}")
