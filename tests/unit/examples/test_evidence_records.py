"""The result files of examples/evidence, and what of this machine stays out of them."""

import json
from pathlib import Path

import pytest

from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.evidence_runs import result, training_result


def test_results_are_read_as_they_were_written(evidence, tmp_path):
    place = evidence.workplace.Workplace(tmp_path, tmp_path / "work", tmp_path / "results")
    written = result("gated", 2, "10")
    evidence.records.write(place, place.result("gated", 2), written)
    (place.results / "search.json").write_text("{}")
    assert evidence.records.read_all(place.results) == {("gated", 2): written}
    assert [path.name for path in place.results.iterdir() if "gated" in path.name] == ["gated.2.json"]


@pytest.mark.parametrize(
    "content, said",
    [
        ("{", "gated.2.json:1: expected JSON"),
        ("[]", "gated.2.json: expected a run's result, with row, seed, learning_curve, cpu_seconds"),
        (json.dumps({"row": "gated", "seed": 2, "cpu_seconds": 1}), "result, with learning_curve$"),
        (json.dumps(training_result("gated", 1)), "expected the result of gated.2, found that of gated.1"),
    ],
)
def test_what_is_no_result_is_refused(evidence, tmp_path, content, said):
    (tmp_path / "gated.2.json").write_text(content)
    with pytest.raises(BadInput, match=said):
        evidence.records.read_all(tmp_path)


@pytest.mark.parametrize(
    "work, corpora", [("/tmp/a/work", "/tmp/a"), ("/data/x", "/data"), ("/w", "/tmp/w/data"), ("/a b", "/c")]
)
def test_paths_have_names_and_what_looks_alike_stays(evidence, work, corpora):
    place = evidence.workplace.Workplace(Path(corpora), Path(work), Path("/results"))
    package = evidence.workplace.PACKAGE
    text = f"{work}/data-pronouns {corpora}/x.en ctxmt --out={work} {corpora}2 /x{corpora} {package}/a"
    masked = "EVIDENCE_DIR/data-pronouns DATA/x.en ctxmt --out=EVIDENCE_DIR {0}2 /x{0} ctxmt_fairseq/a"
    assert place.masked(text) == masked.format(corpora)
    assert place.masked(json.dumps([work])) == '["EVIDENCE_DIR"]'


def test_a_page_without_marks_is_left_as_it_is(evidence, tmp_path):
    page = tmp_path / "page.md"
    begin, end = evidence.tables.BEGIN, evidence.tables.END
    for text in (
        "# Nothing\n",
        f"{begin.format('scores')}no end\n",
        f"{end.format('scores')}\nno beginning\n",
        f"{begin.format('scores')}another's end\n{end.format('search')}",
        f"{begin.format('none')}of no table\n{end.format('none')}",
    ):
        page.write_text(text)
        said = "page.md: expected <!-- NAME: written by .* NAME one of scores, search"
        with pytest.raises(BadInput, match=said):
            evidence.tables.rewrite(page, {"scores": "new", "search": "new"})
        assert page.read_text() == text
