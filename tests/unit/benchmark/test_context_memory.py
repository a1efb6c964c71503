"""The growth of memory with the context: what is counted, the curves of figure 4, table and picture."""

import json

import numpy as np
import pytest
import torch

from scripts.benchmark import context_memory
from scripts.benchmark.__main__ import main
from scripts.benchmark.context_memory import COUNTS, SYSTEMS, memory_of_translation, slopes
from tests.helpers.allocated import peak_allocated

CPU = torch.device("cpu")


def test_what_lives_at_one_time_counts_and_what_was_there_before_does_not():
    before = torch.ones(2**18)

    def work():
        nonlocal before
        torch.ones(2**18)  # 1 MiB, freed at once
        two = torch.ones(2**19)
        three = before.repeat(3)
        del two, three, before
        return torch.ones(2**18)

    assert peak_allocated(work, CPU) == pytest.approx(5, abs=0.01)


def test_a_line_has_the_ratio_one_and_the_square_of_the_window_more():
    (line,) = slopes("", [3 + 2 * count for count in COUNTS]).ratios
    assert line == pytest.approx(1)
    (square,) = slopes("", [(count + 1) ** 2 for count in COUNTS]).ratios
    assert square == pytest.approx(2.46, abs=0.01)


@pytest.mark.slow
def test_the_curves_have_the_shapes_of_the_paper_s_figure():
    peaks = {
        (system, attention): np.array(
            [memory_of_translation("tiny", CPU, system, attention, count) for count in (1, 10, 15, 20)]
        )
        for system, attention in (
            *((system, "plain") for system in SYSTEMS),
            ("concatenation", "fused"),
        )
    }
    early, middle, late = {}, {}, {}
    for curve, (one, ten, fifteen, twenty) in peaks.items():
        early[curve], middle[curve] = (ten - one) / 9, (fifteen - ten) / 5
        late[curve] = (twenty - ten) / 10
    for system in ("concatenation", "multi-encoder"):  # quadratic
        assert late[system, "plain"] > 2 * early[system, "plain"]
    linear = [("caching tokens", "plain"), ("shortening (mean)", "plain"), ("concatenation", "fused")]
    for curve in linear:
        assert late[curve] == pytest.approx(middle[curve], rel=0.05)
        # With few sentences the peak is in the last step, with many in the first: the greater of two lines.
        assert early[curve] <= 1.01 * late[curve] < 1.2 * early[curve]
    assert late["shortening (mean)", "plain"] < 0.6 * late["caching tokens", "plain"]


def test_the_command_writes_a_table_and_a_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(context_memory, "memory_of_translation", lambda *args: 1.0 + args[4])
    picture, report = tmp_path / "memory.png", tmp_path / "memory.json"
    main(["memory", "--cpu", "--plot", str(picture), "--json", str(report)])
    table = capsys.readouterr().out
    assert "caching tokens, fused attention" in table
    assert picture.read_bytes().startswith(b"\x89PNG")
    comparisons = json.loads(report.read_text())["comparisons"]
    assert len(comparisons) == len(SYSTEMS) * (2 + len(COUNTS))
