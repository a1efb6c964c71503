"""Tables as text, Markdown, LaTeX and CSV."""

import csv
import io
import re

import pytest

from ctxmt_fairseq.base.tables import STYLE, aligned_table
from ctxmt_fairseq.cli import main

ROWS = [["system", "BLEU", "p"], ["a_b & c%", "12.30 ± 0.20", "-"], ["b|x\\{}", "-1.20**", "0.01"]]


@pytest.fixture
def styled():
    def made(style):
        token = STYLE.set(style)
        try:
            return aligned_table(ROWS)
        finally:
            STYLE.reset(token)

    return made


def test_csv_is_read_back(styled):
    assert list(csv.reader(io.StringIO(styled("csv")))) == ROWS


def test_markdown_has_a_column_for_each_and_nothing_bold(styled):
    lines = styled("markdown").splitlines()
    assert lines[1] == "|---|---:|---:|" and len(lines) == 4
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)
    assert r"-1.20\*\*" in lines[3] and r"b\|x" in lines[3]


def test_latex_escapes_what_it_would_read(styled):
    lines = styled("latex").splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}" and lines[-1] == r"\end{tabular}"
    assert lines[4] == r"a\_b \& c\% & 12.30 $\pm$ 0.20 & - \\"
    assert lines[5] == r"b\textbar{}x\textbackslash{}\{\} & $-$1.20$^{**}$ & 0.01 \\"


def test_a_command_prints_it_and_the_next_one_text(tmp_path, capsys):
    path = tmp_path / "text"
    path.write_text("a b c\n")
    for style, rule in ((["--table", "latex"], r"\toprule"), ([], "-----")):
        assert main.main(["score", str(path), str(path), *style]) == 0
        assert rule in capsys.readouterr().out


@pytest.mark.parametrize("style, mark", [("latex", "% "), ("csv", "# "), ("markdown", ""), ("text", "")])
def test_what_stands_below_a_table_is_a_comment_in_latex_and_csv(tmp_path, capsys, style, mark):
    for name in ("ref", "a", "b"):
        (tmp_path / name).write_text(f"the cat sat on the mat\n{name}\n")
    ref, a, b = (str(tmp_path / name) for name in ("ref", "a", "b"))
    table = ["--table", style]
    assert main.main(["score", a, ref, *table]) == 0
    assert main.main(["compare", "translations", ref, a, b, "--samples", "100", *table]) == 0
    lines = capsys.readouterr().out.splitlines()
    for said in ("2 sentences, 0 of them", "BLEU (sentence): ", "length ratio: ", "chrf2: "):
        assert sum(line.startswith(mark + said) for line in lines) == 1, said
    if style == "latex":
        outside = re.sub(r"(?s)\\begin.*?\\end\{tabular\}", "", "\n".join(lines)).splitlines()
        assert all(not line or line.startswith("% ") for line in outside)
