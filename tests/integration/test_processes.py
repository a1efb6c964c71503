"""``--processes`` and torchrun: the bytes of one process, a run that goes on, one line where one ends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.integration.commands import ENVIRONMENT, read, refused, run

pytestmark = pytest.mark.slow
SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")


@pytest.fixture(scope="module")
def alone(last, text):
    return run("ctxmt", "translate", last, *text, *SEARCH).stdout


def test_two_processes_write_what_one_writes(alone, last, text, tmp_path):
    done = run("ctxmt", "translate", last, *text, *SEARCH, "--processes", 2)
    assert done.stdout == alone
    done = run("ctxmt", "translate", last, *text, *SEARCH, "--processes", 3, "--output", tmp_path / "out")
    assert (tmp_path / "out").read_text() == alone and os.listdir(tmp_path) == ["out"]
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29577",
             "-m", "ctxmt_fairseq", "translate", last, *text, *SEARCH]  # fmt: skip
    done = subprocess.run([*map(str, words)], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == alone, done.stderr


def test_a_contrastive_set_and_a_probe(last, corpus, tmp_path):
    examples = corpus / "demo" / "contrastive" / "formality.jsonl"
    for number in (1, 2):
        share = ("--processes", number, "--json")
        more = (tmp_path / f"c{number}", "--examples", tmp_path / f"e{number}")
        run("ctxmt", "contrast", last, examples, "--cpu", *share, *more)
        probe = (last, corpus / "test2", "--contexts", "random", "--samples", 100)
        run("ctxmt", "probe", *probe, *SEARCH, *share, tmp_path / f"p{number}")
    assert read(tmp_path / "e1") == read(tmp_path / "e2")
    for kind in "cp":
        found = [json.loads((tmp_path / f"{kind}{number}").read_text()) for number in (1, 2)]
        for each in found:
            each.pop("made_by", None)
        assert found[0] == found[1]
    assert sorted(os.listdir(tmp_path)) == ["c1", "c2", "e1", "e2", "p1", "p2"]


def test_bad_input_is_one_line(last, tmp_path):
    line = refused("ctxmt", "translate", last, tmp_path / "none", "--processes", 2)
    assert line == f"ctxmt: error: {tmp_path}/none: no such file"
    line = refused("ctxmt", "translate", last, "-", "--processes", 2, input="a b\n")
    assert line == "ctxmt: error: - is standard input, which only one process can read: give a file"


def test_a_process_that_dies_ends_all_and_the_run_goes_on(alone, last, text, tmp_path):
    output = tmp_path / "out"
    words = [sys.executable, "-m", "ctxmt_fairseq", "translate", last, *text, *SEARCH, "--output", output]
    words += ["--documents-at-once", 1, "--processes", 2]
    started = subprocess.Popen([*map(str, words)], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out.process1.partial"
    while not (journal.exists() and journal.read_text().count("\n") > 3) and started.poll() is None:
        time.sleep(0.01)
    children = subprocess.run(
        ["pgrep", "-P", str(started.pid)], capture_output=True, text=True
    ).stdout.split()
    os.kill(int(children[1]), signal.SIGKILL)
    assert started.wait() != 0 and not output.exists()
    (line,) = started.stderr.read().splitlines()[-1:]
    assert line.startswith("ctxmt: error: ")
    kept = len(read(journal))
    assert kept > 3
    subprocess.run([*map(str, words)], env=ENVIRONMENT, check=True, capture_output=True)
    assert output.read_text() == alone and os.listdir(tmp_path) == ["out"]


def folder_bytes(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_whole_evaluation(last, corpus, tmp_path):
    for number in (1, 2):
        out = tmp_path / f"run{number}"
        words = ("ctxmt", "evaluate", last, corpus / "test2", corpus / "demo" / "contrastive" / "deixis.json")
        more = ("--lenpen", "opt", "--lenpens", "0.5 1", "--dev", corpus / "test1", "--out", out)
        how = ("--contexts", "trained", "random", "--processes", number)
        run(*words, *SEARCH, *more, *how)
        (tmp_path / "found").mkdir(exist_ok=True)
        os.rename(out, tmp_path / "found" / f"{number}")
    one, two = (folder_bytes(tmp_path / "found" / number) for number in "12")
    assert one.keys() == two.keys() and len(one) > 10
    for files in (one, two):
        results = json.loads(files.pop("results.json"))
        results.pop("made_by")
        files["results"] = results
    assert one == two


def test_an_evaluation_goes_on_after_a_process_has_died(last, corpus, tmp_path):
    words = [sys.executable, "-m", "ctxmt_fairseq", "evaluate", last, corpus / "test2", *SEARCH]
    words += ["--documents-at-once", 1, "--out", tmp_path / "out", "--processes", 2]
    started = subprocess.Popen([*map(str, words)], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out" / "prefix.hyp.process1.partial"
    while not (journal.exists() and journal.read_text().count("\n") > 3) and started.poll() is None:
        time.sleep(0.01)
    found = subprocess.run(["pgrep", "-P", str(started.pid)], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[1]), signal.SIGKILL)
    assert started.wait() != 0
    assert started.stderr.read().splitlines()[-1].startswith("ctxmt: error: ")
    kept = len(read(journal))
    assert kept > 3 and not (tmp_path / "out" / "results.json").exists()
    subprocess.run([*map(str, words)], env=ENVIRONMENT, check=True, capture_output=True)
    assert not [*(tmp_path / "out").glob("*process*")]
    run("ctxmt", "translate", last, corpus / "test2.en", "--docids", corpus / "test2.docids", *SEARCH,
        "--output", tmp_path / "alone")  # fmt: skip
    assert read(tmp_path / "out" / "prefix.hyp") == read(tmp_path / "alone")


def test_a_context_store_of_several_chunks(tmp_path):
    lines = [f"word {number}" for number in range(5000)]
    for language in ("en", "fr"):
        (tmp_path / f"t.{language}").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "t.docids").write_text("".join(f"{number // 10}\n" for number in range(5000)))
    languages = ("--source-lang", "en", "--target-lang", "fr", "--no-subwords")
    run("ctxmt", "preprocess", *languages, "--train", tmp_path / "t", "--out", tmp_path / "data")
    stores = []
    for number in (1, 3):
        store = tmp_path / f"store{number}"
        words = ("--train", tmp_path / "t", "--encoder", "discrete", "--out", store, "--processes", number)
        done = run("ctxmt", "embed", tmp_path / "data", *words)
        stores.append(folder_bytes(store))
        assert "5001 distinct texts of 5000 contexts" in done.stdout
    assert stores[0] == stores[1]
    refused("ctxmt", "embed", tmp_path / "data", "--train", tmp_path / "none", *words[2:])
