"""``ctxmt analyse contexts``: the maps of a real checkpoint's contexts."""

import csv
import json
import sys

import numpy as np
import pytest

from tests.integration.commands import TINY, TRAINING, USER_DIR, run

TEXTS = [
    ("Formal conversation", "formal", "seen"),
    ("Informal chit-chat", "informal", "seen"),
    ("A court hearing", "formal", "unseen"),
    ("A party with friends", "informal", "unseen"),
    ("Talks, long ones", "formal", "unseen"),
]


@pytest.fixture(scope="module")
def mtcue(once, data, corpus):
    """A tiny MTCue after two updates, with discrete vectors and without previous sentences."""

    def build(folder):
        demo = corpus / "demo"
        text = ("--train", demo / "train", "--valid", demo / "valid", "--encoder", "discrete")
        run("ctxmt", "embed", data, *text, "--out", folder / "contexts")
        run(
            *("fairseq-train", data, "--user-dir", USER_DIR, "--task", "metadata_context", *TRAINING, *TINY),
            *("--arch", "mtcue_transformer", "--context-store", folder / "contexts", "--max-tokens", 1000),
            *("--save-dir", folder, "--max-update", 2, "--no-epoch-checkpoints", "--disable-validation"),
        )

    return once("analysed_mtcue", build) / "checkpoint_last.pt"


def here(*arguments):
    """The command in this process, which takes a fraction of the time."""
    from ctxmt_fairseq.cli.main import main

    main([str(argument) for argument in ("analyse", "contexts", *arguments)])


def table(path):
    """Head and rows of a csv file."""
    with open(path, encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    return head, rows


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in TEXTS), encoding="utf-8")
    return path


def test_texts_of_a_file(mtcue, texts, tmp_path, monkeypatch, capsys, refusal):
    monkeypatch.chdir(tmp_path)
    here(mtcue, "--texts", texts, "--cpu")
    printed = capsys.readouterr().out
    assert printed.startswith("5 texts, 384 to 32 dimensions\n")
    assert printed.endswith("\n\ncontexts.png\ncontexts.csv\ncontexts.json\n")
    assert "value: share of texts like their nearest" in printed
    head, rows = table(tmp_path / "contexts.csv")
    assert head == ["text", "value", "second value", "x before", "y before", "x after", "y after"]
    assert [tuple(row[:3]) for row in rows] == TEXTS
    assert np.isfinite(np.array([row[3:] for row in rows], float)).all()
    assert (tmp_path / "contexts.png").read_bytes().startswith(b"\x89PNG")
    separations = json.loads((tmp_path / "contexts.json").read_text())["separations"]
    assert [each["attribute"] for each in separations] == ["value"] * 2 + ["second value"] * 2

    before = sorted(tmp_path.iterdir())
    where = ("--texts", texts, "--cpu", "--output", tmp_path / "other.png")
    line = refusal(here, mtcue, *where, "--sentences")
    assert line == "ctxmt: error: --sentences: mtcue_transformer was trained without previous sentences"
    assert refusal(here, mtcue, *where, "--previous", texts).endswith("trained without previous sentences")
    texts.write_text("One\nTwo\n")
    assert refusal(here, mtcue, *where) == "ctxmt: error: expected at least 4 texts for a map, found 2"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_process_of_its_own_makes_the_same_files_without_a_warning(mtcue, texts, tmp_path):
    done = run("ctxmt", "analyse", "contexts", mtcue, "--texts", texts, "--cpu", cwd=tmp_path)
    assert done.stderr == ""
    (tmp_path / "again").mkdir()
    here(mtcue, "--texts", texts, "--cpu", "--output", tmp_path / "again" / "contexts.png")
    for kind in ("png", "csv", "json"):
        again = tmp_path / "again" / f"contexts.{kind}"
        assert again.read_bytes() == (tmp_path / f"contexts.{kind}").read_bytes()


def test_metadata_of_a_split_with_scores(mtcue, tmp_path, capsys):
    output = tmp_path / "split.png"
    split = ("--split", "valid", "--context-store", mtcue.parent / "contexts")
    here(mtcue, *split, "--cpu", "--output", output)
    assert capsys.readouterr().out.startswith("10 texts, ")
    head, rows = table(output.with_suffix(".csv"))
    fields = {row[0]: row[1] for row in rows}
    assert head[1] == "field" and set(fields.values()) == {"formality", "speaker", "addressee"}
    assert fields["Formal conversation"] == "formality"

    prompts = [*list(fields)[:6], "Something else"]
    runs = [
        {"wanted": "informal", "prompt": prompt, "right": number, "wrong": 6 - number}
        for number, prompt in enumerate(prompts)
    ]
    scores = tmp_path / "control.json"
    scores.write_text(json.dumps({"runs": runs}))
    here(mtcue, *split, "--scores", scores, "--cpu", "--output", output)
    assert capsys.readouterr().out.startswith("6 of 10 texts have a score\n")
    head, rows = table(output.with_suffix(".csv"))
    assert head[1:3] == ["formal translations (%)", "field"]
    assert [row[0] for row in rows] == prompts[:6] and [row[2] for row in rows] == list(fields.values())[:6]
    assert [float(row[1]) for row in rows] == pytest.approx([100 * (6 - n) / 6 for n in range(6)])
    here(mtcue, "--scores", scores, "--cpu", "--output", output)
    assert [row[0] for row in table(output.with_suffix(".csv"))[1]] == prompts
    assert "Spearman's rho" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --texts, --split or --scores"),
        (("--texts", "a", "--split", "valid"), "give --texts, --split or --scores"),
        (("--texts", "nowhere"), "nowhere: no such file"),
        (("--scores", "nowhere"), "nowhere: no such file"),
        (("--split", "valid", "--seed", "-1"), "argument --seed: expected a whole number from 0 to"),
        (("--split", "valid", "--output", "map.svg"), "map.svg: the name of a picture must"),
        (("--split", "valid", "--output", "no/map.png"), "no/map.png: cannot be written: no such folder"),
        (("--split", "valid", "--previous", "a", "--sentences"), "leave out --sentences and --scores"),
        (("--split", "valid"), "no-model: "),
    ],
)
def test_bad_options_are_refused_before_the_model_is_loaded(tmp_path, monkeypatch, refusal, options, message):
    monkeypatch.chdir(tmp_path)
    assert refusal(here, "no-model", *options).startswith(f"ctxmt: error: {message}")


def test_without_the_extra_there_is_no_map(monkeypatch, refusal):
    monkeypatch.setitem(sys.modules, "umap", None)
    assert 'pip install ".[plots]" in the checkout' in refusal(here, "no-model", "--split", "valid")
