"""Readers of contrastive sets: known answers in every layout, and one clear line for every broken file."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import Candidate, Convention, read_contrastive_set

PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "contrastive"


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def error(path, **arguments):
    with pytest.raises(BadInput) as caught:
        read_contrastive_set(path, **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- opensubs -------------------------------------------------------------------------------------


@pytest.fixture
def opensubs(tmp_path):
    folder = tmp_path / "pronouns"
    folder.mkdir()
    write(folder / "Films.current.src", "It sinks.", "It sinks.", "They sing.", "They sing.")
    write(
        folder / "Films.current.trg", "Il coule.", "Elle coule.", "Que chantent-elles ?", "Que chantent-ils ?"
    )
    write(folder / "Films.c1.context.src", "The boat!", "The boat!", "Two ladies.", "Two ladies.")
    write(folder / "Films.c1.context.trg", "Le bateau !", "Le bateau !", "Deux dames.", "Deux dames.")
    write(folder / "Films.c2.context.src", *["Look.", "The boat!"] * 2, *[""] * 4)
    write(folder / "Films.c2.context.trg", *["Regarde.", "Le bateau !"] * 2, *[""] * 4)
    return folder


def test_opensubs_takes_each_examples_widest_context(opensubs):
    result = read_contrastive_set(opensubs)
    assert (result.name, result.format, result.convention) == (
        "pronouns",
        "opensubs",
        Convention("sum", "current"),
    )
    first, second = result.examples
    assert (first.source_before, first.source, first.source_after) == (
        ("Look.", "The boat!"),
        "It sinks.",
        (),
    )
    assert first.candidates == (
        Candidate(("Regarde.", "Le bateau !"), "Il coule."),
        Candidate(("Regarde.", "Le bateau !"), "Elle coule."),
    )
    assert (first.correct, first.phenomenon, first.distance) == (0, "il", None)
    # The document has one earlier sentence only: the two-sentence files are empty here.
    assert second.source_before == ("Two ladies.",)
    assert second.candidates[1] == Candidate(("Deux dames.",), "Que chantent-ils ?")
    assert second.phenomenon == "elles"


def test_opensubs_without_context_files(opensubs):
    for file in opensubs.glob("*.context.*"):
        file.unlink()
    assert [example.source_before for example in read_contrastive_set(opensubs).examples] == [(), ()]


@pytest.mark.parametrize(
    "name, lines, expected",
    [
        (
            "Films.current.src",
            ["It sinks."] * 3,
            "Films.current.src: expected two lines per example, found 3",
        ),
        ("Films.current.trg", ["Il coule."] * 3, "Films.current.trg: expected 4 lines, found 3"),
        ("Films.current.src", ["a", "a", "b", "c"], "Films.current.src:4: expected the source line"),
        ("Films.current.trg", ["a", "b", "c", ""], "Films.current.src:4: expected a current sentence"),
        ("Films.current.trg", ["a", "b", "c", "d <sep> e"], "Films.current.trg:4: expected text"),
        ("Films.c1.context.src", ["a"] * 3, "Films.c1.context.src: expected 4 lines, found 3"),
        ("Films.c2.context.trg", ["a"] * 7, "Films.c2.context.trg: expected 8 lines, found 7"),
        ("Films.c1.context.src", ["a", "a", "a", "b"], "Films.c1.context.src:4: expected the source context"),
        ("Others.current.src", ["a"], "pronouns: expected one file *.current.src, found 2"),
    ],
)
def test_opensubs_errors(opensubs, name, lines, expected):
    write(opensubs / name, *lines)
    assert expected in error(opensubs)


def test_opensubs_missing_target(opensubs):
    (opensubs / "Films.c1.context.trg").unlink()
    assert "Films.c1.context.trg: no such file" in error(opensubs)


# --- bawden ---------------------------------------------------------------------------------------


def anaphora():
    return {
        "7": {
            "inspired by": ["x"],
            "src": ["I lost the key.", "Where is it?"],
            "trg": [
                {
                    "correct": ["J'ai perdu la clé.", " Où est-elle ?"],
                    "incorrect": ["J'ai perdu la clé.", "Où est-il ?"],
                    "type": "f.sg",
                },
                {
                    "semi-correct": ["J'ai perdu le passe.", "Où est-il ?"],
                    "incorrect": ["J'ai perdu le passe.", "Où est-elle ?"],
                    "type": "m.sg",
                },
            ],
        }
    }


def lexical():
    pair = {"correct": ["La rive.", "Au bord !"], "incorrect": ["La banque.", "Au guichet !"]}
    return {"3": {"type": "disambig", "examples": [{"src": ["The river.", "To the bank!"], "trg": pair}]}}


def test_bawden_anaphora(tmp_path):
    result = read_contrastive_set(write_json(tmp_path / "anaphora.json", anaphora()))
    first, second = result.examples
    assert (result.name, result.format) == ("anaphora", "bawden")
    assert (first.id, second.id) == ("7.1", "7.2")
    assert first.candidates[first.correct] == Candidate(("J'ai perdu la clé.",), "Où est-elle ?")
    assert second.candidates[second.correct] == Candidate(("J'ai perdu le passe.",), "Où est-il ?")
    assert [example.phenomenon for example in result.examples] == ["anaphora f.sg", "anaphora m.sg"]
    assert [example.meta["quality"] for example in result.examples] == ["correct", "semi-correct"]
    assert first.source_before == second.source_before == ("I lost the key.",)
    assert first.distance == second.distance == 1


def test_bawden_lexical_choice_keeps_each_candidates_own_context(tmp_path):
    (example,) = read_contrastive_set(write_json(tmp_path / "lexical.json", lexical())).examples
    assert example.candidates == (
        Candidate(("La rive.",), "Au bord !"),
        Candidate(("La banque.",), "Au guichet !"),
    )
    assert (example.id, example.phenomenon, example.source) == ("3.1", "disambig", "To the bank!")


def test_bawden_repeated_block_is_warned_about(tmp_path, caplog):
    block = json.dumps(lexical()["3"])
    path = tmp_path / "twice.json"
    path.write_text(f'{{"3": {block}, "3": {block}}}')
    assert len(read_contrastive_set(path).examples) == 1
    assert "twice.json: the key '3' is repeated" in caplog.text


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda block: block.pop("trg"), "block '7': expected the key 'trg', found 'inspired by', 'src'"),
        (lambda block: block.pop("src"), "block '7', target 1: expected the key 'src'"),
        (lambda block: block["trg"][1].pop("incorrect"), "block '7', target 2: expected the key 'incorrect'"),
        (lambda block: block["trg"][0].pop("correct"), "block '7', target 1: expected the key 'correct'"),
        (
            lambda block: block["trg"][0]["correct"].pop(),
            "expected 2 sentences at 'correct', as in 'src', found 1",
        ),
        (lambda block: block.update(src="one"), "expected a list at the key 'src', found \"one\""),
        (lambda block: block.update(src=[1, 2]), "expected 'src' to be a list of sentences"),
    ],
)
def test_bawden_errors(tmp_path, change, expected):
    blocks = anaphora()
    change(blocks["7"])
    path = write_json(tmp_path / "bad.json", blocks)
    assert f"{path}: block '7'" in error(path) and expected in error(path)


# --- voita ----------------------------------------------------------------------------------------


def voita_record():
    return {
        "src": "Sit down . _eos You look tired .",
        "dst": ["Садись . _eos Вы устали .", "Садись . _eos Ты устал ."],
        "true_ind": 1,
        "ctx_dist": 1,
    }


def test_voita(tmp_path):
    result = read_contrastive_set(write_json(tmp_path / "deixis_test.json", [voita_record()]))
    (example,) = result.examples
    assert (result.format, result.convention) == ("voita", Convention("sum", "current"))
    assert (example.source_before, example.source) == (("Sit down .",), "You look tired .")
    assert example.candidates[example.correct] == Candidate(("Садись .",), "Ты устал .")
    assert (example.phenomenon, example.distance) == ("deixis", 1)


def test_voita_identical_candidates_count_once(tmp_path):
    record = voita_record()
    right, wrong = record["dst"][1], record["dst"][0]
    record.update(dst=[wrong, right, wrong, right], true_ind=3)
    (example,) = read_contrastive_set(write_json(tmp_path / "ellipsis_vp.json", [record])).examples
    assert [candidate.current for candidate in example.candidates] == ["Вы устали .", "Ты устал ."]
    assert example.correct == 1
    record.update(dst=[right, right], true_ind=1)  # nothing to choose from: kept, to be reported as a tie
    (example,) = read_contrastive_set(write_json(tmp_path / "ellipsis_vp.json", [record])).examples
    assert len(example.candidates) == 2


def test_voita_folder_takes_one_file_per_phenomenon(tmp_path):
    folder = tmp_path / "sets"
    folder.mkdir()
    for name, count in (("deixis_dev", 1), ("deixis_test", 2), ("ellipsis_infl", 3), ("lex_cohesion_dev", 4)):
        write_json(folder / f"{name}.json", [voita_record()] * count)
    result = read_contrastive_set(folder)
    counts = Counter(example.phenomenon for example in result.examples)
    assert (result.name, counts) == ("sets", {"deixis": 2, "ellipsis_infl": 3, "lex_cohesion": 4})
    (tmp_path / "empty").mkdir()
    assert "expected files named deixis" in error(tmp_path / "empty")


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"true_ind": 2}, "example 2: expected a correct index from 0 to 1, found 2"),
        ({"true_ind": -1}, "example 2: expected a correct index from 0 to 1, found -1"),
        ({"true_ind": True}, "example 2: expected a whole number at the key 'true_ind', found true"),
        ({"src": "You look tired ."}, "example 2: expected sentences joined by ' _eos ' in 'src'"),
        ({"src": "a _eos b _eos c"}, "example 2: expected 3 sentences in each of 'dst', found 2"),
        ({"dst": "a _eos b"}, "example 2: expected a list at the key 'dst'"),
        ({"dst": ["a _eos b"], "true_ind": 0}, "example 2: expected at least two candidates, found 1"),
        ({"dst": ["a _eos b", "a _eos"]}, "example 2: expected a current sentence on both sides"),
        ({"ctx_dist": "1"}, "example 2: expected a whole number at the key 'ctx_dist', found \"1\""),
    ],
)
def test_voita_errors(tmp_path, change, expected):
    path = write_json(tmp_path / "deixis_test.json", [voita_record(), {**voita_record(), **change}])
    assert f"{path}: {expected}" in error(path)


def test_voita_missing_key(tmp_path):
    record = voita_record()
    del record["ctx_dist"]
    path = write_json(tmp_path / "deixis_test.json", [record])
    assert "example 1: expected the key 'ctx_dist', found 'src', 'dst', 'true_ind'" in error(path)


# --- contrapro ------------------------------------------------------------------------------------

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
    assert "contrapro.context.de: expected 8 lines, found 12" in error(contrapro, documents=folder)
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
        ({"document id": "2000_1_2.de"}, "example 1: expected the document '2000_1_2.de'"),
        ({"segment id": 9}, "example 1: expected line 9 in '1999_1_2.de', which has 5 lines"),
        ({"segment id": 0}, "example 1: expected 'segment id' to be a line number from 1, found 0"),
        ({"segment id": 3}, "example 1: expected 'src segment' at line 3 of the source"),
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


# --- jsonl ----------------------------------------------------------------------------------------


def own_record(**changes):
    return {
        "id": "cata-1",
        "phenomenon": "cataphora",
        "distance": None,
        "context": "source-next",
        "source": ["Look.", "It arrived.", "The letter did."],
        "current": 1,
        "targets": [["Regarde.", "Elle est arrivée."], ["Regarde.", "Il est arrivé."]],
        "correct": 0,
        "meta": {"speaker": "female"},
        **changes,
    }


def test_jsonl(tmp_path):
    result = read_contrastive_set(write(tmp_path / "cataphora.jsonl", json.dumps(own_record())))
    (example,) = result.examples
    assert (result.name, result.format, result.convention) == (
        "cataphora",
        "jsonl",
        Convention("sum", "current"),
    )
    assert (example.source_before, example.source, example.source_after) == (
        ("Look.",),
        "It arrived.",
        ("The letter did.",),
    )
    assert example.candidates[1] == Candidate(("Regarde.",), "Il est arrivé.")
    assert (example.distance, example.meta) == (None, {"speaker": "female", "context": "source-next"})


@pytest.mark.parametrize(
    "line, expected",
    [
        ("{", "expected a JSON object"),
        ("[]", "expected an object with the key 'source'"),
        (json.dumps(own_record(current=3)), "expected 'current' from 0 to 2, found 3"),
        (json.dumps(own_record(context="both")), "expected 'context' to be one of source-previous"),
        (json.dumps(own_record(targets=[["a"], ["b"]])), "expected 2 target sentences"),
        (json.dumps(own_record(targets=["a", "b"])), "expected 'targets' to be a list of sentences"),
        (json.dumps(own_record(correct=2)), "expected a correct index from 0 to 1, found 2"),
        (json.dumps(own_record(meta={"year": 1999})), "expected 'meta' to be an object of strings"),
        (json.dumps(own_record(distance="far")), "expected a whole number at the key 'distance'"),
        (json.dumps(own_record(source=["a <sep>", "b"])), "found the symbol <sep>"),
        ("", "expected a JSON object"),
    ],
)
def test_jsonl_errors_name_the_line(tmp_path, line, expected):
    path = write(tmp_path / "own.jsonl", json.dumps(own_record()), line)
    assert f"{path}:2: {expected}" in error(path) or (
        f"{path}:2: " in error(path) and expected in error(path)
    )


def test_jsonl_empty_file(tmp_path):
    assert "found an empty file" in error(write(tmp_path / "own.jsonl"))


# --- detection ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, expected",
    [
        ('[{"true_ind": 0', "set.json:1: expected JSON"),
        ("\n\n[1,]", "set.json:3: expected JSON"),
        ("[]", "set.json: expected a contrastive set in one of the formats opensubs, bawden"),
        ('[{"a": 1}]', "set.json: expected a contrastive set in one of the formats"),
        ("{}", "set.json: expected an object of numbered blocks"),
        ("[\0]", "set.json:1: expected text, found a NUL byte"),
    ],
)
def test_unreadable_files(tmp_path, content, expected):
    (tmp_path / "set.json").write_text(content)
    assert expected in error(tmp_path / "set.json")


def test_detection_arguments(tmp_path):
    assert "no such file or folder" in error(tmp_path / "none.json")
    path = write_json(tmp_path / "deixis.json", [voita_record()])
    assert "expected a format from opensubs" in error(path, format="xml")
    assert "a documents folder goes with the format contrapro" in error(path, documents=tmp_path)
    assert "expected an object of numbered blocks" in error(path, format="bawden")
    own = write(tmp_path / "own.txt", json.dumps(own_record()))
    assert read_contrastive_set(own, format="jsonl").format == "jsonl"


# --- round trips ----------------------------------------------------------------------------------

words = st.sampled_from(["the", "boat", "sinks", "è", "«", "ты", "l'", "_", "eos", "0"])
sentence = st.lists(words, min_size=1, max_size=4).map(" ".join)


@st.composite
def examples(draw, after):
    """Source sentences, the current one's index, distinct candidates, the correct one's index."""
    before = draw(st.integers(0 if after else 1, 3))
    source = draw(st.lists(sentence, min_size=before + 1, max_size=before + (3 if after else 1)))
    candidate = st.lists(sentence, min_size=before + 1, max_size=before + 1)
    targets = draw(st.lists(candidate, min_size=2, max_size=4, unique_by=tuple))
    return source, before, targets, draw(st.integers(0, len(targets) - 1)), draw(st.integers(0, 5))


def assert_same(example, source, current, targets, correct, distance):
    assert [*example.source_before, example.source, *example.source_after] == source
    assert len(example.source_before) == current
    assert [[*candidate.before, candidate.current] for candidate in example.candidates] == targets
    assert (example.correct, example.distance) == (correct, distance)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(examples(after=True), min_size=1, max_size=4))
def test_jsonl_round_trip(tmp_path, records):
    keys = ("source", "current", "targets", "correct", "distance")
    lines = [json.dumps(own_record(**dict(zip(keys, record, strict=True)))) for record in records]
    result = read_contrastive_set(write(tmp_path / "own.jsonl", *lines))
    for example, record in zip(result.examples, records, strict=True):
        assert_same(example, *record)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(examples(after=False), min_size=1, max_size=4))
def test_voita_round_trip(tmp_path, records):
    value = [
        {
            "src": " _eos ".join(source),
            "dst": [" _eos ".join(target) for target in targets],
            "true_ind": correct,
            "ctx_dist": distance,
        }
        for source, _, targets, correct, distance in records
    ]
    result = read_contrastive_set(write_json(tmp_path / "lex_cohesion_test.json", value))
    for example, record in zip(result.examples, records, strict=True):
        assert_same(example, *record)


# --- the public files -----------------------------------------------------------------------------


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public sets are not beside this checkout")
@pytest.mark.parametrize(
    "name, format, count, distances, phenomena",
    [
        ("en-fr-pronouns", "opensubs", 1645, {None}, {"il": 381, "elle": 443, "ils": 437, "elles": 384}),
        (
            "discourse-mt-en-fr/anaphora.json",
            "bawden",
            200,
            {1},
            {f"anaphora {gender}.{number}": 50 for gender in "mf" for number in ("sg", "pl")},
        ),
        (
            "discourse-mt-en-fr/lexical-choice.json",
            "bawden",
            200,
            {1},
            {"disambig": 172, "repet": 22, "repet, disambig": 6},
        ),
        (
            "discourse-en-cs/disambig.cs.json",
            "bawden",
            150,
            {1},
            {"disambig": 146, "repet, disambig": 2, "lexical choice": 2},
        ),
        (
            "en-ru-consistency",
            "voita",
            1500,
            {1, 2, 3},
            {"deixis": 500, "lex_cohesion": 500, "ellipsis_infl": 500},
        ),
    ],
)
def test_public_sets(name, format, count, distances, phenomena):
    result = read_contrastive_set(PUBLIC / name)
    assert (result.format, len(result.examples)) == (format, count)
    assert {example.distance for example in result.examples} == distances
    assert Counter(example.phenomenon for example in result.examples) == phenomena
    assert all(example.source_before for example in result.examples)
