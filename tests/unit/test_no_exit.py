"""Functions of the package raise, only where a command ends does the program; and what notebooks need."""

import ast
from pathlib import Path

import ctxmt_fairseq

PACKAGE = Path(ctxmt_fairseq.__file__).parent
ENDS = {"exit", "quit", "_exit", "abort"}
PARSES = {"parse_args", "parse_known_args", "parse_args_and_arch", "parse_intermixed_args"}
# Where commands end (the hook; SIGTERM to one that has processes), and where fairseq's parser is wrapped (its
# --help ends the program, as argparse's does) and its command line completed.
EDGES = {
    "base/exit_codes.py": ["SystemExit"],
    "base/ranks.py": ["exit"],
    "checkpoints/fairseq_fixes.py": ["parse_known_args", "exit"],
}


def endings(source):
    """What in a module ends a program: exceptions that are raised, functions that are called."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if ast.unparse(error) in ("SystemExit", "builtins.SystemExit"):
                found.append("SystemExit")
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ENDS | PARSES:
                found.append(name)
    return found


def test_the_search_finds_endings():
    source = "import sys\nsys.exit(2)\nraise SystemExit\nraise SystemExit(2)\nos._exit(1)\nexit()"
    assert sorted(endings(source)) == ["SystemExit", "SystemExit", "_exit", "exit", "exit"]
    assert endings("options.parse_args_and_arch(p)\np.parse_args([])") == [
        "parse_args_and_arch",
        "parse_args",
    ]
    assert endings("try:\n    f()\nexcept SystemExit:\n    raise ValueError") == []


def test_only_commands_end_the_program():
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = str(path.relative_to(PACKAGE))
        if not name.startswith(("cli/", "__main__")):
            found[name] = endings(path.read_text(encoding="utf-8"))
    assert len(found) > 100
    assert {name: what for name, what in found.items() if what} == EDGES


def test_progress_bars_are_the_notebook_s_where_there_is_one():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name for name in names if name.split(".")[0] == "tqdm"} - {"tqdm.auto"}, path
