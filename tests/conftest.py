"""Settings for all tests, and ``--file-times=FILE``: what each test file costs."""

import gc
import time
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import forked

# No time limit per example: the test machines are small and shared, and pytest has its own limit.
settings.register_profile("ctxmt", deadline=None, derandomize=True)
settings.load_profile("ctxmt")


@pytest.fixture
def refusal(capsys):
    """``refusal(call, ...)``: the one line with which a command refuses bad input; it prints nothing else."""

    def line_of(call, *arguments, **options):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            call(*arguments, **options)
        out, err = capsys.readouterr()
        assert (ended.value.code, out) == (2, ""), err
        (line,) = err.splitlines()
        assert line.startswith("ctxmt: error: ")
        return line

    return line_of


def pytest_addoption(parser):
    parser.addoption(
        "--file-times",
        type=Path,
        metavar="FILE",
        help="write tests, seconds and processor seconds (with those of commands) of every test file",
    )


def pytest_collection_finish():
    """What all tests import is never garbage: no search for it looks there again."""
    gc.collect()
    gc.freeze()


def _processor_seconds():
    """Of this process and of the commands that it has run to their end."""
    return forked.processor_seconds() + sum(forked.spent)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.started = time.monotonic(), _processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "teardown":  # what a fixture for several tests costs counts for the first of them
        clock, processor = item.started
        seconds = time.monotonic() - clock, _processor_seconds() - processor
        report.user_properties.append(("seconds", seconds))
    return report


def pytest_terminal_summary(terminalreporter, config):
    path = config.getoption("--file-times")
    if path is None:
        return
    files = defaultdict(list)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "teardown":
                files[report.nodeid.split("::")[0]].append(dict(report.user_properties)["seconds"])
    rows = [(name, len(times), *map(sum, zip(*times, strict=True))) for name, times in files.items()]
    rows.sort(key=lambda row: -row[3])
    rows.append(("all", *(sum(row[place] for row in rows) for place in (1, 2, 3))))
    lines = [f"{name}\t{tests}\t{clock:.1f}\t{processor:.1f}" for name, tests, clock, processor in rows]
    path.write_text("\n".join(("file\ttests\tseconds\tprocessor_seconds", *lines)) + "\n")
    terminalreporter.write_line(f"{path}: {rows[-1][1]} tests, {rows[-1][3]:.0f} processor seconds")
