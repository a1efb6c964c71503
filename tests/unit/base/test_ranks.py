"""How processes share the work of a command."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.cli.main import main


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 5))
def test_every_piece_is_one_process_own_and_none_has_much_more(weights, processes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORLD_SIZE", str(processes))
        patch.setattr(ranks, "_sharing", True)
        shares = []
        for rank in range(processes):
            patch.setenv("RANK", str(rank))
            shares.append(ranks.own_share(weights))
    assert np.array_equal(np.sum(shares, axis=0), np.ones(len(weights)))
    loads = [sum(np.array(weights)[share]) for share in shares] if weights else [0]
    assert max(loads) - min(loads) <= max(weights, default=0)


def test_one_process_has_everything(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")  # as in a training, whose commands share nothing
    monkeypatch.setenv("RANK", "2")
    assert ranks.own_share([1, 2]).all() and ranks.united({1: 2}) == {1: 2} and ranks.number() == 0


def test_what_else_sets_the_size_of_a_world_starts_nothing(monkeypatch):
    for name, value in {"WORLD_SIZE": "4", "RANK": "1", "MASTER_ADDR": "here"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MASTER_PORT", raising=False)
    assert not ranks.started()
    monkeypatch.setenv("MASTER_PORT", "1")
    assert ranks.started()


@pytest.mark.parametrize("output", ["-", "/dev/fd/1"])
def test_only_the_first_process_writes_to_standard_output(output, tmp_path, monkeypatch, capfd):
    suite, scores = tmp_path / "set.jsonl", tmp_path / "scores"
    suite.write_text(
        '{"id": "1", "phenomenon": "p", "distance": 0, "context": "metadata", "source": ["It."], '
        '"current": 0, "targets": [["Il."], ["Elle."]], "correct": 0}\n'
    )
    scores.write_text("-1 2\n-2 2\n")
    monkeypatch.setattr(ranks, "_sharing", False)
    for name, value in {"WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    for rank, printed in ((0, True), (1, False)):
        monkeypatch.setenv("RANK", str(rank))
        assert main(["contrast", str(suite), "--scores", str(scores), "--json", output]) == 0
        assert ('"name": "set"' in capfd.readouterr().out) == printed
