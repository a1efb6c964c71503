"""The readers of ``opensubs``, ``bawden`` and ``voita``: known answers, and one clear line per error."""

import json
from collections import Counter

import pytest

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, contrastive_report
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    Convention,
    read_contrastive_set,
    read_contrastive_sets,
)


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


# --- opensubs ---


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


# --- bawden ---


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
    assert first.distance == second.distance == 1  # where the twins' target contexts differ


def test_bawden_lexical_choice_keeps_each_candidates_own_context(tmp_path):
    (example,) = read_contrastive_set(write_json(tmp_path / "lexical.json", lexical())).examples
    assert example.candidates == (
        Candidate(("La rive.",), "Au bord !"),
        Candidate(("La banque.",), "Au guichet !"),
    )
    assert (example.id, example.phenomenon, example.source) == ("3.1", "disambig", "To the bank!")


def twins(*contexts):
    """Examples of one current sentence after these contexts, source and target alike; the first is right with
    a bank, the others with a shore."""
    words = ("Au guichet !", "Au bord !")
    return {
        "type": "disambig",
        "examples": [
            {
                "src": [*context, "To the bank!"],
                "trg": {"correct": [*context, words[at > 0]], "incorrect": [*context, words[at == 0]]},
            }
            for at, context in enumerate(contexts)
        ],
    }


@pytest.mark.parametrize(
    "contexts, expected",
    [
        ((["River", "Then"], ["Money", "Then"]), [2, 2]),
        ((["Then", "River"], ["Then", "Money"]), [1, 1]),
        ((["River", "Then"], ["Money", "Now"]), [None, None]),  # either of the two
        (
            (["River", "Then"], ["Money", "Then"], ["Money", "Now"]),
            [2, 2, None],
        ),  # 2 in every twin of the first
        ((["Then"], ["Then"]), [None, None]),  # nothing decides
        ((["River"],), [None]),  # no twin
        ((["River"], ["Then", "Money"]), [None, None]),  # not side by side
    ],
)
def test_bawden_distance_is_where_twins_differ(tmp_path, contexts, expected):
    result = read_contrastive_set(write_json(tmp_path / "set.json", {"1": twins(*contexts)}))
    assert [example.distance for example in result.examples] == expected


def test_bawden_twins_have_the_same_current_sentence(tmp_path):
    block = twins(["River"], ["Money"])
    block["examples"][1]["src"][-1] = "To the other bank!"
    result = read_contrastive_set(write_json(tmp_path / "set.json", {"1": block}))
    assert [example.distance for example in result.examples] == [None, None]


def test_bawden_distances_are_told_apart_in_the_report(tmp_path):
    """Right at distance 1 and by chance at distance 2: one line would hide both behind 75 %."""
    blocks = {
        "1": twins(["Then", "River"], ["Then", "Money"]),
        "2": twins(["River", "Then"], ["Money", "Then"]),
    }
    result = read_contrastive_set(write_json(tmp_path / "set.json", blocks))
    better = [CandidateScore(-1.0, 1, -1.0, 1), CandidateScore(-2.0, 1, -2.0, 1)]
    report = contrastive_report(result, [better, better, better, better[::-1]])
    accuracies = {name: tally["accuracy"] for name, tally in report.as_dict()["distances"].items()}
    assert accuracies == {"1": 100, "2": 50} and report.as_dict()["accuracy"] == 75


def test_bawden_candidates_must_differ_in_the_current_sentence(tmp_path):
    blocks = anaphora()
    for sentences in (blocks["7"]["src"], *(blocks["7"]["trg"][0][key] for key in ("correct", "incorrect"))):
        sentences.append("Oh !")
    path = write_json(tmp_path / "set.json", blocks)
    assert f"{path}: block '7', target 1: expected candidates that differ in the last sentence" in error(path)


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


# --- voita ---


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


def test_voita_files_named_one_by_one_are_one_set(tmp_path):
    names = ("ellipsis_vp", "deixis_test", "lex_cohesion_test", "ellipsis_infl")
    paths = [write_json(tmp_path / f"{name}.json", [voita_record()] * n) for n, name in enumerate(names, 1)]
    other = write_json(tmp_path / "lexical.json", lexical())
    first, second = read_contrastive_sets([other, *paths])
    assert (first.name, second.name) == ("lexical", "+".join(names))
    assert {example.id for example in second.examples} == {
        example.id for example in read_contrastive_set(tmp_path).examples
    }
    right, wrong = CandidateScore(-1.0, 1, -1.0, 1), CandidateScore(-2.0, 1, -2.0, 1)
    scores = [
        [wrong, right] if example.phenomenon == "deixis" else [right, wrong] for example in second.examples
    ]
    numbers = contrastive_report(second, scores).as_dict()
    assert (numbers["disc"], numbers["disc_avg"]) == (20, 25)  # deixis: 2 of 10 examples, 1 of 4 phenomena


@pytest.mark.parametrize("names", [("deixis_dev", "deixis_test"), ("deixis_test", "ellipsis")])
def test_voita_files_that_are_no_parts_of_one_suite_stay_apart(tmp_path, names):
    paths = [write_json(tmp_path / f"{name}.json", [voita_record()]) for name in names]
    assert [one.name for one in read_contrastive_sets(paths)] == list(names)


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
