"""Output files: whole or not at all, through links, in place where there is no file; nothing else changes."""

import contextlib
import os
import resource
import stat
import sys
import threading

import pytest

from ctxmt_fairseq.base import drafts
from ctxmt_fairseq.base.drafts import PREFIX, Draft
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import check_outputs, write_file, write_files


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@contextlib.contextmanager
def reader(fifo):
    """Reads a pipe to its end; yields a list that then holds the content."""
    found = []
    thread = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    thread.start()
    yield found
    thread.join(timeout=20)


@contextlib.contextmanager
def largest_file(size):
    """Writes beyond ``size`` bytes fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ---- regular files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["é\n", "é\n".encode(), lambda stream: stream.write("é\n".encode())])
def test_text_bytes_and_what_writes_itself(tmp_path, content):
    check_outputs(tmp_path / "out")
    assert names(tmp_path) == []
    write_file(tmp_path / "out", content)
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_bytes() == "é\n".encode()


def test_a_new_file_has_the_umask_and_an_old_one_keeps_its_mode(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", "")
        (tmp_path / "old").write_text("old")
        (tmp_path / "old").chmod(0o604)
        write_file(tmp_path / "old", "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o640
    assert mode(tmp_path / "old") == 0o604 and (tmp_path / "old").read_text() == "new"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_an_old_file_keeps_its_owner(tmp_path):
    (tmp_path / "old").write_text("old")
    os.chown(tmp_path / "old", 1234, 2345)
    write_file(tmp_path / "old", "new")
    status = (tmp_path / "old").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_links_stay_and_their_target_is_written(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("middle")
    (tmp_path / "middle").symlink_to(os.path.join("real", "out"))  # leads nowhere yet
    for content in ("one", "two"):
        check_outputs(tmp_path / "link")
        write_file(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "middle").is_symlink()
        assert (tmp_path / "real" / "out").read_text() == content
    assert names(tmp_path / "real") == ["out"]


def test_the_users_files_with_likely_names_stay(tmp_path):
    taken = ["out.tmp", "out.partial", f".out.{os.getpid()}.tmp", f".out.{os.getpid()}", ".ctxmt-notes"]
    for name in taken:
        (tmp_path / name).write_text("precious")
    write_file(tmp_path / "out", "text")
    assert names(tmp_path) == sorted([*taken, "out"])
    assert all((tmp_path / name).read_text() == "precious" for name in taken)


def test_the_longest_name_that_a_file_can_have(tmp_path):
    write_file(tmp_path / ("n" * 255), "text")
    assert names(tmp_path) == ["n" * 255]


# ---- anything else -----------------------------------------------------------------------------------------


def test_a_pipe_stays_a_pipe(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to("fifo")
    for path in (fifo, tmp_path / "link"):
        with reader(fifo) as found:
            check_outputs(path)
            write_file(path, "text")
        assert found == [b"text"] and stat.S_ISFIFO(fifo.stat().st_mode)
    assert names(tmp_path) == ["fifo", "link"]


@pytest.fixture
def devices(tmp_path):
    """Copies of /dev/null and /dev/full that may be broken."""
    try:
        for name, minor in (("null", 3), ("full", 7)):
            os.mknod(tmp_path / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            open(tmp_path / name, "wb").close()
    except OSError:
        pytest.skip("devices may not be made here")
    return tmp_path


def test_a_device_stays_a_device(devices):
    check_outputs(devices / "null")
    write_file(devices / "null", "text")
    assert stat.S_ISCHR((devices / "null").stat().st_mode) and names(devices) == ["full", "null"]
    with pytest.raises(BadInput, match="full: cannot be written: No space left on device"):
        write_file(devices / "full", "text")
    assert names(devices) == ["full", "null"]


@pytest.mark.parametrize("redirection", ["truncate", "append", "pipe"])
def test_standard_output_goes_on_where_it_is(tmp_path, monkeypatch, redirection):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("/dev/stdout")
    (tmp_path / "out").write_text("earlier\n")
    paths = ["/dev/stdout", "/dev/fd/1", "link"]
    receive, send = os.pipe()
    if redirection != "pipe":
        send = os.open("out", os.O_WRONLY | (os.O_TRUNC if redirection == "truncate" else os.O_APPEND))
    child = os.fork()
    if not child:
        try:
            os.dup2(send, 1)
            sys.stdout = open(1, "w", closefd=False)
            print("before")
            check_outputs(*paths)
            for path in paths:
                write_file(path, f"{path}\n")
            print("after", flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    found = os.read(receive, 1000).decode() if redirection == "pipe" else (tmp_path / "out").read_text()
    earlier = ["earlier"] if redirection == "append" else []
    assert found.splitlines() == [*earlier, "before", *paths, "after"]
    assert names(tmp_path) == ["link", "out"]


# ---- what cannot be written --------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [check_outputs, lambda path: write_file(path, "text")])
@pytest.mark.parametrize(
    "name, message",
    [
        ("folder", "folder: cannot be written: this is the name of a folder; choose that of a file"),
        ("new/", "new/: cannot be written: this is the name of a folder; choose that of a file"),
        ("missing/out", "missing/out: cannot be written: no such folder: .*missing"),
        ("file/out", "file/out: cannot be written: Not a directory"),
        ("n" * 256, "nnn: cannot be written: File name too long"),
        ("loop", "loop: cannot be written: Too many levels of symbolic links"),
        ("", "expected the name of a file, found ''"),
        ("a\0b", r"expected the name of a file, found 'a\\x00b'"),
        (f"/dev/fd/{10**20}", f"/dev/fd/{10**20}: .*"),
        ("/dev/fd/987", "/dev/fd/987: cannot be written: Bad file descriptor"),
    ],
)
def test_names_that_no_file_can_have(tmp_path, monkeypatch, act, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("precious")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    with pytest.raises(BadInput, match=message):
        act(name)
    assert names(tmp_path) == before and names(tmp_path / "folder") == []


def test_nothing_is_left_when_the_disk_is_full(tmp_path):
    (tmp_path / "out").write_text("old")
    for content in ("x" * 5000, lambda stream: [stream.write(b"x" * 100) for _ in range(50)]):
        with largest_file(1000), pytest.raises(BadInput, match="out: cannot be written: File too large"):
            write_file(tmp_path / "out", content)
        assert names(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("what the content says")])
def test_nothing_is_left_after_any_error(tmp_path, error):
    def content(stream):
        stream.write(b"half")
        raise error

    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        write_file(tmp_path / "out", content)
    assert names(tmp_path) == []


def test_of_several_outputs_all_or_none_are_written(tmp_path):
    (tmp_path / "old").write_text("old")
    for bad in (tmp_path / "missing" / "out", tmp_path):
        paths = (tmp_path / "old", tmp_path / "new", bad)
        with pytest.raises(BadInput, match="cannot be written"):
            check_outputs(*paths)
        with pytest.raises(BadInput, match="cannot be written"):
            write_files((path, "text") for path in paths)
        assert names(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "old"
    with largest_file(1000), pytest.raises(BadInput, match="new: cannot be written"):
        write_files([(tmp_path / "old", "text"), (tmp_path / "new", "x" * 5000)])
    assert names(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "old"


def test_a_device_that_fails_leaves_no_other_output(devices):
    with pytest.raises(BadInput, match="full: cannot be written"):
        write_files([(devices / "out", "text"), (devices / "full", "text")])
    assert names(devices) == ["full", "null"]


def test_a_rename_that_fails_takes_the_others_back(tmp_path, monkeypatch):
    replace = os.replace

    def fail(source, target):
        if target.name == "two":
            raise PermissionError(1, "Operation not permitted")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(BadInput, match="two: cannot be written: Operation not permitted"):
        write_files([(tmp_path / "one", "text"), (tmp_path / "two", "text")])
    assert names(tmp_path) == []


def test_outputs_that_were_not_asked_for_and_twice_the_same(tmp_path):
    check_outputs(None, tmp_path / "out", None)
    write_files([(None, lambda stream: pytest.fail("not asked for")), (tmp_path / "out", "text")])
    (tmp_path / "link").symlink_to("out")
    with pytest.raises(BadInput, match="link: cannot be written: two outputs have this name"):
        check_outputs(tmp_path / "out", tmp_path / "link")
    os.mkfifo(tmp_path / "fifo")
    check_outputs(tmp_path / "fifo", tmp_path / "fifo")


# ---- what killed runs left ---------------------------------------------------------------------------------


def test_leftovers_are_removed_and_living_drafts_are_not(tmp_path):
    target = tmp_path / "out"
    killed = Draft(target)
    killed.path.write_text("half")
    killed._lock.close()  # as the end of a process does
    with Draft(target) as living, Draft(tmp_path / "other") as other:
        living.path.write_text("half")
        assert names(tmp_path) == sorted([living.path.name, other.path.name])
        write_file(target, "text")
        check_outputs(target)
        assert names(tmp_path) == sorted([living.path.name, other.path.name, "out"])
        assert living.path.name.startswith(PREFIX)
    assert names(tmp_path) == ["out"]


def test_a_worker_that_outlives_its_parent_holds_no_draft(tmp_path):
    target = tmp_path / "out"
    go_on, parent_ends = os.pipe()
    parent = os.fork()
    if not parent:
        Draft(target)
        if not os.fork():  # a worker, such as multiprocessing's
            os.close(parent_ends)
            os.read(go_on, 1)
        os._exit(0)
    os.waitpid(parent, 0)
    assert len(names(tmp_path)) == 1
    check_outputs(target)
    assert names(tmp_path) == []
    os.close(parent_ends)
    os.close(go_on)


def test_a_draft_that_is_taken_for_a_leftover_while_it_is_made_is_made_again(tmp_path, monkeypatch):
    taken = []

    class Hasty(drafts.Lock):
        def __init__(self, path):
            if not taken:  # another run cleans up between the making and the locking
                taken.append(path)
                path.unlink()
            super().__init__(path)

    monkeypatch.setattr(drafts, "Lock", Hasty)
    with Draft(tmp_path / "out") as draft:
        assert draft.path != taken[0] and draft.path.exists()
