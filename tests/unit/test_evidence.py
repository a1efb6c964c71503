"""The driver of examples/evidence: which runs, from where, what is skipped, and the tables of the results."""

import itertools
import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def evidence():
    """The modules of the driver."""
    sys.path.insert(0, str(EXAMPLES))
    names = "corpus", "systems", "tables", "training", "workplace"
    modules = {name: import_module(f"evidence.{name}") for name in names}
    yield SimpleNamespace(driver=import_module("evidence.__main__"), **modules)
    sys.path.remove(str(EXAMPLES))


@pytest.fixture
def place(evidence, tmp_path):
    """A workplace whose corpora are six tiny documents and an empty contrastive set."""
    found = evidence.workplace.Workplace(tmp_path / "data", tmp_path / "work", tmp_path / "results")
    documents = {"train": ("a a b c c c".split(), "a"), "valid": ("d e e f g".split(), "v")}
    for split, (ids, letter) in documents.items():
        prefix = found.corpora / found.TEXT / split
        prefix.parent.mkdir(parents=True, exist_ok=True)
        for kind in ("en", "fr"):
            lines = "".join(f"{letter}{number} {kind}\n" for number in range(len(ids)))
            prefix.with_suffix(f".{kind}").write_text(lines)
        prefix.with_suffix(".docids").write_text("".join(f"{each}\n" for each in ids))
    suite = found.corpora / found.SUITE
    suite.mkdir(parents=True)
    (suite / "OpenSubs.current.src").touch()
    return found


@pytest.fixture
def calls(evidence, place, monkeypatch):
    """What the driver did, with trainings and evaluations that only say so."""
    done = []

    def train(_, row, seed):
        done.append(("train", row, seed))
        place.run(row, seed).mkdir(parents=True, exist_ok=True)
        for name, text in {"train.log": "", "cpu": "3\n4\n"}.items():
            (place.run(row, seed) / name).write_text(text)

    def evaluate(_, row, seed):
        done.append(("evaluate", row, seed))
        return result(row, seed, "1")

    monkeypatch.setattr(evidence.driver, "workplace", lambda: place)
    monkeypatch.setattr(evidence.corpus, "prepare", lambda _, folder: done.append(folder))
    monkeypatch.setattr(evidence.corpus, "statistics", lambda *_: {})
    monkeypatch.setattr(evidence.training, "train", train)
    monkeypatch.setattr(evidence.driver.evaluation, "evaluate", evaluate)
    return done


def result(row, seed, decisions, bleu=10.0):
    accuracy = 100 * decisions.count("1") / len(decisions)
    pronouns = {"accuracy": accuracy, "phenomena": {"elle": {"accuracy": accuracy}}, "decisions": decisions}
    scores = [{"name": "BLEU", "level": "sentence", "score": bleu}]
    curve = [{"updates": 1, "loss": 2.5}]
    return {
        "row": row,
        "seed": seed,
        "learning_curve": curve,
        "cpu_seconds": 60,
        "scores": {"scores": scores},
        "pronouns": {"document": pronouns},
    }


def test_runs_of_names(evidence):
    chosen = evidence.systems.chosen
    everything = chosen([])
    assert everything[0] == evidence.systems.START
    assert [seed for _, seed in everything] == sorted(seed for _, seed in everything)
    assert len(everything) == sum(len(system.seeds) for system in evidence.systems.SYSTEMS.values())
    assert {seed for _, seed in chosen([], seeds=1)} == {1}
    assert chosen(["gated.2", "control", "gated.2"]) == [("gated", 2), *(("control", n) for n in (1, 2, 3))]
    assert chosen(["search"]) == [(name, 1) for name in evidence.systems.SEARCH]
    assert chosen(["search-dropout-0.3", "search-dropout-0.3.1"]) == [("search-dropout-0.3", 1)]
    for wrong in ("s9to9", "gated.x", ".1"):
        with pytest.raises(ValueError, match="expected search, ROW or ROW.SEED"):
            chosen([wrong])


def test_every_required_system_has_three_seeds(evidence):
    required = "sentence control s2to2 s2to2+CD s2to2+shift+CD caching gated".split()
    assert {name: evidence.systems.SYSTEMS[name].seeds for name in required} == dict.fromkeys(
        required, (1, 2, 3)
    )
    reading = {name for name in required if evidence.systems.SYSTEMS[name].reads_context}
    assert reading == set(required[2:])


