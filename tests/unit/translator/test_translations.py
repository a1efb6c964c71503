"""``Translator``: the commands' translations, and scores against plain forward passes."""

import itertools
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.given_documents import GivenDocuments
from ctxmt_fairseq.generation.search_settings import BOUNDS, SearchSettings
from ctxmt_fairseq.generation.translate_files import KeptTranslations
from ctxmt_fairseq.tasks.search.current_sentence import WindowCount, keep_sentence
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.translator import Translator
from tests.helpers.evaluations import result
from tests.helpers.probed_models import LENGTHS, TASKS
from tests.unit.evaluation.test_probe import PLAIN, STARTS

SEARCH = {"beam": 3, "max_len_b": 8, "device": "cpu"}
DOCUMENTS = [["a b c", "d"], ["e f"]]


def flat(documents):
    return [sentence for document in documents for sentence in document]


def test_numbers_of_numpy(loaded):
    model = loaded["document_window"]
    found = model.translate(DOCUMENTS, beam=np.int64(2), lenpen=np.float32(0.5))
    assert found == model.translate(DOCUMENTS, beam=2, lenpen=0.5)
    assert model.with_options(source_context=np.int32(0)).translate(DOCUMENTS, beam=2) == model.with_options(
        source_context=0
    ).translate(DOCUMENTS, beam=2)
    assert Translator(model.loaded, documents_at_once=np.uint8(2)).documents_at_once == 2
    with pytest.raises(BadInput, match="--beam: expected a whole number from 1 to 1000, found 2.0"):
        model.translate(DOCUMENTS, beam=np.float64(2))


# ---- translations and scores ---------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_translations_are_those_of_the_command(models, loaded, text, capsys, task):
    prefix, sources, _, metadata = text
    files = (f"{prefix}.en", "--docids", f"{prefix}.docids")
    known = task == "metadata_context"
    main(
        ["translate", str(models[task]), *files, "--beam", "3", "--max-len-b", "8", "--cpu", "--scores"]
        + (["--contexts", prefix] if known else [])
    )
    expected = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    found = flat(loaded[task].n_best(sources, metadata if known else None))
    assert [(f"{nbest[0].score:.4f}", nbest[0].text) for nbest in found] == list(map(tuple, expected))
    assert flat(loaded[task].translate(sources, metadata if known else None)) == [row[1] for row in expected]
    assert len({row[1] for row in expected}) > 2


def test_documents_that_come_one_after_the_other(loaded, text):
    model, (_, sources, *_) = loaded["document_window"], text
    taken = []
    found = Translator(model.loaded, model.search, 1).translate_each(
        taken.append(one) or one for one in sources
    )
    assert next(found) == model.translate(sources)[0] and len(taken) == 1  # no document is asked for early
    assert [*found] == model.translate(sources)[1:]
    assert [*model.translate_each([])] == []
    shown = repr(model)
    assert shown.startswith("Translator(en-fr, ") and shown.endswith("device=cpu)") and "context=" in shown


def test_metadata_goes_with_the_documents_that_come(loaded, text):
    model, (_, sources, _, metadata) = loaded["metadata_context"], text
    one = Translator(model.loaded, model.search, 1)
    assert [*one.translate_each(sources, iter(metadata))] == model.translate(sources, metadata)
    assert [*one.translate_each(sources, "Formal")] == model.translate(sources, "Formal")
    for count in (1, len(sources) + 1):
        with pytest.raises(BadInput, match="contexts: expected"):
            [*one.translate_each(sources, (metadata * 2)[:count])]


@pytest.mark.parametrize(("a", "b"), [(0, 60), (0.5, 60), (1.5, 60), (2, 0)])
def test_the_search_may_write_twice_the_tokens_of_a_part(loaded, a, b):
    translator = loaded["multi_source"].document_translator(SearchSettings(max_len_a=a, max_len_b=b))
    fitted = translator.fit(GivenDocuments.of([["a b c d e " * 300]]), "split")
    assert len(fitted.sources) > 1
    assert all(a * len(source) + b >= 2 * len(source) for source in fitted.sources)


