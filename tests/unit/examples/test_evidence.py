"""The driver of examples/evidence: which runs, from where, and what is skipped."""

import itertools
import json

import pytest

from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.evidence_runs import evaluation_result, result


@pytest.fixture
def calls(evidence, place, monkeypatch):
    """What the driver did, with trainings and evaluations that only say so."""
    done = []

    def train(flags, log):
        row, _, seed = log.parent.name.rpartition(".")
        done.append(("train", row, int(seed)))
        for name, text in {log.name: "", "cpu": "3\n4\n", "checkpoints/checkpoint_last.pt": ""}.items():
            path = log.parent / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def evaluate(run, names):
        done.append(("evaluate", run.row, run.seed))
        return {name: part for name, part in evaluation_result("1").items() if name in names}

    monkeypatch.setattr(evidence.driver, "workplace", lambda: place)
    monkeypatch.setattr(evidence.corpus, "prepare", lambda _, __, folder: done.append(folder))
    monkeypatch.setattr(evidence.corpus, "find", lambda _, __, finders: done.append(("find", finders)))
    monkeypatch.setattr(evidence.corpus, "tag", lambda *_: done.append("tag"))
    monkeypatch.setattr(evidence.corpus, "embed", lambda _, __, folder: done.append(("embed", folder)))
    monkeypatch.setattr(evidence.corpus, "statistics", lambda *_: {})
    monkeypatch.setattr(evidence.commands, "train", train)
    monkeypatch.setattr(evidence.evaluation, "evaluate", evaluate)
    return done


def test_the_second_stage_starts_from_the_first(evidence, place):
    start = str(place.work / "runs/sentence.1/checkpoints/checkpoint_last.pt")
    for row in ("sentence", "control", "s2to2+shift+CD", "caching"):
        flags = evidence.training.flags(place, row, 2)
        assert flags[flags.index("--seed") + 1] == "2"
        assert (start in flags) == (row != "sentence")
        assert start not in flags or flags[flags.index(start) - 1] == "--sentence-checkpoint"
        assert flags[flags.index("--save-dir") + 1] == str(place.work / f"runs/{row}.2/checkpoints")


def test_the_second_stage_on_help_pages_starts_from_its_language(evidence, place):
    start = str(place.work / "runs/fr-help-sentence.1/checkpoints/checkpoint_last.pt")
    flags = evidence.training.flags(place, "fr-help-control", 1)
    assert flags[flags.index("--sentence-checkpoint") + 1] == start
    assert flags[0] == str(place.work / "en-fr-help/data")


def test_the_context_stage_differs_in_the_system_alone(evidence, place):
    """As many updates, with the same schedule, on the same text, whatever the context."""
    stage = evidence.systems.STAGES["context"].flags.split()
    for row, system in evidence.systems.SYSTEMS.items():
        if system.stage == "context":
            flags = evidence.training.flags(place, row, 1)
            assert all(flag in flags for flag in stage) and flags[0] == str(place.work / "data-pronouns")


def test_finished_runs_are_skipped_without_any_file_but_the_result(evidence, place, calls, capsys):
    place.results.mkdir()
    for row, seed in [("sentence", 1), ("control", 1)]:
        place.result(row, seed).write_text(json.dumps(result(row, seed, "10")))
    (place.corpora / "en-fr-subtitles" / "train.en").unlink()
    evidence.driver.main(["sentence.1", "control.1"])
    assert calls == []
    assert "| control | 1 | 2.500 | 10.00 |" in capsys.readouterr().out


def test_a_start_is_trained_anew_where_only_its_result_is_left(evidence, place, calls):
    place.results.mkdir()
    place.result("sentence", 1).write_text(json.dumps(result("sentence", 1, "10")))
    evidence.driver.main(["gated.3"])
    assert calls == [
        "data-pronouns",
        ("train", "sentence", 1),
        ("train", "gated", 3),
        ("evaluate", "gated", 3),
    ]
    record = json.loads(place.result("gated", 3).read_text())
    assert (record["row"], record["seed"], record["cpu_seconds"]) == ("gated", 3, 7)
    assert record["train"][:3] == ["EVIDENCE_DIR/data-pronouns", "--user-dir", "ctxmt_fairseq"]