def test_the_second_stage_starts_from_the_first(evidence, place):
    start = str(place.work / "runs/sentence.1/checkpoints/checkpoint_last.pt")
    for row in ("sentence", "control", "s2to2+shift+CD", "caching"):
        flags = evidence.training.flags(place, row, 2)
        assert flags[flags.index("--seed") + 1] == "2"
        assert (start in flags) == (row != "sentence")
        assert start not in flags or flags[flags.index(start) - 1] == "--sentence-checkpoint"
        assert flags[flags.index("--save-dir") + 1] == str(place.work / f"runs/{row}.2/checkpoints")


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
    (place.corpora / place.TEXT / "train.en").unlink()
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
    assert (record["row"], record["seed"], record["cpu_seconds"]) == ("gated", 3, 60)
    assert record["train"][:3] == ["EVIDENCE_DIR/data-pronouns", "--user-dir", "ctxmt_fairseq"]


def test_a_killed_run_leaves_no_result_and_goes_on(evidence, place, calls, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    evaluate = evidence.driver.evaluation.evaluate
    monkeypatch.setattr(evidence.driver.evaluation, "evaluate", killed)
    with pytest.raises(KeyboardInterrupt):
        evidence.driver.main(["sentence.1", "control.1"])
    assert not place.results.exists()
    monkeypatch.setattr(evidence.driver.evaluation, "evaluate", evaluate)
    evidence.driver.main(["sentence.1", "control.1"])
    assert sorted(path.name for path in place.results.iterdir()) == ["control.1.json", "sentence.1.json"]


def test_a_finished_training_is_not_repeated(evidence, place, monkeypatch):
    commands = []

    def train(flags, log):
        commands.append(flags)
        for name in ("checkpoint_last.pt", "checkpoint_1_250.pt", "checkpoint_best.pt"):
            path = evidence.training.checkpoint(place, "sentence", 1).with_name(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    monkeypatch.setattr(evidence.training.commands, "train", train)
    for _ in range(2):
        evidence.training.train(place, "sentence", 1)
    assert len(commands) == 1
    kept = evidence.training.checkpoint(place, "sentence", 1)
    assert list(kept.parent.iterdir()) == [kept]


def test_refusals_are_one_line(evidence, place, calls):
    for arguments, said in (
        (["s5to5"], "s5to5: expected search, ROW or ROW.SEED"),
        ([], "train.docids: no such file; DATA"),
    ):
        if not arguments:
            (place.corpora / place.TEXT / "train.docids").unlink()
        with pytest.raises(SystemExit) as refusal:
            evidence.driver.main(arguments)
        assert said in str(refusal.value) and "\n" not in str(refusal.value)
    assert calls == [] and not place.work.exists()


def test_two_drivers_share_the_runs(evidence, place, calls, monkeypatch, capsys):
    others = []

    def evaluate(_, row, seed):
        if not others:
            others.append(None)
            evidence.driver.main(["sentence.1", "control.1"])  # as another process would, just now
        calls.append(("evaluate", row, seed))
        return result(row, seed, "1")

    monkeypatch.setattr(evidence.systems, "START", ("sentence", 2))  # the other would wait for this one's
    monkeypatch.setattr(evidence.driver.evaluation, "evaluate", evaluate)
    evidence.driver.main(["sentence.1", "control.1"])
    assert [call[1] for call in calls if call[0] == "evaluate"] == ["control", "sentence"]
    assert "sentence.1: left to another run.sh" in capsys.readouterr().out


def test_text_is_halved_by_documents_and_first_sentences_are_context(evidence, place, monkeypatch):
    commands = []

    def ctxmt(*arguments):
        commands.append(arguments)
        arguments[-1].mkdir()

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    pronouns = ["He saw it .", "It is .", "They", "a kit", "it 's"]
    lines = [(line, line, "abbbb"[place]) for place, line in enumerate(pronouns)]
    read = evidence.corpus._read
    monkeypatch.setattr(
        evidence.corpus, "_read", lambda place, split: read(place, split) + lines * (split == "train")
    )
    for folder in ("data-4000", "data-context", "data-pronouns"):
        evidence.corpus.prepare(place, folder)
    text = place.work / "text"
    assert (text / "dev.docids").read_text().split() == ["d", "f"]
    assert (text / "test.docids").read_text().split() == ["e", "e", "g"]
    assert (text / "test.fr").read_text() == "v1 fr\nv2 fr\nv4 fr\n"
    for part in ("context", "pronouns"):
        assert (text / f"{part}.docids").read_text().split() == list("aacccbbbb")
    assert (text / "context.current").read_text().split() == list("010110111")
    assert (text / "pronouns.current").read_text().split() == list("000000101")
    assert [command[command.index("--out") + 1].name for command in commands] == [
        "data-4000",
        "data",
        "data-context",
        "data-pronouns",
    ]
    sizes = [command[command.index("--vocab-size") + 1] for command in commands if "--vocab-size" in command]
    assert sizes == ["4000", evidence.systems.VOCABULARY]
    for command, part in zip(commands[2:], ("context", "pronouns"), strict=True):
        assert command[:3] == ("preprocess", "--train", text / part)
        assert command[-4:] == ("--like", place.work / "data", "--out", place.work / f"data-{part}")
    assert not any("contrastive" in str(part) for command in commands for part in command)


def test_learning_curve_is_read_from_the_log(evidence, tmp_path):
    log = tmp_path / "train.log"
    losses = '"valid_loss": "8", "valid_current_loss": "7.5", "valid_nll_loss": "7"'
    first = f'| INFO | valid | {{{losses}, "valid_num_updates": "250"}}'
    lines = [
        '| INFO | train_inner | {"epoch": 1, "current_loss": "9.1", "num_updates": "100"}',
        first,
        "killed, and started again",
        first,
        '| INFO | valid | {"valid_loss": "6.25", "valid_nll_loss": "6", "valid_num_updates": "500"}',
    ]
    log.write_text("\n".join(f"2026-01-01 00:00:00 {line}" for line in lines))
    curve = evidence.training.learning_curve(log)
    assert curve == [
        {"updates": 250, "loss": 7.5, "nll": 7.0},
        {"updates": 500, "loss": 6.25, "nll": 6.0},
    ]


def test_tables_compare_with_the_control_of_the_same_seed(evidence, tmp_path):
    """20 examples that only the system has right: McNemar's exact p is 2 / 2^20, with stars."""
    wins = {"control": "0" * 20 + "1" * 10, "gated": "1" * 30}
    for (row, decisions), seed in itertools.product(wins.items(), (1, 2)):
        (tmp_path / f"{row}.{seed}.json").write_text(json.dumps(result(row, seed, decisions, 10.0 + seed)))
    (tmp_path / "search.json").write_text("{}")
    candidate = {"row": "search-base", "seed": 1, "learning_curve": []}  # has no decisions
    (tmp_path / "search-base.1.json").write_text(json.dumps(candidate))
    text = evidence.tables.text(evidence.tables.read(tmp_path))
    assert "| gated | +66.67**, +66.67** | +66.67 | 0.0001 |" in text
    assert "| control | 1, 2 | 2.500 ± 0.000 | 11.50 ± 0.71 |" in text
    assert "| gated | 1, 2 | 100.00 ± 0.00 |  | 100.00 ± 0.00 |" in text
    missing = text.rpartition("Missing: ")[2]
    assert "`sentence.1`" in missing and "`gated.3`" in missing and "`gated.1`" not in missing


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
    assert "| search-base | 700 | 5.000 | 72.00 | 0.1 |" in output and "`search" not in output


def test_candidates_override_the_size_that_was_chosen(evidence, place):
    flags = evidence.training.flags(place, "search-750-tokens", 1)
    last = {name: value for name, value in zip(flags, flags[1:], strict=False)}
    assert (last["--max-tokens"], last["--max-update"]) == ("750", "1400")
    assert flags[0] == str(place.work / "data")
    assert evidence.training.flags(place, "search-4000-pieces", 1)[0] == str(place.work / "data-4000")


def test_permutation_p_is_the_share_of_sign_patterns(evidence):
    differences = np.array([0.5, 0.25, 1.0, -0.25, 0.75])
    patterns = np.array(list(itertools.product((-1, 1), repeat=5))) @ differences
    exact = (abs(patterns) >= differences.sum()).mean()
    assert evidence.tables.permutation_p(differences) == pytest.approx(exact, abs=0.02)
    assert evidence.tables.permutation_p(np.zeros(5)) == 1.0


def test_tables_replace_those_of_the_page(evidence, tmp_path):
    page = tmp_path / "evidence.md"
    page.write_text(f"# Before\n{evidence.tables.BEGIN}\nold\n{evidence.tables.END}\n## After\n")
    for _ in range(2):
        evidence.tables.rewrite(page, {("control", 1): result("control", 1, "10")})
    text = page.read_text()
    assert text.startswith("# Before\n") and text.endswith(f"{evidence.tables.END}\n## After\n")
    assert "old" not in text and text.count("| control | 1 |") == 2