def test_unknown_subwords_are_named_once_a_text(loaded, caplog):
    model = loaded["document_window"]
    one, unknown = Translator(model.loaded, model.search, 1), [["她"], ["他们"], ["的"]]
    for times in (1, 2):
        assert len([*one.translate_each(iter(unknown))]) == 3
        assert caplog.text.count("unknown to the vocabulary") == times
    for times in (3, 3, 4):
        one.translate(unknown if times < 4 else unknown[1:])
        assert caplog.text.count("unknown to the vocabulary") == times


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_plain_forward_passes(loaded, text, task):
    _, sources, references, metadata = text
    contexts = metadata if task == "metadata_context" else None
    scores = loaded[task].score(sources, references, contexts)
    assert [len(document) for document in scores] == list(LENGTHS)
    columns = {
        "en": flat(sources),
        "fr": flat(references),
        "meta.jsonl": list(map(json.dumps, flat(metadata))),
    }
    for line, score in enumerate(flat(scores)):
        expected = PLAIN[task](loaded[task].loaded, columns, line, columns["en"][STARTS[line] : line])
        assert score.tokens == pytest.approx(expected.tolist(), abs=2e-5)
        assert score.sum == pytest.approx(sum(score.tokens))


def test_metadata_of_all_or_of_each(loaded):
    model = loaded["metadata_context"]
    assert model.translate(DOCUMENTS, {"genre": "Drama"}) == model.translate(
        DOCUMENTS, [[{"genre": "Drama"}] * 2, [{"genre": "Drama"}]]
    )
    one = model.score(DOCUMENTS, DOCUMENTS, "Formal talk")
    assert one == model.score(DOCUMENTS, DOCUMENTS, [["Formal talk", ["Formal talk"]], ["Formal talk"]])
    without = model.score(DOCUMENTS, DOCUMENTS)
    for given, same in ((None, ()), ({}, ()), ("Formal talk", ("Formal talk",))):  # alone it is bit by bit
        alone = [["a b c"]]
        assert model.score(alone, alone, [[given]]) == model.score(alone, alone, *same)
    partly = model.score(DOCUMENTS, DOCUMENTS, [[None, "Formal talk"], [{}]])
    for found, expected in (
        (partly[0][1], one[0][1]),
        (partly[0][0], without[0][0]),
        (partly[1][0], without[1][0]),
    ):
        # In batches of other widths some processors round otherwise.
        assert found.tokens == pytest.approx(expected.tokens, abs=1e-5)
    assert all(abs(a.sum - b.sum) > 1e-3 for a, b in zip(flat(one), flat(without), strict=True))


def test_a_contrastive_set(loaded, models, tmp_path, capsys):
    record = {"id": "1", "phenomenon": "p", "distance": 1, "context": "source-previous", "current": 1}
    record |= {"source": ["a b", "c"], "targets": [["d", "e"], ["d", "f f"]], "correct": 0}
    other = {**record, "id": "2", "source": ["g", "c"], "correct": 1}
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (record, other)))
    report = loaded["document_window"].contrast(tmp_path / "set.jsonl")
    files = (str(tmp_path / "set.jsonl"), "--cpu", "--json", str(tmp_path / "report"))
    main(["contrast", str(models["document_window"]), *files])
    assert capsys.readouterr().out == report.table() + "\n\n"
    assert result(tmp_path / "report") == json.loads(json.dumps(report.as_dict()))


@pytest.mark.parametrize("task", TASKS)
def test_nothing_to_translate(loaded, task):
    model = loaded[task]
    assert model.translate([]) == [] and model.translate([[], []]) == [[], []]
    assert model.n_best([]) == [] and model.score([[]], [[]]) == [[]]
    assert model.translate([[], ["", "a"], []])[1][0] == "" and len(model.translate([[], ["", "a"]])[1]) == 2


