"""``ctxmt evaluate``: what the single commands give, and what is refused."""

import dataclasses
import shutil

import pytest

from ctxmt_fairseq.analysis.run_values import read_values
from ctxmt_fairseq.analysis.value_tables import best_places, placed
from ctxmt_fairseq.evaluation.runs import evaluator as evaluator_module
from ctxmt_fairseq.evaluation.runs.evaluated_text import read_evaluated_text
from ctxmt_fairseq.generation import loading
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.evaluations import SEARCH, evaluate, result, run, suite
from tests.helpers.probed_models import LENGTHS, TASKS, checkpoint, write_text


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """task -> checkpoint, which no test changes."""
    root = tmp_path_factory.mktemp("models")
    return {task: checkpoint(root / task, task) for task in TASKS}


@pytest.fixture
def text(tmp_path):
    return str(write_text(tmp_path))


# ---- the same as the single commands -----------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_results_are_those_of_translate_score_and_contrast(models, text, tmp_path, capsys, task):
    model, out, single = models[task], tmp_path / "out", tmp_path / "single"
    single.mkdir()
    pairs = suite(tmp_path)
    decodings = ("prefix", "window") if task == "document_window" else ("prefix",)
    contexts = ("trained", "random", "shuffled", "empty", "absent")
    if task == "metadata_context":
        contexts = ("trained", "random", "absent")
    results = evaluate(
        model, text, out, pairs, "--lenpen", "0.7", "--decoding", " ".join(decodings), "--contexts", *contexts
    )  # fmt: skip
    known = ("--contexts", text) if task == "metadata_context" else ()
    for decoding in decodings:
        for context in contexts:
            name = decoding if context == "trained" else f"{decoding}.{context}"
            selection = () if context == "trained" else ("--context-selection", context)
            if name in ("prefix.random", "prefix.shuffled") and task == "document_window":
                selection += ("--target-context-from", single / "prefix.hyp")
            hypothesis = single / f"{name}.hyp"
            run(
                "translate", model, f"{text}.en", "--docids", f"{text}.docids", "--output", hypothesis,
                *known, "--decoding", decoding, "--lenpen", "0.7", *selection, *SEARCH,
            )  # fmt: skip
            assert (out / f"{name}.hyp").read_text() == hypothesis.read_text()
            score = single / "score.json"
            run("score", hypothesis, f"{text}.fr", "--docids", f"{text}.docids", "--json", score)
            assert results["translations"][name] == result(score)
    if task == "multi_source":
        more = ("--lenpen", "0.7", "--contexts", "random", "--random-context", "shuffled")
        evaluate(model, text, tmp_path / "more", *more)
        shuffled = (out / "prefix.shuffled.hyp").read_text()
        assert (tmp_path / "more" / "prefix.random.hyp").read_text() == shuffled
        assert (out / "prefix.random.hyp").read_text() != shuffled
    report, examples = single / "contrast.json", single / "examples.jsonl"
    run("contrast", model, pairs, "--json", report, "--examples", examples, "--cpu")
    assert results["contrast"] == {"pairs": result(report)}
    assert (out / "pairs.examples.jsonl").read_text() == examples.read_text()
    different = {(out / f"{name}.hyp").read_text() for name in results["translations"]}
    assert len(different) > 2  # the contexts matter
    assert "accuracy (sum-current)" in capsys.readouterr().out


def test_one_model_is_loaded_once(models, text, tmp_path, monkeypatch):
    loads = []
    load = loading.load_ensemble
    monkeypatch.setattr(loading, "load_ensemble", lambda *a, **k: loads.append(a) or load(*a, **k))
    options = (
        "--contexts",
        "trained random absent",
        "--lenpen",
        "opt",
        "--dev",
        text,
        "--lenpens",
        "0.5 1 1.5",
    )
    evaluate(models["multi_source"], text, tmp_path / "out", suite(tmp_path), *options)
    assert len(loads) == 1


