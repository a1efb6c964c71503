"""fairseq's commands and the SentencePiece models of a data folder; what a dialogue remembers."""

from argparse import Namespace

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.tasks.interactive import FolderPieces
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import checkpoint

TEXT = ["the cat is asleep .", "it is tired .", "le chat dort .", "il est fatigué ."] * 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "spm.fr.model").write_bytes(train_subwords(TEXT, 40, "bpe"))
    return folder


def task(folder, source="fr", target="fr"):
    return Namespace(data=f"{folder}:other", source_lang=source, target_lang=target)


def test_words_become_the_folders_pieces_and_pieces_words(folder):
    pieces = FolderPieces.of(task(folder))
    encoded = pieces.encode("Le  chat dort .")
    assert encoded == Subwords(folder / "spm.fr.model").encode("Le chat dort .") and "▁" in encoded
    assert pieces.decode(pieces.encode("le chat dort .")) == "le chat dort ."


def test_what_is_pieces_or_words_already_stays(folder):
    pieces = FolderPieces.of(task(folder))
    assert pieces.decode("le chat dort .") == "le chat dort ."
    assert pieces.encode("▁le ▁c hat") == "▁le ▁c hat"


def test_a_language_without_a_model_has_words_and_a_folder_without_any_has_none(folder, tmp_path):
    pieces, both = FolderPieces.of(task(folder, source="en")), FolderPieces.of(task(folder))
    assert pieces.encode("the cat") == "the cat"
    assert pieces.decode(both.encode("le chat dort .")) == "le chat dort ."
    assert FolderPieces.of(task(tmp_path)) is None


def test_a_dialogue_embeds_words_of_pieces_and_other_lines_as_they_are(folder, monkeypatch):
    typing = object.__new__(MetadataContextTask)
    typing.cfg = task(folder)
    monkeypatch.setattr(MetadataContextTask, "contexts_of", lambda task, texts, *more: texts)
    pieces = FolderPieces.of(typing.cfg).encode("le chat dort .")
    assert typing.contexts_of_typed([pieces, "Zoé @@ home ."]) == ["le chat dort .", "Zoé @@ home ."]


def test_a_dialogue_embeds_no_sentence_that_is_context_no_more(tmp_path, monkeypatch):
    translator = Translator.load(
        checkpoint(tmp_path / "model", "metadata_context"), device="cpu", max_len_b=3
    )
    loaded, generator = translator.loaded, translator.document_translator().generator
    read, kind = [], type(loaded.task)
    contexts_of = kind.contexts_of

    def spied(task, texts, *more):
        read.append(texts)
        return contexts_of(task, texts, *more)

    monkeypatch.setattr(kind, "contexts_of", spied)

    def say(text):
        source = loaded.encode_source(text)[None]
        sample = {"net_input": {"src_tokens": source, "src_lengths": torch.tensor([source.size(1)])}}
        return loaded.task.inference_step(generator, loaded.models, sample)

    for text in ("a", "b c", "d", "a a", "", "c"):
        say(text)
    assert read == [["a"], ["a", "b c"], ["a", "b c", "d"], ["b c", "d", "a a"], ["c"]]  # two and the current
    for text in ("a", "b", "c"):
        say(text)
    with pytest.raises(BadInput, match="^sentence 5 has 2001 tokens"):
        say("a " * 2000)
