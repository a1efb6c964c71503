"""``ctxmt analyse consistency``: systems side by side, tables and refusals."""

import csv
import itertools
import json
import random

import numpy as np
import pytest

from ctxmt_fairseq.analysis.consistency import MEASURES
from ctxmt_fairseq.cli.main import main
from tests.helpers.coreference_files import write_lines

TERMS = ("file", "page", "menu")


def documents_of(count, length, translate):
    """Source, target and alignment of documents in which every sentence has the three terms."""
    sources = [" ".join(TERMS)] * (count * length)
    targets = [
        " ".join(translate(document, term) for term in TERMS)
        for document in range(count)
        for _ in range(length)
    ]
    ids = [f"d{document}" for document in range(count) for _ in range(length)]
    return sources, targets, ["0-0 1-1 2-2"] * len(sources), ids


@pytest.fixture
def files(tmp_path):
    """Translations: a term has one in the whole text, one in each document, one of three drawn anew in each
    sentence, or that in half of the documents."""
    draw = random.Random(3)
    kinds = {
        "always": lambda document, term: f"{term}isch",
        "within": lambda document, term: f"{document}-{term}isch" if document else term,
        "drawn": lambda document, term: draw.choice("xyz") * 3 + term,
        "half": lambda document, term: (draw.choice("xyz") * 3 if document % 2 else "") + term,
    }
    made = {}
    for name, translate in kinds.items():
        sources, made[name], pairs, ids = documents_of(12, 6, translate)
    named = {"src": sources, "align": pairs, "ids": ids, **made}
    return {name: write_lines(tmp_path / name, lines) for name, lines in named.items()}


def run(files, *names, more=(), aligned=None):
    systems = [f"{name}={files[name]}" for name in names]
    alignments = [f"{name}={files['align']}" for name in aligned or names]
    return main(
        ["analyse", "consistency", files["src"], *systems, "--docids", files["ids"], "--samples", "500"]
        + ["--common", "1", "--alignment", *alignments, *map(str, more)]
    )


def test_all_systems_with_each_other(files, tmp_path):
    """The difference of two is that of their differences from the first."""
    assert not run(files, "within", "half", "drawn", more=("--all-pairs", "--json", tmp_path / "json"))
    compared = json.loads((tmp_path / "json").read_text())["comparisons"]
    found = {(row["a"], row["b"]): row for row in compared if row["metric"] == "alike"}
    assert list(found) == [("within", "half"), ("within", "drawn"), ("half", "drawn")]
    first, second, between = (row["difference"] for row in found.values())
    assert between == pytest.approx(second - first) and between < 0
    assert found["half", "drawn"]["stars"]


def test_systems_side_by_side(files, tmp_path, capsys):
    more = ("--reference", files["always"], "--json", tmp_path / "json", "--terms", tmp_path / "terms.tsv")
    names = ("within", "half", "drawn")
    assert not run(files, *names, more=more, aligned=(*names, "reference"))
    record = json.loads((tmp_path / "json").read_text())
    found = {row["system"]: row for row in record["systems"]}
    assert list(found) == [*names, "reference"]
    for name in ("within", "reference"):
        assert {found[name][measure] for measure in MEASURES} == {100}
    for measure in MEASURES:
        assert found["drawn"][measure] < found["half"][measure] < 100
    lines = [(tmp_path / "drawn").read_text().split("\n")[6 * n : 6 * n + 6] for n in range(12)]
    columns = [[line.split()[place] for line in each] for each in lines for place in range(3)]
    pairs = [[a == b for a, b in itertools.combinations(column, 2)] for column in columns]
    assert found["drawn"]["alike"] == pytest.approx(100 * np.mean(pairs))  # as LTCR: one word each
    best = [max(column.count(word) for word in column) for column in columns]
    assert found["drawn"]["main"] == pytest.approx(100 * np.mean(best) / 6)
    assert (record["terms"], record["documents"], found["half"]["sentences"]) == (36, 12, 216)
    compared = [row for row in record["comparisons"] if row["metric"] == "alike"]
    assert [(row["a"], row["b"], row["unit"], row["units"]) for row in compared] == [
        ("within", "half", "document", 12),
        ("within", "drawn", "document", 12),
    ]
    for row in compared:
        assert row["difference"] == pytest.approx(found[row["b"]]["alike"] - 100) and row["high"] < 0
    assert [row["p_holm"] / row["randomization_p"] for row in compared] == [1, 2]  # the lowest of two
    assert [row["stars"] for row in compared] == ["*", "**"]
    rows = list(csv.DictReader((tmp_path / "terms.tsv").open(), dialect="excel-tab"))
    assert len(rows) == 36 * 4 and rows[0] == {
        **{"document": "d0", "term": "file", "system": "within", "sentences": "6", "unaligned": "0"},
        **{"alike": "1.0", "main": "1.0", "translations": "file:6"},
    }
    printed = capsys.readouterr().out
    assert "36 terms that recur, in 12 of 12 documents" in printed and "half - within" in printed