def test_a_training_that_replaces_the_checkpoint_meanwhile(models, text, tmp_path, monkeypatch, refusal):
    model = tmp_path / "checkpoint.pt"
    shutil.copy(models["multi_source"], model)
    load = loading.load_ensemble

    def replaced(*args, **kwargs):
        loaded = load(*args, **kwargs)
        shutil.copy(models["document_window"], model)
        return loaded

    monkeypatch.setattr(loading, "load_ensemble", replaced)
    assert f"{model}: was replaced while it was read" in refusal(evaluate, model, text, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_best_length_penalty_of_the_dev_text(models, text, tmp_path, monkeypatch):
    (tmp_path / "dev").mkdir()
    dev = write_text(tmp_path / "dev", seed=8)
    model, out = models["document_window"], tmp_path / "out"
    bleu = iter((10.0, 30.0, 30.0, 20.0, 1.0))  # of four penalties on the dev text, of the best on the text
    score = evaluator_module.score_translation

    def scored(*arguments):
        first, *rest = score(*arguments)
        return [dataclasses.replace(first, score=next(bleu)), *rest]

    monkeypatch.setattr(evaluator_module, "score_translation", scored)
    searched = ("--lenpen", "opt", "--dev", dev, "--lenpens", "-3 0.5 1 3")
    results = evaluate(model, text, out, *searched)
    assert set(results["translations"]) == {"prefix.n0.5"} and next(bleu, None) is None
    assert {path.name for path in (out / "dev.prefix").glob("*.hyp")} == {
        f"n{penalty}.hyp" for penalty in ("-3", "0.5", "1", "3")
    }
    values = [one for one in read_values([f"model={out}"]) if one.measure in ("bleu", "bleu, dev", "n")]
    search = placed(values, "penalty")
    assert [(one.place, one.value) for one in search] == [(-3.0, 10.0), (0.5, 30.0), (1.0, 30.0), (3.0, 20.0)]
    assert list(best_places(search).values()) == [{"model": [0.5]}]
    rows = [(one.system, one.value) for one in placed(values, "context")]
    assert rows == [("model, n opt", 1.0), ("model, n opt", 0.5)]  # BLEU, n
    for prefix, penalty, written in ((text, "0.5", "prefix.n0.5"), (dev, "3", "dev.prefix/n3")):
        alone = tmp_path / "alone.hyp"
        run(
            "translate", model, f"{prefix}.en", "--docids", f"{prefix}.docids", "--output", alone,
            "--lenpen", penalty, *SEARCH,
        )  # fmt: skip
        assert (out / f"{written}.hyp").read_text() == alone.read_text()


def test_a_search_for_the_length_penalty_is_of_one_model(models, text, tmp_path):
    out = tmp_path / "out"
    for task, penalties in (("document_window", "1 2"), ("multi_source", "3")):
        evaluate(models[task], text, out, "--lenpen", "opt", "--dev", text, "--lenpens", penalties)
    assert {one.place for one in placed(read_values([str(out)]), "penalty")} == {3.0}


def test_other_windows_stand_beside_the_trained(models, text, tmp_path):
    model, out = models["document_window"], tmp_path / "out"
    pairs = suite(tmp_path)
    evaluate(model, text, out, pairs)
    results = evaluate(model, text, out, pairs, "--window", "1", "--contexts", "trained absent")
    assert set(results["translations"]) == {"prefix", "prefix.w1", "prefix.w1.absent"}
    assert set(results["contrast"]) == {"pairs", "pairs.w1"}
    windows = placed(read_values([str(out)]), "window")
    assert results["trained_window"] == 3 and {one.place for one in windows} == {1, 3}
    hypotheses = tmp_path / "sentences.hyp"
    run(
        "translate", model, f"{text}.en", "--docids", f"{text}.docids", "--output", hypotheses,
        "--source-context", "0", "--target-context", "0", *SEARCH,
    )  # fmt: skip
    assert (out / "prefix.w1.hyp").read_text() == hypotheses.read_text() != (out / "prefix.hyp").read_text()
    assert (out / "prefix.w1.absent.hyp").read_text() == hypotheses.read_text()


def test_a_side_without_context_stays_without(models, text, tmp_path, monkeypatch):
    seen = []
    score = evaluator_module.score_candidates

    def spied(loaded, examples):
        seen.append(loaded.task.context_options())
        return score(loaded, examples)

    monkeypatch.setattr(evaluator_module, "score_candidates", spied)
    evaluate(models["multi_source"], text, tmp_path / "out", suite(tmp_path), "--window", "2")
    assert [(options.source_context, options.target_context) for options in seen] == [(1, 0)]


def test_first_sentences_are_scored_but_not_the_last_of_a_document(models, text, tmp_path):
    model = models["document_window"]
    options = ("--decoding", "window", "--keep-sentence", "first")
    scores = evaluate(model, text, tmp_path / "out", *options)["translations"]["window"]
    lines = (tmp_path / "out" / "window.hyp").read_text().splitlines()
    references = open(f"{text}.fr").read().splitlines()
    ids = open(f"{text}.docids").read().splitlines()
    kept = [line for line in range(len(ids) - 1) if ids[line] == ids[line + 1]]
    assert scores["sentences"] == len(kept) == sum(LENGTHS) - len(LENGTHS)
    for name, column in (("hyp", [lines[n] for n in kept]), ("ref", [references[n] for n in kept])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in column))
    (tmp_path / "ids").write_text("".join(f"{ids[n]}\n" for n in kept))
    by_hand = tmp_path / "score.json"
    run("score", tmp_path / "hyp", tmp_path / "ref", "--docids", tmp_path / "ids", "--json", by_hand)
    assert scores == result(by_hand)


