"""``ctxmt evaluate``: made once, and made again when something has changed."""

import shutil
from types import SimpleNamespace

import pytest
import torch

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.runs import evaluator as evaluator_module
from ctxmt_fairseq.evaluation.runs.ledger import Ledger
from ctxmt_fairseq.evaluation.runs.model_files import content_of, hashes
from tests.helpers.evaluations import SEARCH, evaluate, evaluate_alone, run, suite
from tests.helpers.probed_models import LENGTHS, TASKS, checkpoint, write_text


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """task -> checkpoint, which no test changes."""
    root = tmp_path_factory.mktemp("models")
    return {task: checkpoint(root / task, task) for task in TASKS}


@pytest.fixture
def text(tmp_path):
    return str(write_text(tmp_path))


@pytest.fixture
def made(monkeypatch):
    """The steps that were done, not only looked up."""
    steps = []
    make = Ledger.make

    def spied(self, step, made_from, files, work, *about, **how):
        done = make(self, step, made_from, files, work, *about, **how)
        steps.extend([step] if done else [])
        return done

    monkeypatch.setattr(Ledger, "make", spied)
    return steps


def test_a_training_s_folder(models, text, tmp_path, made):
    """Of two checkpoints, the best and the average; in OUT unless told otherwise."""
    state = torch.load(models["multi_source"], weights_only=False)
    folder = tmp_path / "run" / "checkpoints"
    folder.mkdir(parents=True)
    for number, name in enumerate(("checkpoint1.pt", "checkpoint2.pt"), 1):
        for tensor in state["model"].values():
            tensor += 0.1 if tensor.is_floating_point() else 0
        state["optimizer_history"][-1]["num_updates"] = number
        state["extra_state"]["val_loss"] = float(number)
        torch.save(state, folder / name)
        if number == 1:
            torch.save(state, folder / "checkpoint_best.pt")
    run("evaluate", tmp_path / "run", text, *SEARCH)
    best = tmp_path / "run" / "evaluation" / "prefix.hyp"
    assert best.read_text() == evaluate_alone(folder / "checkpoint1.pt", text, tmp_path / "best")
    made.clear()
    run("evaluate", folder, text, "--average", 2, "--out", tmp_path / "two", *SEARCH)
    run("average", folder, "--count", 2, "--output", tmp_path / "averaged.pt")
    averaged = (tmp_path / "two" / "prefix.hyp").read_text()
    assert (
        averaged == evaluate_alone(tmp_path / "averaged.pt", text, tmp_path / "averaged") != best.read_text()
    )
    made.clear()
    run("evaluate", folder, text, "--average", 2, "--out", tmp_path / "two", *SEARCH)
    assert made == []  # not averaged again either


def test_what_is_done_is_not_done_again(models, text, tmp_path, made, monkeypatch):
    model, out, pairs = models["metadata_context"], tmp_path / "out", suite(tmp_path)
    first = evaluate(model, text, out, pairs, "--contexts", "trained absent")
    steps = ["prefix.hyp", "prefix.score.json", "prefix.absent.hyp", "prefix.absent.score.json"]
    assert made == [*steps, "pairs.contrast.json"]
    made.clear()
    assert evaluate(model, text, out, pairs, "--contexts", "trained absent") == first and made == []
    assert evaluate(model, text, out)["contrast"] == first["contrast"]  # still of this model

    def changed(*expected, model=model, options=()):
        made.clear()
        evaluate(model, text, out, pairs, *options)
        assert made == list(expected)

    changed("prefix.score.json", options=("--tokenize", "char"))
    changed("prefix.score.json")
    changed("pairs.contrast.json", options=("--convention", "mean-window"))
    suite(tmp_path).write_text(pairs.read_text().replace("h i j", "j"))
    changed("pairs.contrast.json")
    changed("prefix.hyp", options=("--lenpen", "0.9"))  # the same words: they are scored already
    changed("prefix.hyp")
    every = ("prefix.hyp", "prefix.score.json", "pairs.contrast.json")
    for options in (("--source-context", "0"), ("--quantization", "int8"), ()):
        changed(*every, options=options)
    (out / "prefix.hyp").write_text("edited\n")
    changed("prefix.hyp")
    (out / "prefix.score.json").unlink()
    changed("prefix.score.json")
    for suffix, line in (("fr", "a b c"), ("en", "j"), ("meta.jsonl", '{"genre": "Horror"}')):
        lines = open(f"{text}.{suffix}").read().splitlines()
        lines[2] = line
        open(f"{text}.{suffix}", "w").write("".join(f"{line}\n" for line in lines))
        made.clear()
        results = evaluate(model, text, out, pairs)
        assert made[0] == "prefix.hyp" and made[-1] == "prefix.score.json"
        assert set(results["translations"]) == {"prefix"}  # that of the absent context is another text's
    state = torch.load(model, weights_only=False)
    next(iter(state["model"].values())).add_(0.5)
    other = shutil.copytree(model.parent, tmp_path / "other") / "model.pt"
    torch.save(state, other)
    changed("prefix.hyp", "prefix.score.json", "pairs.contrast.json", model=other)


