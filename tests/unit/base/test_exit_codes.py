"""Bad input becomes one line and exit code 2 where a command ends, and nowhere else."""

import errno
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput, as_bad_input
from ctxmt_fairseq.base.exit_codes import fairseq_command
from ctxmt_fairseq.cli import main

# The package without what its __init__ imports: these programs shall start within a second.
PROGRAM = f"""
import sys, types
package = types.ModuleType("ctxmt_fairseq")
package.__path__ = [{str(Path(ctxmt_fairseq.__file__).parent)!r}]
sys.modules["ctxmt_fairseq"] = package
from ctxmt_fairseq.base.exit_codes import hook_command
from ctxmt_fairseq.base.errors import BadInput
hook_command()

def work(*index):
    raise BadInput("expected text", "corpus.en", 3)
"""
SAID = "ctxmt: error: corpus.en:3: expected text\n"


def ended(folder, name, code):
    """Exit code and stderr of a program of this name."""
    program = folder / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(PROGRAM + textwrap.dedent(code))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", ["fairseq-validate", "fairseq_cli/train.py"])
def test_commands_end_with_one_line(tmp_path, name):
    assert ended(tmp_path, name, "work()") == (2, SAID)


def test_programs_of_users_get_the_exception(tmp_path):
    code, error = ended(tmp_path, "my_training.py", "work()")
    assert code == 1 and error.endswith("ctxmt_fairseq.base.errors.BadInput: corpus.en:3: expected text\n")


def test_what_workers_raise(tmp_path):
    spawned = """
        import torch.multiprocessing
        if __name__ == "__main__":
            torch.multiprocessing.spawn(work, nprocs=1)
    """
    code, error = ended(tmp_path, "fairseq-train", spawned)
    assert (code, error) == (2, SAID)
    together = f"""
        from torch import distributed
        distributed.init_process_group("gloo", init_method="file://{tmp_path}/store", rank=0, world_size=1)
        work()
    """
    assert ended(tmp_path, "fairseq-train", together) == (2, SAID)
    loaded = """
        from torch.utils.data import DataLoader
        class Data(list):
            __getitem__ = work
        list(DataLoader(Data([1]), num_workers=1))
    """
    assert ended(tmp_path, "fairseq-train", loaded) == (2, SAID)


def test_defects_keep_their_traceback(tmp_path):
    code, error = ended(tmp_path, "fairseq-train", "{}['key']")
    assert code == 1 and "Traceback" in error and "KeyError: 'key'" in error


def test_interrupted(monkeypatch, capsys):
    def interrupt(self, argv):
        raise KeyboardInterrupt

    monkeypatch.setattr(main.CommandParser, "parse_args", interrupt)
    assert main.main(["user-dir"]) == 130
    assert capsys.readouterr().err == "ctxmt: interrupted\n"


def test_the_system_s_errors():
    with pytest.raises(OSError) as missing:
        open("/none/at/all")
    assert str(as_bad_input(missing.value)) == "/none/at/all: No such file or directory"
    assert str(as_bad_input(OSError(errno.ENOSPC, "No space left on device"))) == "No space left on device"
    copied = OSError(errno.ENOSPC, "No space left on device", "read.pt", None, "written.pt")
    assert str(as_bad_input(copied)) == "written.pt: No space left on device"
    assert as_bad_input(OSError(errno.ECHILD, "No child processes")) is None


def test_what_fairseq_makes_of_bad_input():
    with pytest.raises(RuntimeError) as wrapped:
        try:
            raise BadInput("expected another shape", "model.pt")
        except ValueError:
            raise RuntimeError("Cannot load model parameters")  # noqa: B904
    assert str(as_bad_input(wrapped.value)) == "model.pt: expected another shape"


def test_the_commands_of_fairseq():
    assert fairseq_command("/usr/bin/fairseq-train") == fairseq_command("x/fairseq_cli/train.py") == "train"
    assert fairseq_command("train.py") is None


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (["user-dirs"], "'user-dirs': did you mean user-dir?"),
        (["score", "hyp", "ref", "--token", "13a"], "unrecognized arguments: --token"),
        (["analyse", "groups", "model", "--sent", "a"], "unrecognized arguments: --sent a"),
        (["score", "\udcff", "ref"], "expected arguments in UTF-8, found '\\udcff'"),
        (["score", "a\0b", "ref"], "expected arguments without a NUL character, found 'a\\x00b'"),
        (["score", "hyp", "ref", "--bootstrap", "-1"], "--bootstrap: expected a whole number of at least 0"),
    ],
)
def test_command_lines_as_any_bad_input(wrong, line, refusal):
    assert line in refusal(main.main, wrong)


CONTROL = "\x1b]0;owned\x07a\u202eb\x9b"


def test_what_a_file_says_is_shown_and_not_obeyed(tmp_path):
    assert str(BadInput(f"expected text, found {CONTROL}", f"a{CONTROL}.en", 3)) == (
        r"a\x1b]0;owned\x07a\u202eb\x9b.en:3: expected text, found \x1b]0;owned\x07a\u202eb\x9b"
    )
    path = tmp_path / f"a{CONTROL}.jsonl"
    logged = f"""
        import logging
        logging.basicConfig()
        sys.excepthook = sys.__excepthook__  # fairseq's commands set up logging before a task is
        hook_command()
        logging.warning("%s: repeated\\nis %s", {str(path)!r}, 1)
        logging.warning("a format of {{%d}}")
        raise BadInput("expected text", {str(path)!r})
    """
    code, error = ended(tmp_path, "fairseq-train", logged)
    assert code == 2 and error.count(r"a\x1b]0;owned\x07a\u202eb\x9b.jsonl") == 2
    assert "repeated\nis 1\n" in error and not re.search("[\x1b\x07\x9b\u202e]", error)