def test_lines_with_which_no_window_begins_do_not_count(models, tmp_path):
    """Of windows of three the last two of a document."""
    text = write_text(tmp_path, (4, 1, 3, 5))
    loaded = load_models(str(models["document_window"]), device="cpu")
    found = read_evaluated_text(text, loaded)
    kept = found.comet([""] * 13, 2).current
    assert kept.tolist() == [0, 1, 5, 8, 9, 10] and len(found.translation([""] * 13, str, 2).hypotheses) == 6


def test_documents_of_one_sentence_have_no_first_one_that_counts(models, tmp_path, capsys):
    text, options = write_text(tmp_path, (1, 1)), ("--decoding", "window", "--keep-sentence", "first")
    with pytest.raises(SystemExit):
        evaluate(models["document_window"], text, tmp_path / "out", *options)
    assert "needs documents of 2 or more sentences" in capsys.readouterr().err.splitlines()[-1]


def test_target_context_from_references_and_another_model(models, text, tmp_path):
    model, other, out = models["document_window"], models["multi_source"], tmp_path / "out"
    assert "target_context_from" not in evaluate(model, text, tmp_path / "own")
    evaluate(model, text, out, "--target-context-from", other)
    assert {one.at["target_context_from"] for one in read_values([str(out)])} == {"another model"}
    first = tmp_path / "first.hyp"
    run("translate", other, f"{text}.en", "--docids", f"{text}.docids", "--output", first, *SEARCH)
    assert (out / "first-pass.hyp").read_text() == first.read_text()
    for given, name in ((first, other), (f"{text}.fr", "reference")):
        expected = tmp_path / "expected.hyp"
        run(
            "translate", model, f"{text}.en", "--docids", f"{text}.docids", "--output", expected,
            "--target-context-from", given, *SEARCH,
        )  # fmt: skip
        found = evaluate(model, text, out, "--target-context-from", name)
        assert found["target_context_from"] == ("reference" if name == "reference" else "another model")
        assert (out / "prefix.hyp").read_text() == expected.read_text()


def test_lines_that_are_context_only_are_neither_translated_nor_scored(models, text, tmp_path):
    marks = ["1"] * sum(LENGTHS)
    marks[1] = marks[4] = "0"
    open(f"{text}.current", "w").write("".join(f"{mark}\n" for mark in marks))
    results = evaluate(models["multi_source"], text, tmp_path / "out")
    assert results["translations"]["prefix"]["sentences"] == sum(LENGTHS) - 2
    assert results["translations"]["prefix"]["documents"] == len(LENGTHS) - 1
    lines = (tmp_path / "out" / "prefix.hyp").read_text().split("\n")
    assert lines[1] == lines[4] == ""


