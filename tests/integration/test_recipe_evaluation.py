"""What the papers' ``evaluate.sh`` ask ``ctxmt evaluate`` for."""

import pytest

from tests.integration.recipes import FOCUSED, GATED, MTCUE, SHORTENING, THESIS, bash, options_of


@pytest.mark.parametrize(
    "paper, expected",
    [
        (  # appendix A; fairseq-generate --score-reference
            FOCUSED,
            {
                "average": "5",
                "beam": "4",
                "lenpen": "0.6",
                "decoding": "window prefix",
                "convention": "mean-window",
            },
        ),
        (GATED, {"beam": "4", "lenpen": "0.6", "random-context": "shuffled", "convention": None}),
        (MTCUE, {"beam": "5", "lenpen": "1", "average": None}),
        (SHORTENING, {"beam": "5", "convention": "mean-window"}),  # table 4
        (THESIS, {"beam": "6", "lenpen": "0.6", "decoding": "window", "convention": "mean-current"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_search_and_conventions_of_the_papers(dry_run, paper, expected):
    (words,) = dry_run(paper / "evaluate.sh", "a folder", "run", "text", "suite 1", "suite2", "--window", 3)
    assert words[:8] == ["ctxmt", "evaluate", "run", "text", "suite 1", "suite2", "--data", "a folder"]
    options = options_of(words)
    assert {name: options.get(f"--{name}") for name in expected} == expected and options["--window"] == "3"


def test_what_is_given_comes_before_the_paper(dry_run):
    evaluate = (FOCUSED / "evaluate.sh", "data", "run", "text")
    given = {"CONTEXTS": "trained absent", "AVERAGE": "2", "WINDOW": "1"}  # the last by GNU screen
    (words,) = dry_run(*evaluate, "--beam=7", "--", "--min-len", 2, **given)
    options = options_of(words)
    assert "--window" not in options
    assert "--beam" not in options and "--beam=7" in words and words[-2:] == ["--min-len", "2"]
    assert (options["--contexts"], options["--average"]) == ("trained absent", "2")


def test_refusals(refused, tmp_path):
    assert "expected DATA RUN TEXT" in refused(FOCUSED / "evaluate.sh", "data", "--beam", 3)
    done = bash(GATED / "evaluate.sh", "data", "run", path=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error: expected DATA RUN TEXT")
