"""The rows of examples/evidence: which systems, with what flags, and which of them have a control."""

import json
import re
from pathlib import Path

import pytest

from tests.helpers.evidence_runs import tiny_place

RUNS = Path(__file__).parents[3] / "docs/results/runs"
PLACES = ("", "--user-dir", "--save-dir", "--sentence-checkpoint", "--amp")  # and what machines differ in


def test_runs_of_names(evidence):
    systems = evidence.systems
    everything = systems.chosen([])
    assert everything[0] == ("sentence", 1)
    required = sum(len(system.seeds) for system in systems.REQUIRED.values())
    assert {row for row, _ in everything[:required]} == set(systems.REQUIRED)
    for part in (everything[:required], everything[required:]):
        assert [seed for _, seed in part] == sorted(seed for _, seed in part)
    assert len(everything) == sum(len(system.seeds) for system in systems.SYSTEMS.values())
    assert {seed for _, seed in systems.chosen([], seeds=1)} == {1}
    assert systems.chosen(["gated.2", "control", "gated.2"]) == [
        ("gated", 2),
        *(("control", n) for n in (1, 2, 3)),
    ]
    assert systems.chosen(["gated", "control.3"], seeds=1) == [("gated", 1), ("control", 3)]
    assert systems.chosen(["s4to4"]) == systems.chosen(["s4to4.1"]) == [("s4to4", 1)]
    assert systems.chosen(["2-to-1.2", "2-to-1"]) == [("2-to-1", seed) for seed in (2, 1, 3)]
    assert systems.chosen(["search"]) == [(name, 1) for name in systems.SEARCH]
    assert systems.chosen(["search-dropout-0.3", "search-dropout-0.3.1"]) == [("search-dropout-0.3", 1)]
    for wrong in ("s9to9", "gated.x", "gated.", "gated.0", ".1", "gated.²"):
        with pytest.raises(ValueError, match="expected search, ROW or ROW.SEED"):
            systems.chosen([wrong])


def test_every_required_system_has_three_seeds(evidence):
    required = "sentence control s2to2 s2to2+CD s2to2+shift+CD caching gated".split()
    systems = evidence.systems.SYSTEMS
    assert {name: systems[name].seeds for name in required} == dict.fromkeys(required, (1, 2, 3))
    help_pages = [f"de-help-{name}" for name in ("sentence", "control", evidence.systems.BEST_HELP)]
    assert all(systems[name].seeds == (1, 2, 3) for name in help_pages)


def test_what_systems_read(evidence):
    """The single sentences are all that is translated without context; windows are those of both sides."""
    systems = evidence.systems.SYSTEMS.items()
    alone = {name for name, system in systems if not system.reads_context}
    assert alone == {name for name in evidence.systems.SYSTEMS if name.endswith(("sentence", "control"))}
    windows = {name for name, system in systems if system.reads_windows}
    assert windows == {name for name in evidence.systems.SYSTEMS if "s2to2" in name or "s4to4" in name}
    assert [name for name, system in systems if system.embeds] == ["MTCue", "CUE"]
    source = {name for name, system in systems if system.reads_context and not system.reads_target}
    assert source == {"2-to-1", "MTCue", "CUE"}


def test_windows_discount_their_context_where_their_name_says_so(evidence):
    """The criterion's own default is 0.01."""
    for row, system in evidence.systems.EVALUATED.items():
        if system.reads_windows:
            assert re.findall(r"--context-discount (\S+)", system.flags)[-1] == (
                "0.01" if "+CD" in row else "1"
            )


def test_families_have_a_start_and_a_control_without_context(evidence):
    systems = evidence.systems
    for row, system in systems.SYSTEMS.items():
        start, control = systems.SYSTEMS[systems.start_of(row)[0]], systems.SYSTEMS[systems.control_of(row)]
        assert not start.reads_context and not control.reads_context
        assert {start.text, control.text} == {system.text}
        assert start.size == control.size == system.size
        assert systems.STAGES[system.stage].second == (system is not start)
        stage = systems.STAGES[system.stage]
        assert system is start or row in systems.NEEDS or system.stage in (control.stage, "help-tagged")
        assert stage.updates == systems.STAGES[control.stage].updates or system is start


def test_rows_are_trained_as_their_published_runs_were(evidence, tmp_path):
    place, records = tiny_place(evidence, tmp_path), sorted(RUNS.rglob("*.json"))
    assert len(records) > 50
    for path in records:
        run = json.loads(path.read_text())
        now, then = (
            evidence.training.meaning(flags)
            for flags in (evidence.training.flags(place, run["row"], run["seed"]), run["train"])
        )
        if path.stem == "short-s2to2+CD.1":  # it left the criterion's default unsaid
            then["--context-discount"] = ["0.01"]
        assert {**now, **dict.fromkeys(PLACES)} == {**then, **dict.fromkeys(PLACES)}, path.name
