"""ctxmt train: the command that it makes of a system and a size, what it leaves in RUN, and how it ends."""

import contextlib
import re
import shlex
import subprocess
import sys

import pytest
from fairseq import options as fairseq_options

from ctxmt_fairseq.analysis.training_log import read_training_log
from ctxmt_fairseq.base import processes
from ctxmt_fairseq.base.drafts import Lock
from ctxmt_fairseq.cli import main
from ctxmt_fairseq.cli.systems import PAPERS, SIZES, SYSTEMS, read_options
from tests.helpers.documented import ROOT

OPTIONS = "2026-11-25 20:00:00 | INFO | fairseq_cli.train | {'_name': None, 'seed': %d}\n"
VALID = "2026-11-25 20:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss {} | num_updates {}"


@pytest.fixture
def data(tmp_path):
    """What ctxmt train looks at in a data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    for language in ("en", "fr"):
        (folder / f"dict.{language}.txt").write_text("a 1\n")
    (folder / "ctxmt.json").write_text('{"source_lang": "en", "target_lang": "fr"}')
    return folder


@pytest.fixture
def dry(data, capsys):
    """``dry(SYSTEM, OPTIONS..)``: the command of fairseq-train that is printed."""

    def run(system, *words):
        assert main.main(["train", system, str(data), "runs/x", *words, "--dry-run"]) == 0
        return shlex.split(capsys.readouterr().out)

    return run


@pytest.fixture
def trained(data, tmp_path, monkeypatch):
    """``trained(LOSS, WORDS.., ..)``: a training that validates once; what ctxmt ends with."""

    def run(loss, *words, code=0, system="gated"):
        def fairseq_train(command, log=None, lock=None):
            assert command[0] == sys.executable and " -m fairseq_cli.train" in " ".join(command)
            if log:
                with open(log, "a") as file:
                    file.write(OPTIONS % code)
                    file.write(VALID.format(loss, int(1000 * loss)) + "\n" if loss else "")
            checkpoint = tmp_path / "my run/checkpoints/checkpoint_best.pt"
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            checkpoint.touch()
            return code

        monkeypatch.setattr(processes, "run_logged", fairseq_train)
        return main.main(["train", system, str(data), str(tmp_path / "my run"), *words])

    return run


def test_short_options_replace_too(dry):
    words = dry("sentence", "--dropout", "0.1", "-a", "transformer_iwslt_de_en", "-s", "en")
    args = fairseq_options.parse_args_and_arch(fairseq_options.get_training_parser(), words[1:])
    assert (args.arch, args.dropout, args.source_lang) == ("transformer_iwslt_de_en", 0.1, "en")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_fairseq_knows_every_system_in_every_size(dry, data, system, size):
    words = dry(system, "--size", size)
    assert words[0] == "fairseq-train"
    args = fairseq_options.parse_args_and_arch(fairseq_options.get_training_parser(), words[1:])
    assert (args.task, args.data) == (SYSTEMS[system].task, str(data))
    assert args.arch.startswith(SYSTEMS[system].architecture) and args.share_all_embeddings
    width = args.gru_size if system == "gru" else args.encoder_embed_dim
    assert width == {"tiny": 128, "small": 256 if system == "gru" else 192, "iwslt": 512}.get(size, width)
    if size == "big":
        assert width == 1024


def test_the_users_options_replace_those_of_the_system_and_the_size(dry):
    words = dry(
        "focused", "--lr", "3", "--context-discount=0.5", "--arch", "mine", "--size", "tiny", "--fp16"
    )
    found = read_options(words[2:])
    assert [words.count(name) for name in ("--lr", "--context-discount", "--arch")] == [1, 1, 1]
    assert (found["--lr"], found["--context-discount"], found["--arch"]) == (["3"], ["0.5"], ["mine"])
    assert found["--fp16"] == [] and found["--warmup-updates"] == ["200"]
    started = read_options(dry("gated", "--from", "s.pt")[2:])
    assert started["--sentence-checkpoint"] == ["s.pt"]
    assert started["--lr"] == ["7e-4"]  # with that of the first training the loss would rise again


def test_a_name_that_reads_like_several_checkpoints_is_refused(data, tmp_path, refusal):
    assert "12:30: : joins several names: choose one without it" in refusal(
        main.main, ["train", "gated", str(data), str(tmp_path / "12:30")]
    )


def test_the_folder_of_checkpoints_is_not_taken_for_the_trainings(trained, data, tmp_path, refusal):
    assert trained(4.5) == 0
    (tmp_path / "my run/checkpoints/checkpoint_last.pt").touch()
    assert "my run/checkpoints: has a training's checkpoints: expected the folder" in refusal(
        main.main, ["train", "gated", str(data), str(tmp_path / "my run/checkpoints")]
    )
    assert trained(4.5) == 0


def test_languages_with_dictionaries_of_their_own_share_less(dry, data):
    (data / "dict.fr.txt").write_text("b 1\n")
    words = dry("gated")
    assert "--share-all-embeddings" not in words and "--share-decoder-input-output-embed" in words


@pytest.mark.parametrize(
    ("system", "own", "gone"),
    [
        ("sentence", "--criterion cross_entropy", ["--label-smoothing"]),
        ("focused", "--criterion label_smoothed_cross_entropy", ["--context-discount"]),
        ("sentence", "--optimizer sgd", ["--adam-betas"]),
        ("sentence", "--lr-scheduler tri_stage", ["--warmup-updates"]),
        ("windows", "--arch lstm", ["--encoder-layers", "--encoder-embed-dim"]),
    ],
)
def test_what_belongs_to_a_choice_goes_with_it(dry, system, own, gone):
    before, words = dry(system), dry(system, *own.split())
    assert all(option in before and option not in words for option in gone)
    assert gone[0] in dry(system, *own.split(), gone[0], "1")  # unless it was asked for
    same = dry("focused", "--criterion", "context_margin")
    assert "--context-discount" in same and "--label-smoothing" in same


def test_an_option_without_its_value_is_fairseqs_to_refuse(dry):
    for option in ("--arch", "--criterion"):
        words = dry("gated", option)
        assert words[words.index(option) + 1].startswith("--")


def test_a_recurrent_architecture_has_its_sizes(dry):
    assert "--encoder-layers" in dry("windows", "--arch", "my_model")
    assert "--gru-size" in dry("windows", "--arch", "context_gru_tiny")


def test_what_a_training_leaves_and_ends_with(trained, tmp_path, capsys):
    run = tmp_path / "my run"
    assert trained(4.5) == 0
    printed = capsys.readouterr().out.splitlines()
    command = (run / "train.sh").read_text().splitlines()[1]
    assert printed[0] == f"+ {command}" and shlex.split(command)[0] == "fairseq-train"
    assert printed[-3] == "best validation: loss 4.5 after 4500 updates"
    assert printed[-2].startswith(f"next: ctxmt translate '{run}/checkpoints/checkpoint_best.pt' TEXT.en ")
    assert printed[-1] == f"  or: ctxmt evaluate '{run}' TEXT [CONTRASTIVE_SET ..]"
    assert trained(5, "--lr", "1") == 0  # goes on: the log of before is kept, and its best counts
    assert capsys.readouterr().out.splitlines()[-3].startswith("best validation: loss 4.5 ")
    log = (run / "train.log").read_text()
    assert log.count("loss") == 2 and len(re.findall(r"^\+ fairseq-train", log, re.M)) == 2


@pytest.mark.parametrize(
    "system, metadata, named", [("cue", True, True), ("cue", False, False), ("gated", True, False)]
)
def test_the_next_translation_has_the_metadata_of_the_training(
    trained, data, capsys, system, metadata, named
):
    if metadata:
        (data / "train.en-fr.meta.jsonl").touch()
    assert trained(4.5, system=system) == 0
    assert (" --docids TEXT.docids --contexts TEXT --output" in capsys.readouterr().out) == named


def test_the_next_commands_name_the_users_code(trained, tmp_path, capsys):
    folder = tmp_path / "their own"
    folder.mkdir()
    (folder / "__init__.py").touch()
    assert trained(4.5, "--user-dir", str(folder)) == 0
    translate, evaluate = capsys.readouterr().out.splitlines()[-2:]
    assert all(line.endswith(f" --user-dir '{folder}'") for line in (translate, evaluate))


def test_a_training_that_does_not_validate(trained, capsys):
    assert trained(None, "--disable-validation") == 0
    printed = capsys.readouterr().out
    assert "next: ctxmt translate" in printed and "best validation" not in printed
    assert "--patience" not in printed  # which nothing would count for


def test_a_training_that_fails_ends_as_it_does(trained, capsys):
    assert trained(4.5, code=137) == 137
    assert "next:" not in capsys.readouterr().out


def test_a_training_that_is_refused_leaves_what_is_said_of_the_one_before(trained, tmp_path):
    script = tmp_path / "my run/train.sh"
    for loss, lr, code, kept in ((4.5, "1", 0, "1"), (None, "2", 2, "1"), (4, "3", 2, "3"), (4, "4", 1, "4")):
        with contextlib.suppress(SystemExit):
            trained(loss, "--lr", lr, code=code)
        assert f"--lr {kept}" in script.read_text()
        assert read_training_log(tmp_path / "my run").option("seed") == str(code if loss else 0)


def test_a_second_training_is_kept_out(trained, tmp_path, capsys):
    assert trained(4.5) == 0
    before = [(tmp_path / "my run" / name).read_text() for name in ("train.log", "train.sh")]
    with contextlib.closing(Lock(tmp_path / "my run/train.log")), pytest.raises(SystemExit) as stop:
        trained(4, "--lr", "1")
    assert stop.value.code == 2 and "run/train.log: another ctxmt is writing to it" in capsys.readouterr().err
    assert [(tmp_path / "my run" / name).read_text() for name in ("train.log", "train.sh")] == before
    assert trained(4) == 0


def test_processes_of_torchrun(trained, dry, tmp_path, monkeypatch, capsys):
    """fairseq counts GPUs, not processes; and the first alone keeps the log."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    found = read_options(dry("gated", "--cpu")[2:])
    assert (found["--distributed-world-size"], found["--distributed-rank"]) == (["2"], ["1"])
    assert found["--distributed-backend"] == ["gloo"] and "--distributed-no-spawn" in found
    assert trained(4.5, "--cpu") == 0
    assert not (tmp_path / "my run/train.log").exists() and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "words, line",
    [
        (["gatd", "{data}", "run"], "gatd: no such system; did you mean gated?"),
        (["gated", "{data}"], "expected SYSTEM DATA RUN, and then options"),
        (["gated", "{data}", "run", "more"], "more: expected an option of fairseq-train"),
        (["gated", "nowhere", "run"], "nowhere: is no data folder of ctxmt preprocess"),
        (["gated", "{data}", "run", "--size", "bas"], "did you mean base?"),
        (["gated", "{data}", "run", "--from", "nowhere.pt"], "nowhere.pt: no such file"),
    ],
)
def test_refusals(words, line, data, tmp_path, monkeypatch, refusal):
    monkeypatch.chdir(tmp_path)
    error = refusal(main.main, ["train", *(word.format(data=data) for word in words)])
    assert line in error and not (tmp_path / "run").exists()


def test_the_list_and_the_papers(capsys):
    assert main.main(["train", "--list"]) == 0
    shown = capsys.readouterr().out
    for name, row in SYSTEMS.items():
        assert re.search(rf"^{name} +{row.paper} +{re.escape(row.purpose)}", shown, re.M)
    for name, size in SIZES.items():
        assert re.search(rf"^--size {name} +{size.purpose}$", shown, re.M)
    assert main.main(["train", "--list", "--bibtex"]) == 0
    printed = capsys.readouterr().out
    assert printed == PAPERS.read_text()
    assert set(re.findall(r"^@\w+{([\w-]+),$", printed, re.M)) == {row.paper for row in SYSTEMS.values()}
    assert printed.count("{") == printed.count("}")


def test_the_first_page_names_systems_for_what_they_are_for():
    """README has the choice of some, in the words of the table."""
    page = (ROOT / "README.md").read_text().partition("## Which system?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| `([\w-]+)`", page, re.M)
    assert len(rows) == 6
    assert [(SYSTEMS[name].purpose, name) for _, name in rows] == rows


def test_the_table_is_read_without_torch():
    code = "import sys; import ctxmt_fairseq.cli.systems; print({'torch', 'fairseq'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "set()\n", done.stderr