def test_results_are_of_one_search(models, text, tmp_path):
    """A table would compare contexts that were searched, scored or given otherwise."""
    model, out, both = models["document_window"], tmp_path / "out", {"prefix", "prefix.absent"}
    searched = ("--lenpen", "opt", "--dev", text, "--lenpens", "1")
    for options in (("--unkpen", "1"), ("--lenpen", "2"), ("--tokenize", "char"), searched):
        evaluate(model, text, out, "--contexts", "absent", *options)
        assert set(evaluate(model, text, out)["translations"]) == {"prefix"}
    evaluate(model, text, out, "--target-context-from", "reference", "--contexts", "absent")
    assert set(evaluate(model, text, out)["translations"]) == {"prefix"}
    evaluate(model, text, out, "--contexts", "absent")
    assert set(evaluate(model, text, out, "--decoding", "window")["translations"]) == {*both, "window"}


def test_two_evaluations_do_not_share_a_folder(models, text, tmp_path, monkeypatch, refusal):
    out, score = tmp_path / "out", evaluator_module.Evaluator.score

    def beside(self, *of):
        monkeypatch.setattr(evaluator_module.Evaluator, "score", score)
        assert f"{out}: another ctxmt is writing to it" in refusal(
            evaluate, models["multi_source"], text, out
        )
        return score(self, *of)

    monkeypatch.setattr(evaluator_module.Evaluator, "score", beside)
    alone = evaluate_alone(models["document_window"], text, out)
    assert alone == evaluate_alone(models["document_window"], text, tmp_path / "alone")


def test_the_files_of_text_steps_are_part_of_a_model(tmp_path):
    one, none = (SimpleNamespace(steps=SimpleNamespace(files=files)) for files in (("bpe.codes",), ()))
    task = SimpleNamespace(cfg=SimpleNamespace(data=str(tmp_path)))
    loaded = SimpleNamespace(task=task, source_subwords=one, target_subwords=none)
    checkpoint, codes = tmp_path / "model.pt", tmp_path / "bpe.codes"
    checkpoint.write_text("model")
    codes.write_text("a b\n")
    first = content_of(hashes(str(checkpoint)), loaded, {})
    codes.write_text("b a\n")
    assert content_of(hashes(str(checkpoint)), loaded, {}) != first


def test_an_interrupted_evaluation_goes_on(models, text, tmp_path, made, monkeypatch):
    model, out, pairs = models["document_window"], tmp_path / "out", suite(tmp_path)
    whole = evaluate(model, text, tmp_path / "whole", pairs, "--contexts", "trained absent")
    made.clear()
    translate = evaluator_module.DocumentTranslator.translate
    lines = []

    def stopped(self, running, wanted):
        for line, nbest in translate(self, running, wanted):
            lines.append(line)
            if len(lines) == sum(LENGTHS) + 4:  # within the second translation
                raise KeyboardInterrupt
            yield line, nbest

    with monkeypatch.context() as patch:
        patch.setattr(evaluator_module.DocumentTranslator, "translate", stopped)
        arguments = ("evaluate", model, text, pairs, "--contexts", "trained absent", "--out", out, *SEARCH)
        assert main([str(argument) for argument in arguments]) == 130
    assert made == ["prefix.hyp", "prefix.score.json"] and (out / "prefix.absent.hyp.partial").exists()
    made.clear()
    del lines[:]
    with monkeypatch.context() as patch:
        patch.setattr(evaluator_module.DocumentTranslator, "translate", stopped)
        assert evaluate(model, text, out, pairs, "--contexts", "trained absent") == whole
    assert len(lines) == sum(LENGTHS) - 3  # what was translated is not translated again
    assert made == ["prefix.absent.hyp", "prefix.absent.score.json", "pairs.contrast.json"]
    assert not list(out.glob("*.partial"))


def test_what_another_run_left_half_done_gives_way(models, text, tmp_path):
    model, out = models["multi_source"], tmp_path / "out"
    out.mkdir()
    (out / "prefix.hyp.partial").write_text(
        '{"run": "0123456789abcdef"}\n{"line": 0, "tokens": [4, 2], "score": 1.0}\n'
    )
    evaluate(model, text, out)
    expected = tmp_path / "expected.hyp"
    run("translate", model, f"{text}.en", "--docids", f"{text}.docids", "--output", expected, *SEARCH)
    assert (out / "prefix.hyp").read_text() == expected.read_text()


@pytest.mark.parametrize(
    "ledger",
    ["", "[]", "{", '{"prefix.hyp": 3}', '{"prefix.hyp": {"files": 3}}', '{"a": {"files": {"../x": 1}}}'],
)
def test_a_spoilt_ledger_is_an_empty_one(tmp_path, ledger):
    (tmp_path / "done.json").write_text(ledger)
    done = []
    assert Ledger(tmp_path).make("prefix.hyp", 1, ["x"], lambda: done.append(1))
    assert done == [1] and Ledger(tmp_path).steps_about("else") == []
