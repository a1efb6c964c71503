"""ctxmt embed as a user runs it: results, refusals, kill -9, and memory."""

import json
import os
import random
import signal
import subprocess
import time

import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.vectors.context_store import HEADER, ContextStore, read_header
from tests.helpers.context_stores import contents, data_folder, make_store, write_lines, write_split
from tests.helpers.process import in_new_process, resident
from tests.integration.commands import ENVIRONMENT, command, read, refused, run

KILLS = 4
DISCRETE = ("--encoder", "discrete")


@pytest.fixture
def demo(corpus, tmp_path):
    """Arguments that embed a demo corpus into a folder of the test's own."""
    text = corpus / "demo"
    return (
        "embed",
        corpus / "data",
        "--train",
        text / "train",
        "--valid",
        text / "valid",
        "--out",
        tmp_path / "s",
    )


def test_results_are_a_table_and_json(demo, corpus, tmp_path):
    done = run("ctxmt", *demo, *DISCRETE, "--json", tmp_path / "report.json")
    assert "%|" not in done.stderr and "Traceback" not in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    store = ContextStore.open(tmp_path / "s")
    lines = read(corpus / "demo" / "train.en")
    contexts = store.split("train", len(lines))
    assert contexts.texts(contexts.sentences) == lines
    assert report["distinct"] == store.header.count
    rows = [line.split() for line in done.stdout.splitlines()]
    train = report["splits"]["train"]
    assert rows[2] == ["train", str(len(lines)), str(train["contexts"]), str(train["new"])]
    assert f"{store.header.count} distinct texts of {report['contexts']} contexts" in done.stdout
    description = json.loads((corpus / "data" / "ctxmt.json").read_text())
    for mine, name in (("digest", "source_digest"), ("metadata_digest", "metadata_digest")):
        digests = {split: part[mine] for split, part in store.header.splits.items()}
        assert digests == {split: description["splits"][split][name] for split in digests}
    done = run("ctxmt", *demo, *DISCRETE)
    assert done.stdout.splitlines()[2].split()[-1] == "0"  # nothing was new


def test_a_dry_run_shows_the_texts_and_writes_nothing(tmp_path):
    prefix = write_split(tmp_path, "train", ["It  rains.", "Yes."], [{"rated": "R", "genre": "N/A"}, {}])
    done = run("ctxmt", "embed", data_folder(tmp_path), "--train", prefix, "--dry-run", 1)
    assert done.stdout.splitlines() == [
        "train, line 1 of the text",
        "  sentence  It rains.",
        "  rated     PG rating: R",
        "  genre     (nothing)",
        "",
        "split  field  sentences  with a value  that says nothing",
        "--------------------------------------------------------",
        "train  rated          2             1                  0",
        "train  genre          2             1                  1",
        "",
        "4 distinct texts of 3; nothing was written",
    ]
    assert not (data_folder(tmp_path) / "contexts").exists()


def test_metadata_alone_in_half_precision(tmp_path):
    prefix = write_split(tmp_path, "train", ["It rains.", "Yes."], [{"genre": "Drama"}, {}])
    options = ("--no-sentences", "--dtype", "float16", *DISCRETE)
    main([*map(str, ("embed", data_folder(tmp_path), "--train", prefix)), *options])
    store = ContextStore.open(data_folder(tmp_path) / "contexts")
    assert (store.header.count, store.vectors.dtype) == (2, "float16")  # one is that of no text


def test_another_encoder_is_one_line_and_changes_nothing(demo, tmp_path):
    run("ctxmt", *demo, *DISCRETE)
    before = contents(tmp_path / "s")
    assert "the context store there has encoder discrete, not minilm" in refused("ctxmt", *demo)
    assert contents(tmp_path / "s") == before


@pytest.mark.parametrize(
    "options, message",
    [
        (["--fields", "plot"], "--fields plot: the metadata has no such field, only formality"),
        (["--batch-size", "0"], "argument --batch-size: expected a whole number of at least 1, found '0'"),
        (["--dry-run", "-1"], "argument --dry-run: expected a whole number of at least 0, found '-1'"),
        (["--test", "nothing"], "nothing.en: no such file"),
        (["--encoder", ""], "argument --encoder: expected a name, found nothing"),
        (["--encoder", "."], "expected a sentence-transformers model (name or folder)"),
        (["--json", "no/such/folder", "--dry-run"], "no/such/folder: cannot be written"),
    ],
)
def test_refusals_are_one_line(demo, options, message, tmp_path, refusal, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(main, [*map(str, demo), *DISCRETE, *options])
    assert not (tmp_path / "s").exists()


def many_sentences(root, count):
    """A split of distinct sentences, whose metadata change every 100 lines; returns its prefix."""
    prefix = write_split(root, "train", [f"The sentence number {line} " * 8 for line in range(count)], [])
    os.remove(f"{prefix}.meta.jsonl")
    write_lines(f"{prefix}.meta.plot", [f"The plot of film {line // 100}" for line in range(count)])
    return prefix


@pytest.mark.slow  # tests/unit/corpora/test_store_interruption.py has every moment, without a process
def test_killed_at_random_moments_it_ends_like_an_uninterrupted_run(tmp_path):
    prefix = many_sentences(tmp_path, 30_000)
    arguments = ["embed", data_folder(tmp_path), "--train", prefix, *DISCRETE]
    start = time.perf_counter()
    folder, _ = make_store(tmp_path, "train", out="whole")
    duration = time.perf_counter() - start
    killed, rng, counts = tmp_path / "killed", random.Random(1), []
    for _ in range(KILLS):
        process = subprocess.Popen(
            command("ctxmt", *arguments, "--out", killed), env=ENVIRONMENT, stderr=subprocess.PIPE
        )
        while not (killed / ".lookup.sqlite").exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, duration / KILLS))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
        process.stderr.close()
        counts.append(read_header(killed).count if (killed / HEADER).exists() else 0)
        if counts[-1]:
            assert len(ContextStore.open(killed).vectors) == counts[-1]
    assert counts == sorted(counts) and 0 < counts[-1]
    run("ctxmt", *arguments, "--out", killed)
    assert contents(killed) == contents(folder)


def _peak_of_embedding(root):
    """MiB that embedding takes at most, in this process."""
    before = resident(peak=False)
    make_store(root, "train")
    return resident(peak=True) - before


@pytest.mark.slow
def test_memory_does_not_grow_with_the_contexts(tmp_path):
    peaks = []
    for count in (20_000, 100_000):
        root = tmp_path / str(count)
        root.mkdir()
        many_sentences(root, count)
        peaks.append(in_new_process(_peak_of_embedding, root))
    assert 0 < peaks[1] < peaks[0] + 15, peaks  # the vectors would be 117 MiB more, the texts 23
