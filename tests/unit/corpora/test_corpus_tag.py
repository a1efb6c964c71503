"""``ctxmt corpus tag`` as users start it: tags, test sets, bad input."""

import json

import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.contrastive_sets.ctxmt_jsonl import JsonLines
from ctxmt_fairseq.evaluation.expected_forms import read_forms
from ctxmt_fairseq.text.annotation import annotation_line
from ctxmt_fairseq.text.word_tags import read_tags
from tests.helpers.annotated_text import annotated


@pytest.fixture
def corpus(tmp_path):
    """A corpus of two documents with all that the command reads."""
    rows = [
        ("1", "The car/NOUN", "La voiture/NOUN/Fem/Sing", "1-1"),
        ("1", "It shines/VERB .", "Elle brille/VERB .", "0-0 1-1"),
        ("2", "It shines/VERB .", "Elle brille/VERB .", "0-0 1-1"),
    ]
    for name, side in (("en", 1), ("fr", 2)):
        texts, words = zip(*(annotated(row[side]) for row in rows), strict=True)
        (tmp_path / f"t.{name}").write_text("".join(f"{text}\n" for text in texts))
        (tmp_path / f"{name}.words").write_text("".join(f"{annotation_line(each)}\n" for each in words))
    (tmp_path / "t.docids").write_text("".join(f"{row[0]}\n" for row in rows))
    (tmp_path / "align").write_text("".join(f"{row[3]}\n" for row in rows))
    return tmp_path


def arguments(folder, *more):
    files = [
        ("--source-annotation", "en.words"),
        ("--target-annotation", "fr.words"),
        ("--alignment", "align"),
    ]
    options = [text for option, name in files for text in (option, str(folder / name))]
    line = ["corpus", "tag", str(folder / "t"), "--source-lang", "en", "--target-lang", "fr"]
    return [*line, *options, "--output", str(folder / "tags"), *more]


def test_command_writes_tags_and_test_sets(corpus, capsys):
    main(arguments(corpus, "--suite", str(corpus / "suite")))
    assert [line.split() for line in capsys.readouterr().out.splitlines()][2] == ["pronoun", *"1111"]
    tags = read_tags(corpus / "tags", (corpus / "t.fr").read_text().splitlines())
    assert tags == [[(), ()], [("pronoun",), (), ()], [(), (), ()]], "the antecedent is in another document"
    (example,) = JsonLines.read(corpus / "suite" / "pronoun.jsonl").examples
    assert [each.current for each in example.candidates] == ["Elle brille .", "Il brille ."]
    assert (example.source_before, example.distance, example.correct) == (("The car",), 1, 0)
    (form,) = read_forms(corpus / "suite" / "pronoun.jsonl").examples
    assert (form.form, form.reference) == ("Elle", "Elle brille .")
    assert (corpus / "suite" / "pronoun.current").read_text() == "0\n1\n0\n"
    assert (corpus / "suite" / "cohesion.jsonl").read_text() == ""


def test_a_text_without_ids_is_said_to_have_no_earlier_lines(corpus, caplog):
    (corpus / "t.docids").unlink()
    main(arguments(corpus))
    assert not any(map(any, read_tags(corpus / "tags", (corpus / "t.fr").read_text().splitlines())))
    assert f"{corpus}/t.docids: no such file: each line is a document" in caplog.text


def test_examples_are_no_lines_of_context(corpus):
    (corpus / "t.current").write_text("1\n0\n1\n")
    main(arguments(corpus, "--suite", str(corpus / "suite")))
    assert (corpus / "suite" / "pronoun.current").read_text() == "0\n0\n0\n"
    assert '"pronoun"' in (corpus / "tags").read_text()


def test_examples_have_the_metadata_of_their_lines(corpus):
    (corpus / "t.meta.jsonl").write_text('{}\n{"speaker": "A woman"}\n{}\n')
    main(arguments(corpus, "--suite", str(corpus / "suite")))
    (example,) = JsonLines.read(corpus / "suite" / "pronoun.jsonl").examples
    assert example.metadata == {"speaker": "A woman"}


@pytest.mark.parametrize(("lines", "found"), [(1, []), (2, ["pronoun"])])
def test_no_line_beyond_the_context_decides(corpus, lines, found):
    rows = {"t.en": "No.", "t.fr": "Non.", "t.docids": "1", "align": ""}
    words = dict.fromkeys(("en.words", "fr.words"), '{"words": []}')
    for name, between in (rows | words).items():
        first, second, _ = (corpus / name).read_text().splitlines()
        (corpus / name).write_text(f"{first}\n{between}\n{second}\n")
    main(arguments(corpus, "--context", str(lines), "--suite", str(corpus / "suite")))
    assert read_tags(corpus / "tags", (corpus / "t.fr").read_text().splitlines())[2][0] == tuple(found)
    examples = [json.loads(line) for line in (corpus / "suite" / "pronoun.jsonl").read_text().splitlines()]
    assert [each["source"] for each in examples] == [["The car", "No.", "It shines ."]] * len(found)


def test_cohesion_counts_the_lines_of_a_document(corpus, capsys):
    source, target = annotated("the menus/NOUN/=menu"), annotated("les menus/NOUN/=menu")
    for name, (text, words) in (("en", source), ("fr", target)):
        (corpus / f"t.{name}").write_text(f"{text}\n" * 9)
        (corpus / f"{name}.words").write_text(f"{annotation_line(words)}\n" * 9)
    (corpus / "align").write_text("0-0 1-1\n" * 9)
    (corpus / "t.docids").write_text("1\n" * 5 + "2\n" * 4)
    main(arguments(corpus))
    tags = [json.loads(line)["tags"] for line in (corpus / "tags").read_text().splitlines()]
    assert [each[1] == ["cohesion"] for each in tags] == [False] * 3 + [True] * 2 + [False] * 3 + [True]
    assert not any(each[0] for each in tags), "an article means nothing"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("align", "0-0\n", "align: expected as many lines as"),
        ("align", "9-0\n\n\n", "align:1: expected words of 2 and 2, found 9-0"),
        ("fr.words", "{}\n{}\n{}\n", "fr.words:1: expected the key 'words'"),
        ("t.fr", "La voiture\n", "t.fr: expected as many lines"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_left(corpus, refusal, name, content, expected):
    (corpus / name).write_text(content)
    assert expected in refusal(main, arguments(corpus, "--suite", str(corpus / "suite")))
    assert not (corpus / "tags").exists() and not (corpus / "suite").exists()


@pytest.mark.parametrize(
    ("language", "module", "sentences", "tag", "word"),
    [
        ("de", "HanTa", [("Open the file.", "Öffnen Sie die Datei.")], "formality", "Sie"),
        (
            "ru",
            "pymorphy3",
            [("Whom do you see?", "Кого видишь?"), ("The sister.", "Сестру.")],
            "inflection",
            "Сестру",
        ),
    ],
)
def test_with_the_tools(tmp_path, language, module, sentences, tag, word):
    for name in (module, "spacy", "thot"):
        pytest.importorskip(name)
    for name, side in (("en", 0), (language, 1)):
        (tmp_path / f"t.{name}").write_text("".join(f"{pair[side]}\n" for pair in sentences))
    (tmp_path / "t.docids").write_text("1\n" * len(sentences))
    line = ["corpus", "tag", f"{tmp_path}/t", "--source-lang", "en", "--target-lang", language]
    main([*line, "--output", f"{tmp_path}/tags"])
    last = json.loads((tmp_path / "tags").read_text().splitlines()[-1])
    assert tag in last["tags"][last["words"].index(word)]
