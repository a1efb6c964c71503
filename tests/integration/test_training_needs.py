"""``fairseq-train`` with weights of words and repeated examples."""

import json
import os
import re
import shutil

import pytest
import torch

from ctxmt_fairseq.cli.main import main
from tests.integration.commands import TASK, TINY, TRAINING, losses, read, refused, run

CRITERION = ("--criterion", "context_discounted_label_smoothed_cross_entropy")
TRAIN = "valid"  # which is short


@pytest.fixture
def folder(data, corpus, tmp_path):
    """A data folder of its own with tags: *il* and *elle* are pronouns, and the text of the split."""
    shutil.copytree(data, tmp_path / "data")
    lines = read(corpus / f"demo/{TRAIN}.fr")
    tags = [
        [["pronoun"] if word.lower() in ("il", "elle") else [] for word in line.split()] for line in lines
    ]
    path = tmp_path / f"data/{TRAIN}.en-fr.tags.jsonl"
    path.write_text("".join(json.dumps({"tags": line}) + "\n" for line in tags))
    return tmp_path / "data"


def arguments(folder, run_folder, *options):
    return (
        *("fairseq-train", folder, *TASK, "--arch", "transformer", *TINY, *TRAINING, *CRITERION),
        *("--source-context", 1, "--target-context", 1, "--train-subset", TRAIN, "--disable-validation"),
        *("--max-tokens", 400, "--max-update", 8, "--save-dir", run_folder, *options),
    )


def trained(folder, run_folder, *options):
    """The log and the parameters of a training."""
    log = run(*arguments(folder, run_folder, *options)).stdout
    return log, torch.load(run_folder / "checkpoint_last.pt", weights_only=False)["model"]


def weights_logged(log):
    return [float(value) for value in re.findall(r'"token_weight": "([0-9.]+)"', log)]


def test_weight_one_everywhere_trains_the_same_model(folder, corpus, tmp_path):
    text = read(corpus / f"demo/{TRAIN}.fr")
    (tmp_path / "ones").write_text("".join(" ".join("1" for _ in line.split()) + "\n" for line in text))
    plain, expected = trained(folder, tmp_path / "plain")
    log, found = trained(folder, tmp_path / "weighted", "--token-weights", tmp_path / "ones")
    assert losses(log) == losses(plain) and len(losses(log)) == 8 and not weights_logged(plain)
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    assert weights_logged(log) and {*weights_logged(log)} == {1.0}


def test_tags_weigh_words_and_repeat_examples(folder, tmp_path):
    log, _ = trained(folder, tmp_path / "run", "--token-weights", "tags", "--upsample", "pronoun=2.5")
    tags = [json.loads(line)["tags"] for line in read(folder / f"{TRAIN}.en-fr.tags.jsonl")]
    tagged = sum(["pronoun"] in line for line in tags)
    examples = len(tags) + 1.5 * tagged
    assert f"--upsample: pronoun in {tagged} of {len(tags)} lines" in log and tagged > 5
    assert f"an epoch has {examples:.0f} examples instead of {len(tags)}" in log
    assert f"0 of {len(tags)} lines are left out for unknown subwords, 0 for other words" in log
    assert max(weights_logged(log)) > 1 and all(1 <= weight < 5 for weight in weights_logged(log))


def test_what_probe_writes_weighs_words(s2to2, folder, corpus, tmp_path):
    """From a trained model to the lines it needs context for, and to a training with these weights."""
    words = folder / f"{TRAIN}.en-fr.words.jsonl"
    current = folder / f"{TRAIN}.en-fr.current"
    text = str(corpus / f"demo/{TRAIN}")
    main(
        ["probe", str(s2to2 / "checkpoint_last.pt"), text, "--cpu", "--select", "40", "--select-output"]
        + [str(current), "--words", str(words)]
    )
    assert read(current).count("1") == 40
    log, _ = trained(folder, tmp_path / "run", "--token-weights", "cxmi", "--need-weight", "9")
    lines = [json.loads(line) for line in read(words)]
    bits = [min(max(value, 0), 1) for line in lines for value in line["bits"]]
    assert sum(bits) > 0 and all(1 <= weight < 9 for weight in weights_logged(log))
    epochs = [json.loads(record) for record in re.findall(r"\| train \| (\{.*\})", log)]
    updates = float(epochs[0]["train_num_updates"])
    assert float(epochs[0]["train_bsz"]) * updates == pytest.approx(40, abs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--token-weights", "cxmi"), "words.jsonl: no such file; --token-weights cxmi expects there what"),
        (("--token-weights", "pronoun=2000"), "--token-weights pronoun=2000: expected TAG=W,..., W from 0"),
        (
            ("--token-weights", "x=2"),
            "--token-weights x: no line has this tag; the most frequent ones: pronoun",
        ),
        (("--upsample", "x=2"), "--upsample x: no line has this tag; the most frequent ones: pronoun"),
    ],
)
def test_what_cannot_be_had_is_refused(folder, tmp_path, options, message):
    assert message in refused(*arguments(folder, tmp_path / "run", *options))


@pytest.mark.parametrize("option", ["--upsample=pronoun=3", "--token-weights=tags"])
def test_tags_of_other_lines_are_refused(folder, tmp_path, option):
    path = folder / f"{TRAIN}.en-fr.tags.jsonl"
    *lines, last = path.read_text().splitlines(keepends=True)
    path.write_text("".join([last, *lines]))
    message = refused(*arguments(folder, tmp_path / "run", option))
    assert re.search(r"tags\.jsonl:\d+: expected \d+ words, as the subword model reads them, found", message)


def test_what_another_folder_lacks_is_refused_before_the_first_epoch(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    path = other / f"{TRAIN}.en-fr.tags.jsonl"
    path.write_text(path.read_text().split("\n", 1)[1])
    both = f"{folder}{os.pathsep}{other}"
    assert str(path) in refused(*arguments(both, tmp_path / "run", "--token-weights", "tags"))
    assert not [*(tmp_path / "run").glob("*.pt")]