def test_first_sentences_of_windows_translate_their_own_lines(models, text):
    """A window of line n and the one before it is decoded; its first sentence translates line n - 1.
    No window begins with the last line of a document."""
    _, sources, *_ = text
    first, current = (
        Translator.load(models["document_window"], decoding="window", keep_sentence=keep, **SEARCH)
        for keep in ("first", "current")
    )
    found, own = first.translate(sources), current.translate(sources)
    translator, loaded = current.document_translator(), current.loaded
    separator, eos = loaded.task.target_dictionary.index("<sep>"), loaded.task.target_dictionary.eos()
    for document, translations, others in zip(sources, found, own, strict=True):
        tokens = [loaded.encode_source(sentence) for sentence in document]
        running = translator.running(tokens, Documents.from_lengths([len(tokens)]))
        expected = []
        for line in range(1, len(tokens)):
            windows = translator.generator.generate(loaded.models, running.batch([line], False)[0])
            ((best, *_),) = keep_sentence(windows, [1], separator, eos, WindowCount(), keep="first")
            expected.append(loaded.decode_target(best["tokens"]))
        assert translations == [*expected, others[-1]]
    assert found != own


# ---- loading and options -------------------------------------------------------------------------------


def test_options_are_those_of_the_command_line(models, loaded, text):
    sources = text[1]
    model = loaded["document_window"]
    alone = Translator.load(models["document_window"], source_context=0, target_context=0, **SEARCH)
    assert alone.translate([[sentence] for sentence in flat(sources)]) == [
        [sentence] for sentence in flat(alone.translate(sources))
    ]
    assert model.with_options(source_context=0, target_context=0).translate(sources) == alone.translate(
        sources
    )
    assert model.translate(sources) != alone.translate(sources)
    assert model.translate(sources, beam=1) == Translator.load(
        models["document_window"], device="cpu", beam=1, max_len_b=8
    ).translate(sources)
    window = Translator.load(models["document_window"], decoding="window", **SEARCH)
    assert window.translate(sources) != model.translate(sources)


def test_documents_side_by_side(models, loaded, text):
    one = Translator.load(models["document_window"], documents_at_once=1, **SEARCH)
    assert one.translate(text[1]) == loaded["document_window"].translate(text[1])


def test_an_ensemble(models, loaded, text):
    path = models["multi_source"]
    for paths in ([path, str(path)], f"{path}:{path}"):
        twice = Translator.load(paths, **SEARCH)
        assert len(twice.loaded.models) == 2
        for both, one in zip(
            flat(twice.score(text[1], text[2])),
            flat(loaded["multi_source"].score(text[1], text[2])),
            strict=True,
        ):
            assert both.sum == pytest.approx(one.sum, abs=1e-6)


def test_several_at_once_with_data_folders_of_their_own(models, loaded, text, tmp_path):
    """A second folder, which upper-cases what it writes: no text of one passes through the other's steps."""
    (tmp_path / "data").mkdir()
    folder = Path(models["multi_source"]).parent / "data"
    words = (folder / "dict.fr.txt").read_text(), (folder / "dict.fr.txt").read_text().upper()
    (tmp_path / "data" / "dict.en.txt").write_text(words[0])
    (tmp_path / "data" / "dict.fr.txt").write_text(words[1])
    state = torch.load(models["multi_source"], weights_only=True)
    del state["task_state"]["dictionaries"]  # else this folder is refused
    torch.save(state, tmp_path / "other.pt")
    other = Translator.load(tmp_path / "other.pt", tmp_path / "data", **SEARCH)
    several = [loaded["multi_source"], other, loaded["document_window"]]
    expected = [model.translate(text[1]) for model in several]
    assert [[s.replace("<unk>", "").upper() for s in d] for d in expected[0]] == [
        [s.replace("<unk>", "") for s in d] for d in expected[1]
    ]
    assert expected[0] != expected[1]
    with ThreadPoolExecutor(3) as pool:
        found = [list(pool.map(lambda model: model.translate(text[1]), several)) for _ in range(3)]
    assert found == [expected] * 3


