"""Spoiled input of every kind ends a command well: a small share of what ``python -m tests.fuzz`` runs."""

import importlib.util

import pytest

from scripts.benchmark.run import MEASUREMENTS
from tests.fuzz.__main__ import fuzz, fuzzer_in
from tests.fuzz.cases import OK, RED, REFUSED, call, judge
from tests.fuzz.commands import COMMANDS

CASES = 2000
# What stops commands that are drawn with something missing, to be cheap.
STOPS = {
    "scripts.benchmark": f"ctxmt: error: nothing: expected one of {', '.join(MEASUREMENTS)}",
    "nowhere.pt": "ctxmt: error: nowhere.pt: no such checkpoint",
    "analyse groups": "ctxmt: error: expected a caching_transformer with --shortening group or select, found "
    "concat_transformer",
    **{
        command: f'ctxmt: error: {what}, in the extra "{extra}": pip install ".[{extra}]" in the checkout'
        for command, package, what, extra in (
            ("corpus align", "thot", "word alignment needs sil-thot", "align"),
            ("corpus annotate", "pymorphy3", "annotation of ru needs pymorphy3", "linguistics"),
        )
        if importlib.util.find_spec(package) is None
    },
}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory):
    return fuzzer_in(tmp_path_factory.mktemp("fuzz"), seed=1)


def test_unspoiled_input_is_fine(fuzzer):
    for command in COMMANDS:
        outcome = fuzzer.unspoiled(command)
        expected = next((line for name, line in STOPS.items() if name in command.line), "")
        assert (outcome.result, outcome.why) == (REFUSED if expected else OK, expected), outcome


def test_no_case_is_red(fuzzer):
    outcomes = fuzz(fuzzer, range(CASES))
    assert [outcome for outcome in outcomes if outcome.result == RED] == []
    assert sum(outcome.result == OK for outcome in outcomes) > CASES / 10


def test_a_case_repeats(fuzzer):
    assert [fuzzer.run(number) for number in (5, 3, 5)] == [fuzzer.run(number) for number in (5, 3, 5)]


def test_what_is_red(tmp_path):
    line = "ctxmt: error: text:1: expected words\n"
    for code, stderr, error, after in (
        (2, line + line, None, {}),
        (2, "", None, {}),
        (2, line + "more\n", None, {}),
        (1, line, None, {}),
        (2, line, None, {"left": ()}),
        (0, "", None, {"new.tmp": ()}),
        (None, "", KeyError("a"), {}),
    ):
        assert judge(code, stderr, error, {}, after, ["score"])[0] == RED
    assert judge(2, "a warning\n" + line, None, {}, {}, ["score"])[0] == REFUSED
    assert judge(0, "", None, {}, {"new": ()}, ["score"])[0] == OK
    code, stderr, error = call(["score", "nowhere", "nowhere"], tmp_path)
    assert (code, stderr, error) == (2, "ctxmt: error: nowhere: no such file\n", None)
