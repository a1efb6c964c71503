"""SCAT in its two layouts, made after their descriptions: marks, contrastive sets, text with highlights."""

import json

import numpy as np
import pytest

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_set
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.highlights import read_highlights
from ctxmt_fairseq.text.scat import Marked
from tests.helpers.contrastive_files import error
from tests.helpers.public_corpora import SCAT, jsonl

FIELDS = ("en", "fr", "context_en", "context_fr")


@pytest.fixture
def files(tmp_path):
    for name, text in SCAT.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def records():
    columns = [SCAT[f"test.{name.replace('_', '.')}"].splitlines() for name in FIELDS]
    return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("if <p>it</p> grows, <p>it</p>'s", ("if it grows, it's", [1, 3], [])),
        ("s<p>it</p>ting w<p>it</p>h <p>it</p>", ("sitting with it", [2], [])),
        ("les  <hon>plantes<hoff> , non  <hon>le pot<hoff>  a", ("les plantes, non le pot a", [], [1, 3, 4])),
        ("l' <hon>arme<hoff>  a", ("l'arme a", [], [0])),
        ("un <hon>chat<hoff> noir <hon>et", ("un chat noir et", [], [1])),
        ("<hon><p>it</p></hoff> is </p>", ("it is ", [0], [0])),
        ("<hon>a <hon>b<hoff> " + "<hon>" * 99999, ("a b ", [], [1])),
        ("", ("", [], [])),
    ],
)  # fmt: skip
def test_marks(text, expected):
    assert tuple(Marked.read(text)) == expected


@pytest.mark.parametrize("layout", ["lines", "json", "jsonl", "with tags"])
def test_one_set_in_all_layouts(files, layout):
    path = files / "test.en"
    if layout != "lines":
        path = files / ("set.jsonl" if layout == "jsonl" else "set.json")
        tags = "_with_tags" * (layout == "with tags")
        named = [{name + tags: text for name, text in record.items()} for record in records()]
        path.write_text(jsonl(*named) if layout == "jsonl" else json.dumps(named))
    found = read_contrastive_set(path, format="scat" if layout == "jsonl" else None)
    assert found.format == "scat" and str(found.convention) == "sum-current"
    first, second = found.examples  # the third has no marked pronoun
    assert (first.source_before, first.source) == (("Two plants. Water.",), "I saw if it would grow.")
    assert [candidate.current for candidate in first.candidates] == [
        "J'ai vu si elle grandit.",
        "J'ai vu si il grandit.",
    ]
    assert first.candidates[0].before == first.candidates[1].before == ("Deux plantes. De l'eau.",)
    assert (first.phenomenon, first.distance, first.meta) == ("elle", None, {"supporting context": "true"})
    assert [candidate.current for candidate in second.candidates] == [
        "Ils vont, qu'ils soient là.",
        "Elles vont, qu'elles soient là.",
    ]
    assert (second.phenomenon, second.distance, second.source_before) == ("ils", 0, ())  # fmt: skip


def test_a_translation_that_the_file_gives(tmp_path):
    record = {**records()[0], "contrast_fr": "Elle a <p>il</p>."}
    (tmp_path / "a.json").write_text(json.dumps([record]))
    assert read_contrastive_set(tmp_path / "a.json").examples[0].candidates[1].current == "Elle a il."


def test_what_is_not_as_it_should_be(files):
    (files / "test.context.fr").write_text("one line\n")
    assert "test.context.fr: expected as many lines as" in error(files / "test.en")
    (files / "a.json").write_text('[{"context_en": "A", "en": "B"}]')
    assert "example 1: expected the key 'fr'" in error(files / "a.json")


def test_text_with_highlights(files):
    """The corpus command's marks, read back as words of the text that it writes."""
    out, marks = files / "out", files / "marks.jsonl"
    languages = ("--source-lang", "en", "--target-lang", "fr")
    main(
        ["corpus", "scat", str(files / "test.fr"), *languages, "--out", str(out), "--highlights", str(marks)]
    )
    text = {side: (files / f"out.{side}").read_text().splitlines() for side in ("en", "fr")}
    assert text["fr"][:2] == ["Deux plantes. De l'eau.", "J'ai vu si elle grandit."]
    assert (files / "out.current").read_text().split() == ["0", "1", "1", "1"]

    def words(sentence):
        side, line = sentence
        return [np.array([at]) for at, _ in enumerate(text["en" if side == "source" else "fr"][line].split())]

    documents = Documents.read(str(out) + ".docids", 4)
    found = read_highlights(marks, documents, words)
    assert list(found) == [1, 2]  # lines of the text, from 0
    named = {side: [int(at[0]) for at in places] for side, places in found[1].words.items()}
    assert named == {"source": [3], "target": [3]}
    support = [{key: places.tolist() for key, places in found[line].support.items()} for line in (1, 2)]
    assert support == [{("source", 0): [1], ("target", 0): [1]}, {("source", 2): [0]}]
