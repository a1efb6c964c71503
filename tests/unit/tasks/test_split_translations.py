"""fairseq's commands translate a split as ``ctxmt translate`` does its text."""

import numpy as np
import pytest
import torch

from ctxmt_fairseq.corpora.data_folder import write_description
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.tasks.interactive import SteppedTokenizer
from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import checkpoint


@pytest.mark.parametrize("selection", ["document", "random"])
def test_lines_that_are_only_context_are_translated_for_the_lines_behind_them(tmp_path, selection):
    path = checkpoint(tmp_path / "model", "document_window")
    translator = Translator.load(path, device="cpu", beam=2, max_len_b=8, context_selection=selection)
    loaded, task = translator.loaded, translator.loaded.task
    sources = [*map(loaded.encode_source, ["a b", "b c", "d a", "c d", "e", "f g"])]
    documents, current = Documents.from_lengths([4, 2]), np.array([0, 2, 3, 5])
    own = translator.document_translator()
    running = own.running(sources, documents, current=current)
    expected = {line: nbest[0]["tokens"] for line, nbest in own.translate(running, range(6))}
    text = Sentences(sources), Sentences(sources)
    task.datasets["test"] = dataset = task.build_dataset("test", *text, documents, current, False)
    generator = translator.document_translator().generator
    for place, line in enumerate(current.tolist()):
        batch = dataset.collater([dataset[place]])
        ((best, *_),) = task.inference_step(generator, loaded.models, batch)
        assert best["tokens"].tolist() == expected[line].tolist()


def test_bleu_of_a_validation_reads_translations_as_ctxmt_score_does(tmp_path):
    """In the form that text has in the data folder, here with quotes before the comma."""
    path = checkpoint(tmp_path / "model", "document_window", "--eval-bleu")
    steps = [{"step": "punctuation"}, {"step": "lowercase"}]
    described = {"source_lang": "en", "target_lang": "fr", "splits": {}, "text_steps": steps}
    write_description(tmp_path / "model" / "data", described)
    loaded = load_models(path, device="cpu")
    task = loaded.task
    task.tokenizer = SteppedTokenizer(task.cfg)
    task.tgt_dict.symbols[5] = 'b,"'
    text = task._text(torch.tensor([4, 5, 6, 2]), "UNKNOWNTOKENINHYP")
    assert text == task.tokenizer.target.surface('a b," c') == 'a b", c'
