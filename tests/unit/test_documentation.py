"""README and docs/: links lead somewhere, all commands exist, and the first page stays short."""

import ast
import contextlib
import io
import re

import pytest
from fairseq import options

from ctxmt_fairseq.cli import main, train
from tests.helpers.documented import PAGES, ROOT, commands
from tests.integration.commands import USER_DIR

LINKED = (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "examples").rglob("*.md")))


def by_name(pages):
    return pytest.mark.parametrize("page", pages, ids=[str(page.relative_to(ROOT)) for page in pages])


def prose(page):
    """The page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page):
    """As GitHub makes them of headings: lower case, no punctuation, hyphens for blanks."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # of a link, its text
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        yield f"{name}-{found[name]}" if found[name] else name


@by_name(LINKED)
def test_links_and_anchors_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@by_name(PAGES)
def test_commands_in_blocks_are_understood(page, tmp_path, monkeypatch):
    """Every option that they show is one of the command, the task, the architecture or the criterion."""
    found, complaints = commands(page, tmp_path, USER_DIR)
    assert complaints == ""
    monkeypatch.setattr(train, "_tied", lambda data: "")  # of data folders that are not there
    for program, *words in found:
        if program == "ctxmt":
            command = main.parser().command(words)
            if not (isinstance(command, train.Train) and command.system):
                continue
            program, *words = command.words()
        if "--help" not in words and program != "fairseq-validate":
            parser = getattr(options, f"get_{PARSERS[program]}_parser")()
            options.parse_args_and_arch(parser, input_args=words)


PARSERS = {
    "fairseq-train": "training",
    "fairseq-generate": "generation",
    "fairseq-interactive": "interactive_generation",
}


@by_name(PAGES)
def test_commands_in_sentences_are_those_that_there_are(page):
    """Of `ctxmt compare lines SRC --top 3` the subcommands and the options."""
    for code in dict.fromkeys(re.findall(r"`ctxmt ([a-z][^`]*)`", prose(page))):
        code = " ".join(code.split())
        names = re.match(r"[a-z][a-z-]*( [a-z][a-z-]*)*(?![^ ])", code).group().split()
        group = names[0] in ("analyse", "compare", "control", "corpus")
        depth = len(names) if group else 1
        with contextlib.redirect_stdout(io.StringIO()) as help, pytest.raises(SystemExit) as ended:
            main.main([*names[:depth], "--help"])
        assert ended.value.code == 0, code
        shown = set(re.findall(r"--[a-z][\w-]*", help.getvalue()))
        assert set(re.findall(r"(?<= )--[a-z][\w-]*", code)) <= shown, code


def test_errors_that_are_explained_are_those_that_there_are():
    """`...` stands for what an error fills in; fairseq and torch have their own."""
    others = {"Weights only load failed", "invalid choice", " is not globally unique", "FileNotFoundError"}
    texts = {
        node.value
        for path in USER_DIR.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for heading in re.findall(r"^\*\*(.*?)\*\*", prose(ROOT / "docs/troubleshooting.md"), re.M | re.S):
        errors = [code for code in re.findall(r"`([^`]+)`", heading) if not code.startswith("--")]
        for piece in {piece for code in errors for piece in code.split("...") if piece} - others:
            assert any(piece in text for text in texts), piece


def test_the_first_page_is_short_and_installs_the_versions_that_fit():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150 and len(text.split()) <= 1400
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    assert set(re.findall(r"[\w-]+==[\w.]+", text)) <= set(pinned)