@pytest.mark.parametrize("task", TASKS)
def test_threads_share_a_translator(models, text, task):
    _, sources, targets, metadata = text
    model = Translator.load(models[task], **SEARCH)
    without = model.with_options(context_selection="absent")
    calls = [
        lambda: model.translate(sources, beam=1),
        lambda: model.n_best(sources[:2]),
        lambda: model.score(sources, targets),
        lambda: without.translate(sources[::-1]),
        lambda: without.score(sources, targets),
        lambda: model.with_options(source_context=1).translate(sources),
    ]
    alone = [call() for call in calls]
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(lambda call: call(), calls * 6)) == alone * 6


def test_the_search_begins_as_fairseq_s():
    from fairseq.dataclass.configs import GenerationConfig

    settings, theirs = SearchSettings(), GenerationConfig()
    assert {name: getattr(settings, name) for name in BOUNDS} == {
        name: getattr(theirs, name) for name in BOUNDS
    }


@pytest.mark.parametrize("task", TASKS)
def test_terms_stand_in_translations_and_other_sentences_stay(
    loaded, text, task, tmp_path, capsys, models, refusal
):
    prefix, sources, _, metadata = text
    contexts = metadata if task == "metadata_context" else None
    plain = flat(loaded[task].translate(sources, contexts))
    (tmp_path / "terms").write_text("a\tj i\nb\tz\n")
    how = {"keep": ["c", "d e"], "glossary": str(tmp_path / "terms")}
    found = flat(loaded[task].translate(sources, contexts, **how))
    wanted = {"a": "j i", "c": "c", "d e": "d e"}
    for source, translation in zip(flat(sources), found, strict=True):
        terms = [term for word, term in wanted.items() if f" {word} " in f" {source} "]
        assert all(f" {term} " in f" {translation} " for term in terms), (source, translation)
    if task != "document_window":  # where translations are no context of others
        untouched = [not set("abc") & set(line.split()) and "d e" not in line for line in flat(sources)]
        assert any(untouched)
        assert all(a == b for a, b, same in zip(plain, found, untouched, strict=True) if same)
    files = (f"{prefix}.en", "--docids", f"{prefix}.docids", *(("--contexts", prefix) if contexts else ()))
    command = ["translate", str(models[task]), *files, "--beam", "3", "--max-len-b", "8", "--cpu"]
    terms = ["--keep", "c", "--keep", "d e", "--glossary", str(tmp_path / "terms")]
    main([*command, *terms])
    printed = capsys.readouterr()
    assert printed.out.splitlines() == found and "the models cannot write them: z" in printed.err
    if task == "document_window":
        assert "do not work with --decoding window" in refusal(
            main, [*command, "--keep", "c", "--decoding", "window"]
        )


def test_a_run_that_goes_on_counts_the_terms_of_all_lines(models, text, tmp_path, capsys, monkeypatch):
    (tmp_path / "terms").write_text("a\tj i\n")
    files = (f"{text[0]}.en", "--docids", f"{text[0]}.docids", "--output", str(tmp_path / "out"))
    command = ["translate", str(models["document_window"]), *files, "--glossary", str(tmp_path / "terms")]

    def lost():
        assert main([*command, "--max-len-b", "1", "--beam", "3", "--cpu"]) in (None, 0, 130)
        return re.findall(r"\d+ of \d+ terms are not .*", capsys.readouterr().err)

    whole = lost()
    (tmp_path / "out").unlink()
    keep, lines = KeptTranslations.translated, itertools.count(1)

    def stopped(journal, *args, **how):
        keep(journal, *args, **how)
        if next(lines) == 9:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(KeptTranslations, "translated", stopped)
        assert lost() == []
    assert whole and lost() == whole
