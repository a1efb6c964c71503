"""Importing the plugin changes nothing for fairseq's own tasks, models and commands, nor for the process."""

from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.helpers import forked, stock_situations

WRAPPED = "fairseq.options.parse_args_and_arch."  # docs/architecture.md says why
FAILS = {"generate_without_the_checkpoint": "OSError", "help_of_other_tasks": "RuntimeError"}
DATA = "load_before_anything_is_allowed"


def outcomes(folder, plugin):
    """In a process that has imported fairseq alone, as ``forked`` has them."""
    with ProcessPoolExecutor(1, mp_context=forked.server()) as pool:
        return pool.submit(stock_situations.main, folder, plugin, True).result()


@pytest.mark.slow
def test_stock_situations(tmp_path):
    """With the plugin they end as without it."""
    found = []
    for plugin in (False, True):
        (tmp_path / str(plugin)).mkdir()
        found.append(outcomes(tmp_path / str(plugin), plugin))
    without, with_plugin = found
    assert without.keys() == with_plugin.keys()
    mine = "ctxmt_fairseq.checkpoints.fairseq_fixes."
    for functions in (with_plugin["functions_of_fairseq"], with_plugin["state_at_the_end"][1]):
        assert functions[WRAPPED].startswith(mine)
        functions[WRAPPED] = without["functions_of_fairseq"][WRAPPED]
    # torch alone refuses the checkpoints that fairseq writes; that they load as data is for all.
    assert without.pop(DATA)[0] == "UnpicklingError" and with_plugin.pop(DATA) == "loads"
    for name, expected in without.items():
        assert with_plugin[name] == expected, name
    kinds = {name: each[0] for name, each in without.items() if isinstance(each, list)}
    assert {name: kind for name, kind in kinds.items() if str(kind).endswith(("Error", "Exception"))} == FAILS
    assert without["train_translation"][1] == 3 and without["resume"][1] == 5  # updates
    assert len(without["generate"]) == 5 * 6 + 1 and len(without["interactive"]) == 2 * 4
