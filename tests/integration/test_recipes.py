"""The recipes under examples/: their options, and the exact training commands that they run."""

import os
import shutil
import signal
import subprocess
import time

import evidence.systems
import pytest
import results
from recipe_running import run_script

from ctxmt_fairseq.checkpoints.averaging import Checkpoint
from tests.integration.recipes import (
    EXAMPLES,
    FOCUSED,
    PAPERS,
    THESIS,
    bash,
    program,
    recipes,
    start,
)

SCRIPTS = sorted(script for folder in [*PAPERS, EXAMPLES / "evidence"] for script in folder.glob("*.sh"))
TABLES = [recipes.Recipe(paper) for paper in PAPERS]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.name}")
def test_scripts(script):
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", "--exclude=SC1091", script]).returncode == 0
    text = script.read_text()
    assert "/home/" not in text and "/tmp" not in text
    assert "\nset -euo pipefail\n" in text and os.access(script, os.X_OK)
    done = bash(script, "--help")
    assert done.returncode == 0 and done.stdout.lower().startswith("usage: ") and "default: " in done.stdout


def test_scripts_are_thin():
    """Logic is Python; the scripts show what is run."""
    assert sum(len(script.read_text().splitlines()) for script in EXAMPLES.rglob("*.sh")) <= 300


@pytest.mark.parametrize("recipe", TABLES, ids=lambda recipe: recipe.name)
def test_tables_read_like_the_paper(recipe):
    """Every word of a table means something: no option without a use, no group of parts without a row."""
    table = recipe.table
    for rows in getattr(table, "PARTS", {}):
        assert any(recipes._fits(row, rows) for row in table.ROWS), rows
    for profiles, _, _ in getattr(table, "IN_PROFILE", []):
        assert set(profiles.split()) <= set(recipe.profiles)
    known = {*recipe.everywhere().options, *recipe.options, "batch-tokens", "architecture"}
    for row in (text for plan in (getattr(table, "SMALL", {}), table.SMOKE) for text in plan.values()):
        for name in row.split():
            assert recipe.words(name, "small").options.keys() <= known
    assert set(table.EVIDENCE.split()) <= set(evidence.systems.SYSTEMS)


def test_help_names_the_defaults_of_the_paper(capsys, monkeypatch):
    def shown():
        with pytest.raises(SystemExit) as ended:
            start(FOCUSED / "train.sh", "--help")
        assert ended.value.code == 0
        return " ".join(capsys.readouterr().out.split())

    assert "--patience X validations without a better loss until it ends (default: 12)" in shown()
    monkeypatch.setenv("PRECISION", "0.25")
    assert "(default: 0.25)" in shown()


def test_names_that_contradict_are_refused():
    recipe = recipes.Recipe("thesis")
    with pytest.raises(recipes.BadRecipe, match=r"expected one of \+gate, \+gate=zhang"):
        recipe.row("CE+gate+gate=zhang")
    assert recipe.row("DE+shared+token").flags["--context-encoder"] == ["shared-token"]


def test_a_table_lies_in_any_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "recipe.py").write_text("ROWS = {'one': ''}")
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", "./mine", tmp_path / "mine", "../" + tmp_path.name + "/mine"):
        assert recipes.Recipe(folder).name == "mine"
    assert recipes.main(["prepare", "mine", "train", "valid", "data", "--dry-run"]) == 0
    assert "--vocab-size 32000 " in capsys.readouterr().out
    assert recipes.Recipe("thesis").name == "thesis"
    for folder in ("./thesis", "none"):
        assert recipes.main(["train", folder, "one", "data", "out"]) == 2
        assert capsys.readouterr().err == f"error: {folder}: expected a folder with a recipe.py\n"


def test_values_with_braces_and_blanks_are_taken_as_they_are():
    command = recipes.Recipe("thesis").command(
        "CE+pretrain", "data {x}", "run's/{K} out", gpus="0", sentence_model="a {data}"
    )
    assert command[1] == "data {x}"
    assert command[command.index("--save-dir") + 1] == "run's/{K} out/checkpoints"
    assert command[command.index("--sentence-checkpoint") + 1] == "a {data}/checkpoints/checkpoint_best.pt"


def trained(folder, lines, *options):
    """A script of a paper, with a program of these lines in the place of fairseq-train."""
    program(folder, "fairseq-train", lines)
    (folder / "data").mkdir(exist_ok=True)
    return bash(THESIS / "train.sh", "DE", "data", "a run", "--gpus", 0, *options, path=folder, cwd=folder)


