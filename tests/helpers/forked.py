"""Commands in processes of their own, forked from one that has done the heavy imports.

A command has its own memory, arguments, folder, environment, streams and exit code, as in a shell; what is
saved are the seconds that importing torch and fairseq takes. The plugin is not imported before the fork.
"""

import atexit
import functools
import importlib
import logging
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import forkserver
from pathlib import Path

import pytest

PRELOADED = "tests.helpers.preloaded"
STREAMS = ("stdin", "stdout", "stderr")
spent: list[float] = []  # processor seconds of each command so far


@functools.cache
def server():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    root, path = Path(__file__).parents[2], os.environ.get("PYTHONPATH")
    with pytest.MonkeyPatch.context() as changed:  # whatever the folder that the server starts in
        changed.setenv("PYTHONPATH", os.pathsep.join([str(root), *filter(None, [path])]))
        forkserver.ensure_running()
    return context


def processor_seconds():
    """Of this process and of those that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def run(command, cwd, input, env, until=None):
    """As ``subprocess.run`` with ``capture_output`` and text, which runs what is no command of ours or
    fairseq's.

    Args:
        until: kill it, with all processes that it has started, as soon as it has printed this text, or after
            so many seconds, unless it ends before.
    """
    name = Path(command[0]).name
    if name != "ctxmt" and not name.startswith("fairseq-"):
        return subprocess.run(command, cwd=cwd, input=input, env=env, capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in STREAMS]
        streams[0].write_text(input or "")
        usage = Path(folder, "usage")
        arguments = (command, cwd or os.getcwd(), env, streams, usage, until is not None)
        process = server().Process(target=_main, args=arguments)
        process.start()
        if until is not None:
            usage.write_text(str(_kill(process, streams[1], until)))
        process.join()
        spent.append(float(usage.read_text()) if usage.exists() else 0.0)
        stdout, stderr = (path.read_text() for path in streams[1:])
    return subprocess.CompletedProcess(command, process.exitcode, stdout, stderr)


def _kill(process, stdout, until):
    """Wait for the text or the time and kill its group; returns the processor seconds of the process."""
    while not stdout.exists() or (isinstance(until, str) and until not in stdout.read_text()):
        assert process.is_alive(), f"ended before it printed {until}"
        time.sleep(0.01)
    if not isinstance(until, str):  # it leads its group by now
        process.join(until)
    if not process.is_alive():
        return 0.0
    times = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    os.killpg(process.pid, signal.SIGKILL)
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def _main(command, cwd, env, streams, usage, leads):
    """The command, in the new process, which ``leads`` a group of its own."""
    assert PRELOADED in sys.modules and "ctxmt_fairseq" not in sys.modules
    multiprocessing.set_start_method(None, force=True)  # of its workers: as in a shell, not this server's
    if leads:
        os.setpgrp()
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  (as long as the process)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:0] = env["PYTHONPATH"].split(os.pathsep)
    sys.argv = command
    logging.root.handlers.clear()  # that of fairseq's import; its commands set theirs before that import
    name = Path(command[0]).name
    module, function = ("ctxmt_fairseq.cli.main", "main")
    if name.startswith("fairseq-"):
        module, function = f"fairseq_cli.{name.removeprefix('fairseq-').replace('-', '_')}", "cli_main"
    try:
        code = getattr(importlib.import_module(module), function)()
    except Exception:
        sys.excepthook(*sys.exc_info())  # which the plugin replaces, to end with another exit code
        code = 1
    finally:
        atexit._run_exitfuncs()
        usage.write_text(str(processor_seconds()))
    sys.exit(code)
