"""Imports run down the floors of docs/architecture.md, and never in a circle."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def modules(package):
    """The file of every module of a package, by its dotted name."""
    files = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports(files):
    """The modules of the package that each module imports, wherever in its text."""
    return {name: set(imported(name, path, files)) for name, path in files.items()}


def imported(name, path, files):
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                source = ".".join([*above, *filter(None, [node.module])])
            if source in files:
                for alias in node.names:
                    whole = f"{source}.{alias.name}"
                    yield whole if whole in files else source


def floors(text):
    """The floor, counted from the highest, of every place that the table names, such as ``cli/``."""
    table = re.search(r"^\| floor.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [row.split("|")[1] for row in table[1].splitlines()]
    places = [(place, floor) for floor, row in enumerate(rows) for place in re.findall(r"`([^`]+)`", row)]
    assert len(dict(places)) == len(places), "a place stands on two floors"
    return dict(places)


def place(path, package):
    """Where a module stands: its file beside ``__init__.py``, or the folder there that holds it."""
    inside = path.relative_to(package).parts
    return inside[0] if len(inside) == 1 else f"{inside[0]}/"


def against_the_floors(package, order):
    """Every import that runs upwards, as "a -> b"."""
    files = modules(package)
    floor = {name: order[place(path, package)] for name, path in files.items()}
    edges = imports(files).items()
    return sorted(f"{a} -> {b}" for a, targets in edges for b in targets if floor[a] > floor[b])


def circle(package):
    """Modules that import each other in a circle; [] if none do."""
    try:
        graphlib.TopologicalSorter(imports(modules(package))).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_every_module_stands_on_one_floor():
    order = floors((ROOT / "docs/architecture.md").read_text())
    package = ROOT / "ctxmt_fairseq"
    assert {place(path, package) for path in modules(package).values()} == set(order)


def test_imports_run_down():
    order = floors((ROOT / "docs/architecture.md").read_text())
    assert against_the_floors(ROOT / "ctxmt_fairseq", order) == []


def test_no_circle():
    assert circle(ROOT / "ctxmt_fairseq") == []


TABLE = """
| floor, the highest first | what it holds |
|---|---|
| `__init__.py` | |
| `high/`, `middle.py` | both on one floor |
| `low.py` | |
"""


@pytest.fixture
def package(tmp_path):
    """A package on the floors of ``TABLE`` whose imports run down."""
    folder = tmp_path / "house"
    (folder / "high").mkdir(parents=True)
    for name, text in {
        "__init__.py": "import house.high\n",
        "high/__init__.py": "from house.high import room\n",
        "high/room.py": "from house import middle\nfrom house.low import x\n",
        "middle.py": "import house.low\n",
        "low.py": "import json\nx = 1\n",
    }.items():
        (folder / name).write_text(text)
    assert against_the_floors(folder, floors(TABLE)) == [] and circle(folder) == []
    return folder


@pytest.mark.parametrize(
    "text, found",
    [
        ("import house.high.room", "house.high.room"),
        ("def f():\n    from house.high.room import y", "house.high.room"),
        ("if TYPE_CHECKING:\n    from house import middle", "house.middle"),
        ("from . import middle", "house.middle"),
        ("from .high.room import y", "house.high.room"),
        ("from house import y", "house"),
    ],
)
def test_an_import_that_runs_up_is_found(package, text, found):
    (package / "low.py").write_text(text + "\n")
    assert against_the_floors(package, floors(TABLE)) == [f"house.low -> {found}"]
    assert "house.low" in circle(package)


def test_a_circle_within_a_floor_is_found(package):
    (package / "middle.py").write_text("def f():\n    import house.high.room\n")
    assert against_the_floors(package, floors(TABLE)) == []
    assert set(circle(package)) == {"house.middle", "house.high.room"}
