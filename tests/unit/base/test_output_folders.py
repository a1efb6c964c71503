"""Output folders: complete or not there, and what runs that were killed leave."""

import contextlib
import errno
import os
import stat
from pathlib import Path

import pytest

from ctxmt_fairseq.base.drafts import hidden
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import check_folder, folder_output
from ctxmt_fairseq.corpora.data_folder import new_folder, write_description


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fill(path, text="new", write=folder_output):
    with write(path) as folder:
        (folder / "text").write_text(text)


def data_folder(path, text, overwrite=False):
    with new_folder(path, overwrite) as folder:
        (folder / "text").write_text(text)
        write_description(folder, {})


def killed(function, *args):
    """Run it in a process that dies when the function calls what ``die`` replaces."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            function(*args)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9


def die(*args):
    os.kill(os.getpid(), 9)


def test_new_empty_linked_and_deep_folders(tmp_path):
    (tmp_path / "empty").mkdir(mode=0o2750)
    (tmp_path / "empty").chmod(0o2750)
    (tmp_path / "link").symlink_to("linked")
    for name in ("new", "empty", "link", "some/where/deep"):
        fill(tmp_path / name)
        assert (tmp_path / name / "text").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o2750
    assert (tmp_path / "link").is_symlink() and (tmp_path / "linked").is_dir()
    assert names(tmp_path) == ["empty", "link", "linked", "new", "some"]


def test_what_is_in_use_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis").write_text("precious")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path, message in (
        (tmp_path / "file", "file: expected a new or empty folder"),
        (tmp_path / "full", "full: expected a new or empty folder"),
        (tmp_path / "file" / "out", "file: cannot be made: File exists"),
        (tmp_path / ("n" * 256), "nnn: .*File name too long"),
        (Path("."), "the current folder or a mount point cannot be replaced"),
        (Path("/proc/out"), "/proc/out: "),
    ):
        with pytest.raises(BadInput, match=message), folder_output(path):
            pytest.fail("the work began")
    assert names(tmp_path) == ["file", "full", "here"] and names(tmp_path / "full") == ["thesis"]


def test_folders_that_cannot_be_made_are_known_before(tmp_path):
    (tmp_path / "file").write_text("precious")
    for path in (tmp_path, tmp_path / "new", tmp_path / "some" / "where"):
        check_folder(path)
    for name, message in (
        ("file", "file: cannot be made: File exists"),
        ("file/out", "file: cannot be made: File exists"),
        ("n" * 256, "nnn: .*File name too long"),
    ):
        with pytest.raises(BadInput, match=message):
            check_folder(tmp_path / name)
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BadInput("text"), RuntimeError("defect")])
def test_an_error_leaves_nothing(tmp_path, error):
    with pytest.raises(type(error)), folder_output(tmp_path / "some" / "where" / "out") as folder:
        (folder / "text").write_text("half")
        raise error
    assert names(tmp_path) == []


def test_errors_of_the_system_are_one_line_about_the_right_file(tmp_path):
    def failing(error):
        with folder_output(tmp_path / "out") as folder:
            raise error(folder)

    for error, message in (
        (lambda folder: OSError(errno.ENOSPC, "No space left on device"), "out: cannot be written: No space"),
        (lambda folder: OSError(errno.EACCES, "No", str(folder / "text")), "out: cannot be written: No$"),
        (lambda folder: OSError(errno.EACCES, "No", "train.en"), "^train.en: No$"),
        # what copies a file names the one that was read first
        (
            lambda folder: OSError(errno.ENOSPC, "No", "dict.en", None, str(folder)),
            "out: cannot be written: No$",
        ),
    ):
        with pytest.raises(BadInput, match=message):
            failing(error)
    assert names(tmp_path) == []


def test_two_at_once(tmp_path):
    with folder_output(tmp_path / "out"):
        with pytest.raises(BadInput, match="out: another ctxmt is writing to it"):
            fill(tmp_path / "out")
    with pytest.raises(BadInput, match="cannot be written: Directory not empty"):
        with folder_output(tmp_path / "late") as folder:
            (folder / "text").write_text("new")
            (tmp_path / "late").mkdir()
            (tmp_path / "late" / "thesis").write_text("precious")
    assert names(tmp_path / "late") == ["thesis"]
    data_folder(tmp_path / "data", "old")
    with pytest.raises(RuntimeError), new_folder(tmp_path / "data", overwrite=True):
        raise RuntimeError
    assert (tmp_path / "data" / "text").read_text() == "old"
    assert names(tmp_path) == ["data", "late", "out"]


def test_what_a_killed_run_leaves_goes_at_the_next(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", die)
        killed(fill, tmp_path / "out")
        killed(fill, tmp_path / "another")
    assert len(names(tmp_path)) == 2
    fill(tmp_path / "out")
    assert len(names(tmp_path)) == 2 and "out" in names(tmp_path)
    fill(tmp_path / "another")
    assert names(tmp_path) == ["another", "out"]


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_killed_while_one_folder_replaces_another(tmp_path, monkeypatch, renames):
    data_folder(tmp_path / "data", "old")
    replace, done = os.replace, []

    def rename(source, target):
        if len(done) == renames:
            die()
        done.append(source)
        replace(source, target)
        if len(done) == renames == 2:
            die()

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", rename)
        killed(data_folder, tmp_path / "data", "new", True)
    if renames == 1:
        assert hidden(tmp_path / "data", ".old").is_dir() and not (tmp_path / "data").exists()
    with pytest.raises(BadInput, match="data: exists; --overwrite replaces it"):
        data_folder(tmp_path / "data", "newer")
    assert (tmp_path / "data" / "text").read_text() == ("new" if renames == 2 else "old")
    data_folder(tmp_path / "data", "newer", overwrite=True)
    assert names(tmp_path) == ["data"] and (tmp_path / "data" / "text").read_text() == "newer"