def test_what_is_not_aligned_is_counted_and_left_out_of_all(tmp_path, capsys):
    files = {
        "src": write_lines(tmp_path / "src", ["file page", "file page", "file page", "file page"]),
        "ids": write_lines(tmp_path / "ids", ["a"] * 4),
        "one": write_lines(tmp_path / "one", ["akte blatt", "Akten seite", "datei !", "akte Blatt"]),
        "two": write_lines(tmp_path / "two", ["akte blatt", "", "akte seite", "ordner"]),
    }
    alignments = {"one": ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 1-1"], "two": ["0-0", "", "0-0 1-1", "0-0"]}
    more = [f"{name}={write_lines(tmp_path / f'{name}.align', pairs)}" for name, pairs in alignments.items()]
    names = ["analyse", "consistency", files["src"], *(f"{name}={files[name]}" for name in alignments)]
    command = [*names, "--docids", files["ids"], "--alignment", *more, "--json", str(tmp_path / "json")]
    assert not main([*command, "--prefix", "4"])
    record = json.loads((tmp_path / "json").read_text())
    one, two = record["systems"]
    # "page" is left out, for the second system translates it once
    assert record["left_out"] == {"terms": 1, "by_system": {"one": 0, "two": 1}} and record["terms"] == 1
    assert (one["sentences"], one["unaligned"], two["sentences"], two["unaligned"]) == (4, 0, 3, 1)
    assert (one["alike"], two["alike"]) == (pytest.approx(100 * 3 / 6), pytest.approx(100 * 1 / 3))
    assert (one["main"], two["main"]) == (75, pytest.approx(100 * 2 / 3)) and one["single"] == 0
    assert record["comparisons"] == []  # of one document
    printed = capsys.readouterr().out
    assert "left out: 1 terms with a translation in fewer than two sentences (one 0, two 1)" in printed
    assert "least alike:\nfile (a)\n  one  akte 3, datei 1\n  two  akte 2, ordner 1\n" in printed
    assert not main([*command, "--prefix", "0"])
    assert json.loads((tmp_path / "json").read_text())["systems"][0]["alike"] == pytest.approx(100 / 6)


def test_alignment_learnt_here(tmp_path, capsys):
    pytest.importorskip("thot", reason="the extra align is not installed")
    draw = random.Random(5)
    words = ["file", "page", "menu", "print", "close", "table", "letter", "colour"]
    german = dict(zip(words, "datei seite menü drucken schließen tabelle brief farbe".split(), strict=True))
    sources = [draw.sample(words, 4) for _ in range(120)]
    steady = [" ".join(german[word] for word in reversed(line)) for line in sources]
    loose = [
        " ".join(
            draw.choice(["akte", "ordner"]) if word == "file" else german[word] for word in reversed(line)
        )
        for line in sources
    ]
    ids = [str(line // 10) for line in range(120)]
    texts = {"src": [" ".join(line) for line in sources], "steady": steady, "loose": loose, "ids": ids}
    files = {name: write_lines(tmp_path / name, lines) for name, lines in texts.items()}
    command = ["analyse", "consistency", files["src"], files["steady"], files["loose"]]
    more = ("--common", "1", "--train", files["src"], files["steady"], "--json", str(tmp_path / "json"))
    assert not main([*command, "--docids", files["ids"], *more])
    steady, loose = json.loads((tmp_path / "json").read_text())["systems"]
    assert (steady["system"], loose["system"]) == ("steady", "loose") and steady["alike"] > 95
    terms = json.loads((tmp_path / "json").read_text())["terms"]
    assert loose["single"] < steady["single"] and terms > 60
    assert "akte" in capsys.readouterr().out


# ---- what it refuses -----------------------------------------------------------------------------------


def test_several_seeds_of_a_system(files, tmp_path, capsys, refusal):
    """Runs of one name are compared over seeds and documents; each takes an alignment of its name."""
    draw, systems = random.Random(4), []
    for name, share in (("a", 0.9), ("b", 0.2)):
        for seed in range(3):
            lines = [
                " ".join((draw.choice("xyz") * 3 if draw.random() < share else "") + term for term in TERMS)
                for _ in range(72)
            ]
            systems.append(f"{name}={write_lines(tmp_path / f'{name}{seed}', lines)}")
    aligned = [f"{system[0]}={files['align']}" for system in systems]
    how = [
        "--docids",
        files["ids"],
        "--common",
        "1",
        "--json",
        str(tmp_path / "json"),
        "--alignment",
        *aligned,
    ]
    assert not main(["analyse", "consistency", files["src"], *systems, *how])
    record = json.loads((tmp_path / "json").read_text())
    assert [one["system"] for one in record["systems"]] == [
        f"{name}, run {n}" for name in "ab" for n in (1, 2, 3)
    ]
    (alike,) = [one for one in record["comparisons"] if one["metric"] == "alike"]
    means = [np.mean([one["alike"] for one in record["systems"][start : start + 3]]) for start in (0, 3)]
    assert (alike["a"], alike["b"], alike["seeds"], alike["units"]) == ("a", "b", [3, 3], 12)
    assert (alike["score_a"], alike["score_b"]) == pytest.approx(tuple(means)) and alike["stars"]
    assert alike["method"] in capsys.readouterr().out and record["about"] == alike["method"]
    assert "once for each of a, run 1" in refusal(
        main, ["analyse", "consistency", files["src"], *systems, *how, aligned[0]]
    )


def test_refusals(files, tmp_path, refusal):
    def of(*names, **options):
        return refusal(run, files, *names, **options)

    assert "--alignment: expected NAME=FILE for each system, found none for drawn" in of(
        "always", "drawn", aligned=["always"]
    )
    assert "expected NAME=FILE once for each of always" in of("always", aligned=["always", "always"])
    assert "--alignment half=" in of("always", aligned=["half"])
    assert "give each run of always once" in of("always", "always")
    assert "leave out --train" in of("always", more=("--train", "x", "y"))
    assert "argument --common: expected a number above 0" in of("always", more=("--common", 0))
    assert "argument --min-count: expected a whole number of at least 2" in of(
        "always", more=("--min-count", 1)
    )
    assert "expected terms that recur in a document, found none" in of("always", more=("--min-length", 9))
    short = {name: write_lines(tmp_path / f"short.{name}", ["x"] * 3) for name in ("always", "ids", "align")}
    for name, words in (
        ("always", "expected 3 lines, as in"),
        ("ids", f"{short['ids']}: expected 72 document ids, found 3"),
        ("align", f"{short['align']}:1: expected pairs such as 0-1, found 'x'"),
    ):
        assert words in refusal(run, {**files, name: short[name]}, "always")
    joined = {"always": ["猫在睡觉。"] * 72, "src": ["私は猫が好きです"] * 72}
    for name, lines in joined.items():
        path = write_lines(tmp_path / f"joined.{name}", lines)
        said = refusal(run, {**files, name: path}, "always")
        assert f"{path}: has no blanks between words: cut it into words first" in said
    far = write_lines(tmp_path / "far", ["0-0 1-9"] * 72)
    assert f"{far}:1: expected words of 3 and 3, found 1-9" in refusal(run, {**files, "align": far}, "always")
    empty = write_lines(tmp_path / "empty", [""] * 72)
    assert "expected terms that every system translates; left out: 36 terms" in refusal(
        run, {**files, "align": empty}, "always"
    )