def test_lines_that_are_too_long_do_not_stop_it(models, text, tmp_path, capsys):
    lines = open(f"{text}.en").read().splitlines()
    open(f"{text}.en", "w").write("".join(f"{line}\n" for line in ["a " * 1100, *lines[1:]]))
    evaluate(models["multi_source"], text, tmp_path / "out", "--too-long", "empty")
    assert f"not translated: {text}.en:1" in capsys.readouterr().err
    assert (tmp_path / "out" / "prefix.hyp").read_text().split("\n")[0] == ""


# ---- the table, and what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "task, options, words",
    [
        ("multi_source", ("--contexts", "nearest"), "--contexts nearest: expected names from trained, "),
        ("multi_source", ("--decoding", "prefix beam"), "--decoding beam: expected names from prefix"),
        ("multi_source", ("--lenpen", "opt"), "--lenpen opt needs --dev"),
        ("multi_source", ("--dev", "text"), "--dev needs --lenpen opt"),
        ("multi_source", ("--lenpens", "0.5 1"), "--lenpens needs --lenpen opt"),
        ("multi_source", ("--lenpen", "much"), "argument --lenpen: expected a finite number, found 'much'"),
        ("multi_source", ("--window", "0"), "argument --window: expected a whole number of at least 1"),
        ("multi_source", ("--convention", "mean"), "argument --convention: invalid choice: 'mean'"),
        ("multi_source", ("--average", "3"), "--average 3 needs a folder with checkpoints"),
        ("multi_source", ("--bootstrap", "1"), "--bootstrap 1: give 2 samples or more"),
        ("multi_source", ("--tokenize", "words"), "expected a tokenizer from none, "),
        ("multi_source", ("--target-context-from", "reference"), "needs a model with target context"),
        ("document_window", ("--keep-sentence", "first"), "needs --decoding window"),
        ("document_window", ("--contexts", "trained reference"), "needs --target-context-from reference"),
        (
            *("document_window", ("--decoding", "prefix window", "--target-context-from", "reference")),
            "needs a model with target context, and --decoding prefix",
        ),
        ("document_window", ("--min-len", "7"), "--min-len 7: expected at most 6, because "),
        ("document_window", ("--dev",), "argument --dev: expected one argument"),
        (
            *("document_window", ("--too-long", "split", "--target-context-from", "reference")),
            "--target-context-from does not work with --too-long split",
        ),
    ],
)  # fmt: skip
def test_refusals(models, text, tmp_path, refusal, task, options, words):
    assert words in refusal(evaluate, models[task], text, tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_folders_that_were_made_for_nothing_go_again(tmp_path, refusal):
    assert "no.pt: no such file" in refusal(
        evaluate, tmp_path / "no.pt", tmp_path / "text", tmp_path / "x/y/z"
    )
    assert not any(tmp_path.iterdir())


def test_several_models_have_no_folder_of_their_own(models, text, refusal):
    assert "several models need --out" in refusal(
        run, "evaluate", f"{models['multi_source']}:{models['multi_source']}", text
    )


def test_a_file_with_the_name_of_the_text_is_no_metadata(models, text, tmp_path):
    (tmp_path / "text").write_text('{"genre": "Horror"}\n' * sum(LENGTHS))
    read = read_evaluated_text(text, load_models(str(models["metadata_context"]), device="cpu"))
    assert {"genre": "Horror"} not in read.metadata and {"genre": "Drama"} in read.metadata


def test_a_folder_that_was_there_stays(models, text, tmp_path, refusal):
    (tmp_path / "out").mkdir()
    (tmp_path / "text.fr").write_text("a\n")
    assert "text.fr: expected 13 lines" in refusal(evaluate, models["multi_source"], text, tmp_path / "out")
    assert (tmp_path / "out").is_dir()