def test_training_in_a_shell(tmp_path):
    done = trained(tmp_path, 'echo "$OUT$#"; echo problem >&2; exit 3', "--", "--two words")
    assert done.returncode == 3
    assert done.stdout.endswith("problem\n") and done.stdout == (tmp_path / "a run" / "train.log").read_text()
    assert done.stderr.startswith("+ fairseq-train data --user-dir ") and done.stderr.endswith(
        "'--two words'\n"
    )
    trained(tmp_path, "echo again")
    assert (tmp_path / "a run" / "train.log").read_text().endswith("problem\nagain\n")  # it goes on
    shutil.rmtree(tmp_path / "data")
    done = bash(THESIS / "train.sh", "DE", "data", "no", "--gpus", 0, path=tmp_path, cwd=tmp_path)
    assert (
        done.returncode == 2
        and done.stderr == "error: data: no such data folder; expected what prepare.sh makes\n"
    )
    assert not (tmp_path / "no").exists()


def test_what_ends_the_script_ends_the_training(tmp_path):
    program(
        tmp_path,
        "fairseq-train",
        'echo $$ > pid; trap "echo ended >> pid; exit 0" TERM; sleep 60 > sleep 2>&1 & wait',
    )
    (tmp_path / "data").mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    script = ["bash", THESIS / "train.sh", "DE", "data", "run", "--gpus", "0"]
    with subprocess.Popen(script, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as process:
        pid = tmp_path / "pid"
        while not pid.exists() or not pid.read_text():
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)  # as torchrun and Slurm do
        assert process.wait(timeout=20) == 128 + signal.SIGTERM
    assert pid.read_text().endswith("ended\n")


def window(options):
    assert options["--source-context"] == options["--target-context"]
    return int(options["--source-context"]) + 1


@pytest.mark.parametrize(
    "system, sentences, positions, shift, discount",
    [
        ("base", 1, "none", None, "1"),
        ("s4to4", 4, "none", None, "1"),
        ("s4to4+CD", 4, "none", None, "0.01"),
        ("s4to4+CD=0.9", 4, "none", None, "0.9"),
        ("s4to4+shift+CD", 4, "shift", "avg-corpus", "0.01"),
        ("s4to4+shift=100+CD", 4, "shift", "100", "0.01"),
        ("s4to4+shift=avg-sequence+CD", 4, "shift", "avg-sequence", "0.01"),
        ("s4to4+lrn+CD", 4, "learned", None, "0.01"),
        ("s4to4+sin+CD", 4, "sinusoidal", None, "0.01"),
        ("s2to2", 2, "none", None, "1"),
        ("s3to3+CD", 3, "none", None, "0.01"),
        ("s3to3+shift+CD", 3, "shift", "avg-corpus", "0.01"),
    ],
)
def test_systems_of_the_paper(planned, system, sentences, positions, shift, discount):
    options = planned(FOCUSED / "train.sh", system, "data bin", "out $x", "--gpus", 4)
    assert window(options) == sentences
    assert options["--segment-positions"] == positions
    assert options.get("--segment-shift") == shift
    assert options["--context-discount"] == discount
    # appendix A
    expected = {
        "--arch": "concat_transformer_base",
        "--criterion": "context_discounted_label_smoothed_cross_entropy",
        "--dropout": "0.3",
        "--label-smoothing": "0.1",
        "--patience": "12",
        "--adam-betas": "(0.9, 0.98)",
        "--adam-eps": "1e-9",
        "--lr-scheduler": "inverse_sqrt",
        "--warmup-updates": "4000",
        "--lr": "7e-4",
        "--save-dir": "out $x/checkpoints",
        "--share-all-embeddings": True,
        "--fp16": True,
    }
    assert {name: options.get(name) for name in expected} == expected
    assert options["words"][1] == "data bin"
    assert int(options["--keep-last-epochs"]) >= 12 + 3


