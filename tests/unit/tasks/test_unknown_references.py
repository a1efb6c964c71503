"""What ``fairseq-generate`` says at its end: that references have unknown words, which it cannot score
rightly, and how many translations ended where the search allows no longer one."""

import logging

import pytest

from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import checkpoint


@pytest.mark.parametrize("references", [["a b", "c Ω", "Ω Ω"], ["a b", "c", "d"]])
def test_references_with_unknown_words_are_counted(tmp_path, caplog, references):
    translator = Translator.load(checkpoint(tmp_path / "model", "multi_source"), device="cpu")
    loaded, task = translator.loaded, translator.loaded.task
    source = Sentences(map(loaded.encode_source, ["a", "b", "c"]))
    target = Sentences(map(loaded.encode_target, references))
    dataset = task.build_dataset("test", source, target, Documents.from_lengths([3]), None, False)
    generator = translator.document_translator().generator
    task.inference_step(generator, loaded.models, dataset.collater([dataset[line] for line in range(3)]))
    with caplog.at_level(logging.WARNING):
        task._report()
    found = [record.getMessage() for record in caplog.records if "references" in record.getMessage()]
    assert len(found) == any("Ω" in text for text in references)
    assert all(text.startswith("2 of 3 references have words that the dictionary lacks") for text in found)


def test_translations_at_the_greatest_length_are_counted(tmp_path):
    """Also where a target context is forced, and whichever batch their documents are in."""
    path = checkpoint(tmp_path / "model", "document_window")
    translator = Translator.load(path, device="cpu", beam=2, max_len_a=0, max_len_b=2)
    loaded, task = translator.loaded, translator.loaded.task
    source, target = (
        Sentences(map(encode, ["a", "b c", "d"])) for encode in (loaded.encode_source, loaded.encode_target)
    )
    task.datasets["test"] = task.build_dataset(
        "test", source, target, Documents.from_lengths([3]), None, False
    )
    generator = translator.document_translator().generator
    for line in 2, 0, 1:
        batch = task.datasets["test"].collater([task.datasets["test"][line]])
        ((best, *_),) = task.inference_step(generator, loaded.models, batch)
        assert len(best["tokens"]) == 3
    assert (task.window_count.too_long, task.window_count.windows) == (3, 3)
