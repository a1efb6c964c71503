"""``ctxmt report``: which results are refused, and which are named as not shown."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.page.found import Found, Run, read_runs
from ctxmt_fairseq.analysis.page.page import render
from ctxmt_fairseq.analysis.page.sections import contrastive_sets, sections, translations
from ctxmt_fairseq.analysis.page.summary import summary
from ctxmt_fairseq.base.errors import BadInput
from tests.helpers.html_pages import Page, check_harmless
from tests.helpers.reports import run, write_runs
from tests.helpers.result_files import contrast, translation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Of runs; no test changes it."""
    root = tmp_path_factory.mktemp("runs")
    write_runs(root)
    return root


def test_refusals(folder, tmp_path, refusal):
    out = ("--output", tmp_path / "x.html")
    (tmp_path / "empty").mkdir()
    assert "expected results of ctxmt" in refusal(run, "report", tmp_path / "empty", *out)
    assert "no such file" in refusal(run, "report", tmp_path / "nowhere", *out)
    sentence = folder / "runs/sentence"
    assert "give each folder once" in refusal(run, "report", sentence, sentence, *out)
    same = (f"x={sentence}", f"x={folder / 'runs/s2to2'}")
    assert "two runs are called x" in refusal(run, "report", *same, *out)
    assert "expected a result" in refusal(run, "report", folder / "text.en", *out)
    assert "--source and --reference" in refusal(
        run, "report", sentence, "--source", folder / "text.en", *out
    )
    short = ("--source", folder / "text.docids", "--reference", folder / "pronouns.jsonl")
    assert "expected 5 lines" in refusal(run, "report", sentence, *short, *out)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    results = json.loads((sentence / "evaluation/results.json").read_text())
    for spoil, message in (
        (lambda r: r["contrast"]["pronouns"].pop("ties"), "(KeyError: 'ties')"),
        (
            lambda r: r["contrast"]["pronouns"].update(accuracy="9"),
            "expected what a command of ctxmt wrote",
        ),
        (lambda r: r["translations"]["prefix"].update(scores=3), "expected what a command of ctxmt wrote"),
        (lambda r: r.update(made_by=3), "expected what a command of ctxmt wrote"),
    ):
        copy = json.loads(json.dumps(results))
        spoil(copy)
        (damaged / "results.json").write_text(json.dumps(copy))
        line = refusal(run, "report", damaged, *out)
        assert "results.json: " in line and message in line, line
    assert not (tmp_path / "x.html").exists()


def test_what_is_no_result_is_named(folder, tmp_path, capsys):
    shutil.copytree(folder / "runs/sentence", tmp_path / "sentence")
    (tmp_path / "sentence/notes.json").write_text("[1, 2]")
    run("report", f"mine={tmp_path / 'sentence'}", "--output", tmp_path / "x.html")
    captured = capsys.readouterr()
    assert captured.err == "ctxmt: warning: 1 files are not shown; the page names them\n"
    text = Page((tmp_path / "x.html").read_text()).text
    assert f"files that are not shown {tmp_path}/sentence/notes.json" in text and "mine" in text


def test_what_no_two_runs_have_is_said_to_be_left_out(folder, tmp_path, capsys):
    text = ("--source", folder / "text.en", "--reference", folder / "text.fr")
    asked = (*text, "--sets", folder / "pronouns.jsonl", "--output", tmp_path / "x.html")
    run("report", folder / "runs/sentence", *asked)
    said, choices = capsys.readouterr().err.splitlines()
    assert said == "ctxmt: warning: --source: no NAME.hyp is there in two runs, so the page compares none"
    assert choices.startswith("ctxmt: warning: --sets: no pronouns.examples.jsonl is there in two runs")
    run("report", folder / "runs/sentence", folder / "runs/s2to2", *asked)
    assert not capsys.readouterr().err


def test_a_score_has_few_digits_whatever_a_file_says():
    score = {"name": "BLEU", "level": "sentence", "score": 3.0, "digits": 10**8}
    found = Found(scores={"prefix": (Path("results.json"), {"sentences": 1, "scores": [score]})})
    (table,) = translations([Run("a", Path("."), found)], {}).values()
    assert table.rows[0][1].text == "3.000000000"
    found.scores["prefix"][1]["sentences"] = "many"
    assert translations([Run("a", Path("."), found)], {})["prefix"].caption.endswith(": many sentences")