@pytest.mark.parametrize("profile, batch", [("en-ru", 32000), ("en-de", 16000)])
@pytest.mark.parametrize("gpus, nodes", [(0, 1), (1, 1), (3, 1), (4, 1), (8, 1), (4, 2), (8, 4), (7, 3)])
def test_batch_is_the_same_on_any_number_of_gpus(planned, profile, batch, gpus, nodes):
    options = planned(
        FOCUSED / "train.sh", "base", "data", "out", "--profile", profile,
        f"--gpus={gpus}", "--nodes", nodes, SLURM_NODEID="0",
    )  # fmt: skip
    workers = max(1, gpus * nodes)
    tokens, steps = int(options["--max-tokens"]), int(options["--update-freq"])
    assert tokens <= 4000
    assert 0 <= batch - workers * tokens * steps < workers * steps
    assert steps == -(-batch // (workers * 4000))  # no more steps than needed
    assert options["--distributed-world-size"] == str(workers)
    assert options.get("--cpu", False) == (gpus == 0)


def test_given_max_tokens_must_divide_the_batch(planned, refused):
    train = (FOCUSED / "train.sh", "base", "data", "out", "--gpus", 4, "--max-tokens")
    options = planned(*train, 8000)
    assert (options["--max-tokens"], options["--update-freq"]) == ("8000", "1")
    assert "--max-tokens 3000" in refused(*train, 3000)
    assert planned(*train, 2666)["--update-freq"] == "3"  # what the refusal proposes


def test_starts_by_torchrun_and_slurm(planned, refused):
    train = (FOCUSED / "train.sh", "base", "data", "out", "--gpus")
    torchrun = {"WORLD_SIZE": "8", "RANK": "5"}
    options = planned(*train, 4, "--nodes", 2, **torchrun)
    assert options["--distributed-world-size"] == "8" and "--distributed-rank" not in options
    assert "torchrun starts 8 processes" in refused(*train, 4, **torchrun)
    options = planned(*train, 0, "--batch-tokens", 8000, **torchrun)
    assert options["--distributed-rank"] == "5" and options["--distributed-backend"] == "gloo"
    assert options["--distributed-no-spawn"] is True and options["--max-tokens"] == "1000"
    options = planned(*train, 4, "--nodes", 2, "--port", 1234, SLURM_NODEID="1")
    assert (options["--distributed-world-size"], options["--distributed-port"]) == ("8", "1234")
    assert "torchrun or srun" in refused(*train, 4, "--nodes", 2)


def test_options_by_flag_environment_and_pass_through(planned):
    options = planned(
        FOCUSED / "train.sh", "base", "d", "o", "--gpus", 1, "--precision", "amp",
        "--", "--dropout", "0.2", "--weird", "two words", LR="3e-3", PRECISION="bf16",
    )  # fmt: skip
    assert (options["--lr"], options["--weird"], options["--dropout"]) == ("3e-3", "two words", "0.2")
    assert options["--amp"] is True and "--fp16" not in options
    small = planned(FOCUSED / "train.sh", "s2to2+CD", "d", "o", "--gpus", 0, "--profile", "small")
    assert small["--arch"] == "concat_transformer_tiny" and "--fp16" not in small


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["s4to3", "d", "o"], "no such row; expected one of base, s{K}to{K}"),
        (["s4to4+foo", "d", "o"], "s4to4 has no part +foo; expected +CD, +CD={discount}, "),
        (["base+CD", "d", "o"], "base has no part +CD; expected none"),
        (["s4to4+lrn+shift", "d", "o"], "expected one of +lrn, +shift"),
        (["base", "d"], "required: OUT"),
        (["base", "d", "o", "--learning-rate", "1"], "--learning-rate"),
        (["base", "d", "o", "--lr"], "--lr"),
        (
            ["base", "d", "o", "--patience", "many"],
            "argument --patience: expected a whole number, found 'many'",
        ),
        (["base", "d", "o", "--profile", "large"], "--profile large"),
        (["base", "d", "o", "--precision", "int8"], "--precision int8"),
    ],
)
def test_refusals(refused, arguments, words):
    assert words in refused(FOCUSED / "train.sh", *arguments, GPUS="1")


def test_what_the_package_refuses_is_one_line_too(tmp_path, monkeypatch, capsys):
    (tmp_path / "lr-1").mkdir()
    (tmp_path / "lr-1" / "finished").touch()
    monkeypatch.setenv("LRS", "1")
    assert start(FOCUSED / "search_lr.sh", "base", "data", tmp_path) == 2
    last = tmp_path / "lr-1" / "checkpoints" / "checkpoint_best.pt"
    assert capsys.readouterr().err == f"error: {last}: no such checkpoint\n"
    assert run_script(results.main, [str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}/results.json: No such file")


@pytest.mark.parametrize("options", [("--lr", "5e-4"), ("--lr=5e-4",), ("--", "--lr", "5e-4")])
def test_learning_rate_search_refuses_a_rate_for_all(refused, options):
    assert "LRS" in refused(FOCUSED / "search_lr.sh", "s4to4", "data", "out", *options)


def test_learning_rate_search_plans_every_rate(dry_run):
    commands = dry_run(FOCUSED / "search_lr.sh", "s4to4", "data", "out", "--gpus", 2)
    rates = [command[command.index("--lr") + 1] for command in commands]
    assert rates == ["7e-4", "9e-4", "1e-3", "3e-3"]
    assert [command[command.index("--save-dir") + 1] for command in commands] == [
        f"out/lr-{rate}/checkpoints" for rate in rates
    ]


@pytest.mark.parametrize(
    "more, best",
    [((), "lr-2"), (("--best-checkpoint-metric", "bleu", "--maximize-best-checkpoint-metric"), "lr-1")],
)
def test_learning_rate_search_names_the_best(tmp_path, monkeypatch, capsys, more, best):
    for rate in "12":
        (tmp_path / f"lr-{rate}").mkdir()
        (tmp_path / f"lr-{rate}" / "finished").touch()
    read = lambda path: Checkpoint(path, 1, 30.5 if "lr-1" in str(path) else 20.25)  # noqa: E731
    monkeypatch.setattr(Checkpoint, "read", read)
    monkeypatch.setenv("LRS", "1 2")
    assert start(FOCUSED / "search_lr.sh", "base", "data", tmp_path, "--", *more) == 0
    assert (tmp_path / "best").readlink().name == best
    assert f"validation {'bleu' if more else 'loss'} 20.25" in capsys.readouterr().out
