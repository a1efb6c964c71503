"""fairseq's commands and the SentencePiece models of a data folder."""

from argparse import Namespace

import pytest

from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords
from ctxmt_fairseq.tasks.interactive import FolderPieces

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
