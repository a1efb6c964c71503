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


def test_text_is_halved_by_documents_and_first_sentences_are_context(evidence, place, monkeypatch):
    commands = []

    def ctxmt(*arguments):
        commands.append(arguments)
        arguments[-1].mkdir()

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    monkeypatch.setattr(evidence.corpus, "BLOCK", 2)
    pronouns = ["He saw it .", "It is .", "They", "a kit", "it 's"]
    prefix = place.corpora / "en-fr-subtitles" / "train"
    for kind, lines in {"en": pronouns, "fr": pronouns, "docids": "abbbb"}.items():
        with prefix.with_suffix(f".{kind}").open("a") as stream:
            stream.writelines(f"{line}\n" for line in lines)
    for folder in ("data-4000", "data-context", "data-pronouns"):
        evidence.corpus.prepare(place, evidence.texts.SUBTITLES, folder)
    text = place.work / "text"
    assert (text / "dev.docids").read_text().split() == ["d", "f"]
    assert (text / "test.docids").read_text().split() == ["e", "e", "g"]
    assert (text / "test.fr").read_text() == "v1 fr\nv2 fr\nv4 fr\n"
    for part in ("context", "pronouns"):
        assert (text / f"{part}.docids").read_text().split() == list("aacccbbbb")
    assert (text / "context.current").read_text().split() == list("010110111")
    assert (text / "pronouns.current").read_text().split() == list("000000101")
    assert (text / "starts.current").read_text().split() == list("000001101")
    assert (text / "context-even.current").read_text().split() == list("010110000")
    assert (text / "context-odd.current").read_text().split() == list("000000111")
    assert (text / "pronouns-odd.current").read_text().split() == list("000000101")
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


def test_tags_of_whole_pages_are_those_of_all_their_sentences(evidence, place, monkeypatch):
    def ctxmt(command, *arguments):
        given = dict(zip(arguments, arguments[1:], strict=False))
        assert command == "corpus" and arguments[1] == place.home(pages) / "text" / "train"
        given["--output"].write_text("tags\n")

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    pages = evidence.texts.HELP["fr"]
    text = place.home(pages) / "text"
    text.mkdir(parents=True)
    for kind in pages.kinds:
        (text / f"train.{kind}").write_text(f"{kind}\n")
    evidence.corpus.tag(place, pages)
    assert not list(text.glob("*.current"))
    assert [(text / f"tagged.{kind}").read_text() for kind in pages.kinds] == ["en\n", "fr\n", "docids\n"]


@pytest.mark.parametrize("finders", ["whole", "halves"])
def test_what_is_found_is_as_much_as_has_pronouns_on_the_same_text(evidence, place, monkeypatch, finders):
    chosen = {"context": "01010", "context-even": "01000", "context-odd": "00010"}

    def ctxmt(command, *arguments):
        given = dict(zip(arguments, arguments[1:], strict=False))
        if command == "probe":
            model, text = arguments[:2]
            finder = evidence.systems.FINDERS[finders][text.name]
            assert model == evidence.training.checkpoint(place, *finder)
            assert given["--select"] == chosen[text.name].count("1") and given["--against"] == "random"
            given["--select-output"].write_text("".join(f"{mark}\n" for mark in chosen[text.name]))
            given["--words"].write_text(f"bits of {text.name}\n")
        elif command == "corpus":
            assert arguments[:2] == ("tag", place.work / "text" / "context")
            given["--output"].write_text("tags\n")
        else:
            given["--out"].mkdir()

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    text = place.work / "text"
    text.mkdir(parents=True)
    (text / "ready").touch()
    marks = {"pronouns": "00110", "pronouns-even": "00100", "pronouns-odd": "00010", "context": "01110"}
    for part, current in marks.items():
        (text / f"{part}.current").write_text("".join(f"{mark}\n" for mark in current))
    for kind in ("en", "fr", "docids"):
        (text / f"context.{kind}").write_text(f"{kind}\n")
    for _ in range(2):
        evidence.corpus.find(place, evidence.texts.SUBTITLES, evidence.systems.FINDERS[finders])
        evidence.corpus.tag(place, evidence.texts.SUBTITLES)
    kind = "halves-" if finders == "halves" else ""
    for folder in (f"{kind}weighted", "tagged"):
        assert (text / f"{folder}.current").read_text() == (text / "pronouns.current").read_text()
    assert (text / "upsampled.current").read_text() == (text / "context.current").read_text()
    assert (text / f"{kind}selected.current").read_text() == "0\n1\n0\n1\n0\n"
    bits = "".join(f"bits of {part}\n" for part in evidence.systems.FINDERS[finders])
    for folder in (f"{kind}weighted", f"{kind}selected", "tagged", "upsampled"):
        assert (text / f"{folder}.fr").read_text() == "fr\n"
        evidence.corpus.prepare(place, evidence.texts.SUBTITLES, f"data-{folder}")
        name = evidence.corpus.FOUND[folder].partition(".")[2]
        content = {"words.jsonl": bits, "tags.jsonl": "tags\n"}[name]
        assert (place.work / f"data-{folder}" / f"train.en-fr.{name}").read_text() == content


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
