"""Contrastive sets in the format of Lopes et al. (2020): current and context files."""

import pytest

from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    Convention,
    read_contrastive_set,
)
from tests.helpers.contrastive_files import error, write


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
        ("Films.current.src", ["a", "a", "b", "c"], "Films.current.src:4: expected the same source as"),
        ("Films.current.trg", ["a", "b", "c", ""], "Films.current.src:4: the current sentence is empty"),
        ("Films.c1.context.src", ["a"] * 3, "Films.c1.context.src: expected 4 lines, found 3"),
        ("Films.c2.context.trg", ["a"] * 7, "Films.c2.context.trg: expected 8 lines, found 7"),
        (
            "Films.c1.context.src",
            ["a", "a", "a", "b"],
            "Films.c1.context.src:4: expected the same source context",
        ),
        ("Others.current.src", ["a"], "pronouns: expected one file *.current.src, found 2"),
    ],
)
def test_opensubs_errors(opensubs, name, lines, expected):
    write(opensubs / name, *lines)
    assert expected in error(opensubs)


def test_the_folder_that_one_is_in_has_its_name(opensubs, monkeypatch):
    monkeypatch.chdir(opensubs)
    assert read_contrastive_set(".").name == opensubs.name


def test_opensubs_missing_target(opensubs):
    (opensubs / "Films.c1.context.trg").unlink()
    assert "Films.c1.context.trg: no such file" in error(opensubs)