def test_translations_of_another_text_are_refused():
    runs = [
        Run(name, Path("."), Found(scores={"prefix": (Path(f"{name}.json"), {"sentences": n, "scores": []})}))
        for name, n in (("a", 74), ("b", 69))
    ]
    with pytest.raises(BadInput, match="b.json: expected own context of 74 sentences, .* found 69"):
        translations(runs, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON, data=st.data())
def test_any_json_is_refused_or_shown(folder, tmp_path, value, data):
    """One value somewhere in the results is replaced by another."""
    kinds = ("compared", "lengths", "shares", "windows", "probe", "results")
    name = f"{data.draw(st.sampled_from(kinds))}.json"
    source = next(path for path in (folder / name, folder / "runs/s2to2/evaluation" / name) if path.exists())
    content = json.loads(source.read_text())
    parent, key, inner = None, None, content
    while isinstance(inner, (dict, list)) and inner and (parent is None or data.draw(st.booleans())):
        keys = sorted(inner) if isinstance(inner, dict) else range(len(inner))
        parent, key = inner, data.draw(st.sampled_from(list(keys)))
        inner = inner[key]
    parent[key] = value
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir(exist_ok=True)
    for file in spoilt.iterdir():
        file.unlink()
    (spoilt / name).write_text(json.dumps(content))
    try:
        read = read_runs([str(folder / "runs/sentence"), str(spoilt / name)])
        html = render("x", sections(*read, None, [], 1))
    except BadInput:
        return
    check_harmless(Page(html), html)


def test_what_was_measured_otherwise_stands_apart():
    def run_of(name, tokenizer, convention):
        score = {"name": "BLEU", "level": "sentence", "score": 3.0, "signature": f"tok:{tokenizer}|version:1"}
        scores = {"prefix": (Path("s.json"), {"sentences": 1, "scores": [score]})}
        report = {**contrast(50.0), "ties": 0, "convention": convention}
        return Run(name, Path("."), Found(scores=scores, contrasts={"it": (Path("c.json"), report)}))

    runs = [run_of("a", "13a", "sum-current"), run_of("b", "char", "mean-window")]
    (table,) = translations(runs, {}).values()
    assert [row[0] for row in table.rows] == ["BLEU", "BLEU (tok:char)"] and table.rows[0][2] == "-"
    tables = contrastive_sets(runs)
    assert list(tables) == ["it", "it by mean-window"]
    assert "convention mean-window" in tables["it by mean-window"].caption
    assert not summary(runs, {"prefix": table}, tables, {}).note.strip()


def test_decisions_about_other_examples_than_those_of_the_set_are_refused(folder, tmp_path, refusal):
    other = tmp_path / "pronouns.jsonl"
    other.write_text((folder / "pronouns.jsonl").read_text().replace("It is 3", "She is 3"))
    asked = ("--sets", other, "--output", tmp_path / "x.html")
    line = refusal(run, "report", folder / "runs/sentence", folder / "runs/s2to2", *asked)
    assert "pronouns.examples.jsonl: e3 of pronouns is another example than in --sets" in line


@pytest.mark.parametrize(
    ("kind", "show", "result"),
    [
        ("scores", lambda runs: translations(runs, {}), translation(30.0)),
        ("contrasts", contrastive_sets, {**contrast(50.0), "ties": 0}),
    ],
)
def test_results_of_another_text_of_equal_length_are_refused(kind, show, result):
    def runs(*texts):
        files = [(Path(f"{at}.json"), {**result, **text}) for at, text in enumerate(texts)]
        return [Run(path.stem, Path("."), Found(**{kind: {"prefix": (path, one)}})) for path, one in files]

    assert show(runs({"content": "a"}, {}, {"content": "a"}))  # older files do not say it
    with pytest.raises(BadInput, match="2.json: expected .* of the text of the other runs, found another"):
        show(runs({"content": "a"}, {}, {"content": "b"}))