def test_a_killed_run_leaves_no_result_and_goes_on(evidence, place, calls, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    evaluate = evidence.evaluation.evaluate
    monkeypatch.setattr(evidence.evaluation, "evaluate", killed)
    with pytest.raises(KeyboardInterrupt):
        evidence.driver.main(["sentence.1", "control.1"])
    assert not place.results.exists()
    monkeypatch.setattr(evidence.evaluation, "evaluate", evaluate)
    evidence.driver.main(["sentence.1", "control.1"])
    assert sorted(path.name for path in place.results.iterdir()) == ["control.1.json", "sentence.1.json"]


def test_refusals_are_one_line(evidence, place, calls):
    for arguments, said in (
        (["s5to5"], "s5to5: expected search, ROW or ROW.SEED"),
        ([], "train.docids: no such file; DATA is the folder of en-fr-subtitles/"),
    ):
        if not arguments:
            (place.corpora / "en-fr-subtitles" / "train.docids").unlink()
        with pytest.raises(BadInput, match=said):
            evidence.driver.main(arguments)
    assert calls == [] and not place.work.exists()


def test_two_drivers_share_the_runs(evidence, place, calls, monkeypatch, capsys):
    others = []

    def evaluate(run, names):
        if not others:
            others.append(None)
            evidence.driver.main(["sentence.1", "control.1"])  # as another process would, just now
        calls.append(("evaluate", run.row, run.seed))
        return dict.fromkeys(names, {}) | evaluation_result("1")

    # the other would wait for this one's
    monkeypatch.setattr(evidence.systems, "start_of", lambda row: ("sentence", 2))
    monkeypatch.setattr(evidence.evaluation, "evaluate", evaluate)
    evidence.driver.main(["sentence.1", "control.1"])
    assert [call[1] for call in calls if call[0] == "evaluate"] == ["control", "sentence"]
    assert "sentence.1: left to another run.sh" in capsys.readouterr().out


@pytest.mark.parametrize(
    "row, data, finders",
    [
        ("gated+weights", "data-weighted", {"context": ("gated", 1)}),
        (
            "gated+halves+selection",
            "data-halves-selected",
            {"context-even": ("gated-odd", 1), "context-odd": ("gated-even", 1)},
        ),
    ],
)
def test_where_context_matters_is_found_by_the_finders_first(evidence, place, calls, row, data, finders):
    """A model of the same text, or for each half one that was trained on the other."""
    evidence.driver.main([f"{row}.2"])
    known = evidence.systems
    learned = [known.STAGES[known.ALL[finder].stage].data for finder, _ in finders.values()]
    trained = [("train", *finder) for finder in finders.values()]
    found = [("find", finders), data, ("train", row, 2), ("evaluate", row, 2)]
    first, *others = zip(learned, trained, strict=True)
    assert calls == [first[0], ("train", "sentence", 1), first[1], *itertools.chain(*others), *found]


@pytest.mark.parametrize(
    ("row", "start", "data"),
    [
        ("gated+tags", "sentence", "data-pronouns"),
        ("fr-help-s2to2+restart+tags", "fr-help-sentence", "data"),
    ],
)
def test_tags_need_no_finder(evidence, place, calls, monkeypatch, row, start, data):
    monkeypatch.setattr(evidence.workplace.Workplace, "check", lambda *_: None)
    evidence.driver.main([f"{row}.1"])
    trained = [("train", start, 1), ("train", row, 1)]
    assert calls == [data, "tag", "data-tagged", *trained, ("evaluate", row, 1)]


def test_candidates_are_compared_by_bits_a_sentence(evidence, place, calls, capsys, monkeypatch):
    """They are trained and validated, not evaluated; their vocabularies may differ."""
    curve = [{"updates": 700, "loss": 6.0, "nll": 5.0}]
    valid = {"valid": {"sentences": 10, "tokens": {"fr": 144}}}
    monkeypatch.setattr(evidence.training, "learning_curve", lambda _: curve)
    monkeypatch.setattr(evidence.corpus, "statistics", lambda *_: valid)
    evidence.driver.main(["search-4000-pieces", "search-base"])
    trained = [("train", name, 1) for name in ("search-4000-pieces", "search-base")]
    assert calls == ["data-4000", trained[0], "data", trained[1]]
    output = capsys.readouterr().out
    assert "| search-base | 700 | 5.000 | 77.00 | 0.1 |" in output and "`search" not in output


def test_candidates_override_the_size_that_was_chosen(evidence, place):
    flags = evidence.training.flags(place, "search-750-tokens", 1)
    last = {name: value for name, value in zip(flags, flags[1:], strict=False)}
    assert (last["--max-tokens"], last["--max-update"]) == ("750", "1400")
    assert flags[0] == str(place.work / "data")
    assert evidence.training.flags(place, "search-4000-pieces", 1)[0] == str(place.work / "data-4000")


def test_what_an_earlier_driver_left_out_is_made_where_the_checkpoint_is(evidence, place, calls):
    place.results.mkdir()
    for row in ("control", "s2to2", "gated"):
        place.result(row, 1).write_text(json.dumps(result(row, 1, "10")))
    for row in ("control", "s2to2"):
        evidence.training.checkpoint(place, row, 1).parent.mkdir(parents=True)
        evidence.training.checkpoint(place, row, 1).touch()
        (place.run(row, 1) / "trained").touch()
    run = evidence.evaluation.Trained(place, "s2to2", 1)
    lacking = evidence.evaluation.missing(run, result("s2to2", 1, "10"))
    assert lacking == ["statistics", "probe", "post_editing", "windows", "attention", "lengths"]
    assert evidence.evaluation.missing(run.control, result("control", 1, "10")) == ["statistics", "lengths"]
    evidence.driver.main(["control.1", "s2to2.1", "gated.1"])
    assert calls == [("evaluate", "control", 1), ("evaluate", "s2to2", 1)]


def test_every_part_has_the_commit_that_evaluated_it(evidence, place, calls, monkeypatch):
    every = evidence.evaluation.PARTS
    for commit, parts in (("first", ("scores",)), ("second", ("scores", "pronouns"))):
        monkeypatch.setattr(evidence.commands, "commit", lambda commit=commit: commit)
        monkeypatch.setattr(evidence.evaluation, "PARTS", {name: every[name] for name in parts})
        evidence.driver.main(["sentence.1"])
    record = evidence.records.read(place.result("sentence", 1))
    assert record["evaluated_by"] == {"scores": "first", "pronouns": "second"}
    assert record["commit"] == "first"


def test_terms_are_compared_as_soon_as_the_simpler_systems_have_translated(evidence, place):
    """Else a result would keep for ever a comparison with the control alone."""
    runs = {
        name: evidence.evaluation.Trained(place, f"de-help-{name}", 2)
        for name in ("sentence", "control", "s2to2")
    }
    applies = evidence.evaluation.PARTS["consistency"].applies
    comparable = [[name for name, run in runs.items() if applies(run)]]
    for run in runs.values():
        run.translation.parent.mkdir(parents=True)
        run.translation.touch()
        comparable.append([name for name, run in runs.items() if applies(run)])
    assert comparable == [["sentence"], ["sentence", "control"], list(runs), list(runs)]


def test_sentence_vectors_are_made_for_the_system_that_reads_them(evidence, place, calls):
    evidence.driver.main(["MTCue.1", "gated.1"])
    assert calls.count(("embed", "data-pronouns")) == 1
    assert calls.index(("embed", "data-pronouns")) < calls.index(("train", "MTCue", 1))
