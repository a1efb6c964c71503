"""ContraPro's reader: its JSON, with documents, with context files and without either."""

import pytest

from ctxmt_fairseq.evaluation.contrastive_sets import Candidate, Convention, read_contrastive_set
from tests.helpers.contrastive_files import error, write, write_json

SOURCE = ["The cup is new.", "I bought it.", "Show me.", "It's here!", "Nice."]
TARGET = ["Die Tasse ist neu.", "Ich habe sie gekauft.", "Zeig her.", "Sie ist hier!", "Schön."]


def contrapro_record(line, **changes):
    return {
        "src segment": SOURCE[line - 1],
        "ref segment": TARGET[line - 1],
        "errors": [{"contrastive": f"Er {line}."}, {"contrastive": f"Es {line}."}],
        "ante distance": line - 1,
        "ref pronoun": "Sie",
        "intrasegmental": None,
        "document id": "1999_1_2.de",
        "segment id": line,
        **changes,
    }


@pytest.fixture
def contrapro(tmp_path):
    documents = tmp_path / "documents" / "1999"
    documents.mkdir(parents=True)
    write(documents / "1999_1_2.en", *SOURCE)
    write(documents / "1999_1_2.de", *TARGET)
    return write_json(tmp_path / "contrapro.json", [contrapro_record(4), contrapro_record(1)])


def test_contrapro_with_documents(contrapro):
    result = read_contrastive_set(contrapro, documents=contrapro.parent / "documents")
    first, second = result.examples
    assert (result.format, result.convention) == ("contrapro", Convention("sum", "current"))
    assert (first.source_before, first.source, first.source_after) == (
        tuple(SOURCE[:3]),
        SOURCE[3],
        tuple(SOURCE[4:]),
    )
    assert first.candidates == tuple(
        Candidate(tuple(TARGET[:3]), text) for text in ("Sie ist hier!", "Er 4.", "Es 4.")
    )
    assert (first.correct, first.phenomenon, first.distance) == (0, "sie", 3)
    assert first.meta == {"document": "1999_1_2.de", "intrasegmental": "unknown"}
    assert (second.source_before, second.source_after) == ((), tuple(SOURCE[1:]))


def test_contrapro_without_documents_warns(contrapro, caplog):
    examples = read_contrastive_set(contrapro).examples
    assert all(example.source_before == () for example in examples)
    assert "contrapro.json: read without context" in caplog.text


def test_contrapro_tolerates_quotes_and_spaces(contrapro):
    write_json(contrapro, [contrapro_record(4, **{"src segment": 'It "\'s  here"'})])
    assert read_contrastive_set(contrapro, documents=contrapro.parent / "documents").examples


def test_contrapro_with_context_files(contrapro, tmp_path):
    folder = tmp_path / "context"
    folder.mkdir()
    # Two context lines per candidate. The second example begins its document: the public script's
    # padding there is not always empty.
    write(folder / "contrapro.context.en", *SOURCE[1:3] * 3, *["Nice.", "null"] * 3)
    write(folder / "contrapro.context.de", *TARGET[1:3] * 3, *["Schön.", "null"] * 3)
    first, second = read_contrastive_set(contrapro, documents=folder).examples
    assert first.source_before == tuple(SOURCE[1:3])
    assert first.candidates[2] == Candidate(tuple(TARGET[1:3]), "Es 4.")
    assert second.source_before == second.candidates[0].before == ()

    write(folder / "contrapro.context.en", *SOURCE[1:3] * 3, "x", "x")
    assert "contrapro.context.de: expected 8 lines, as in contrapro.context.en, found 12" in error(
        contrapro, documents=folder
    )
    write(folder / "contrapro.context.de", *TARGET[1:3] * 3, "x", "x")
    assert "contrapro.context.en: expected a multiple of 6 lines" in error(contrapro, documents=folder)
    write(folder / "contrapro.context.en", *"abcdef")
    write(folder / "contrapro.context.de", *"abcdef")
    assert "contrapro.context.en:1: expected the same 1 lines" in error(contrapro, documents=folder)
    (folder / "contrapro.context.en").unlink()
    assert "expected *.context.de and one *.context file of the source, found" in error(
        contrapro, documents=folder
    )


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"document id": "2000_1_2.de"}, "example 1: the document '2000_1_2.de' is not in"),
        ({"segment id": 9}, "example 1: expected a line of '1999_1_2.de', which has 5, found 9"),
        ({"segment id": 0}, "example 1: expected 'segment id' to be a line number from 1, found 0"),
        ({"segment id": 3}, "example 1: line 3 of the source of '1999_1_2.de' is not 'src segment'"),
        ({"errors": []}, "example 1: expected at least two candidates, found 1"),
        ({"errors": [{"wrong": "x"}]}, "example 1: expected the key 'contrastive', found 'wrong'"),
        ({"errors": ["x"]}, "example 1: expected an object with the key 'contrastive'"),
        ({"ref pronoun": None}, "example 1: expected a string at the key 'ref pronoun', found null"),
    ],
)
def test_contrapro_errors(contrapro, changes, expected):
    write_json(contrapro, [contrapro_record(4, **changes)])
    assert f"{contrapro}: {expected}" in error(contrapro, documents=contrapro.parent / "documents")


def test_contrapro_broken_documents(contrapro):
    documents = contrapro.parent / "documents"
    assert "nowhere: expected a folder" in error(contrapro, documents=contrapro.parent / "nowhere")
    write(documents / "1999" / "1999_1_2.en", *SOURCE[:4])
    assert "1999_1_2.de: expected 4 lines, as in 1999_1_2.en, found 5" in error(
        contrapro, documents=documents
    )
    (documents / "1999" / "1999_1_2.en").unlink()
    assert "1999_1_2.de: expected one source file 1999_1_2.*" in error(contrapro, documents=documents)
