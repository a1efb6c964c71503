"""What waits for a library: called once, whoever imports it in whatever order, never on half a module."""

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import SourceFileLoader

import pytest

from ctxmt_fairseq.after_import import AfterImport

FILES = {
    "library/__init__.py": """
import os
import library.part
REGISTRY = []
if "FAILING" in os.environ:
    raise ImportError("half-way")
""",
    "library/part.py": "",
    "plugin/__init__.py": "",
    "plugin/light.py": "x = 1\n",
    "plugin/base.py": "import library\n\nclass Base:\n    pass\n",
    "plugin/models.py": "from plugin.base import Base\nimport library\nlibrary.REGISTRY.append(Base)\n",
}


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """Waits for ``library``; then imports ``plugin.models``, which registers a class there."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def function():
        calls.append(1)
        importlib.import_module("plugin.models")

    calls = []
    waiting = AfterImport("library", "plugin", function)
    waiting.calls = calls
    yield waiting
    if waiting in sys.meta_path:
        sys.meta_path.remove(waiting)
    for name in set(sys.modules) - before:
        if name.split(".")[0] in ("library", "plugin"):
            del sys.modules[name]


def assert_registered(waiting):
    """Once, in the module that everybody sees, and nothing waits any more."""
    assert [cls.__name__ for cls in sys.modules["library"].REGISTRY] == ["Base"]
    assert sys.modules["library"].REGISTRY == [sys.modules["plugin.base"].Base]
    assert waiting not in sys.meta_path


def test_the_library_first(waiting):
    importlib.import_module("library")
    waiting.install()
    assert_registered(waiting)


def test_the_plugin_first(waiting):
    waiting.install()
    waiting.install()
    assert sys.meta_path.count(waiting) == 1
    importlib.import_module("plugin.light")
    assert "library" not in sys.modules and not waiting.calls
    library = importlib.import_module("library")
    assert_registered(waiting)
    assert waiting.calls == [1]
    for module in (library, sys.modules["plugin.light"]):  # whole, as if nobody had watched
        assert type(module.__loader__) is type(module.__spec__.loader) is SourceFileLoader
    importlib.import_module("library.part")
    assert waiting.calls == [1]


@pytest.mark.parametrize("first", ["plugin.base", "plugin.models"])
def test_a_module_that_the_function_needs_imports_the_library(waiting, first):
    waiting.install()
    importlib.import_module(first)
    assert_registered(waiting)
    assert waiting.calls == [1]


def test_a_library_that_fails_half_way(waiting, monkeypatch):
    waiting.install()
    monkeypatch.setenv("FAILING", "1")
    for name in ("library", "plugin.base"):
        with pytest.raises(ImportError, match="half-way"):
            importlib.import_module(name)
    assert not waiting.calls and waiting in sys.meta_path
    monkeypatch.delenv("FAILING")
    importlib.import_module("plugin.base")
    assert_registered(waiting)


def test_what_the_function_raises_the_import_raises(waiting):
    waiting.install()
    whole, waiting.function = waiting.function, lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        importlib.import_module("library")
    assert "library" not in sys.modules
    waiting.function = whole
    importlib.import_module("library")
    assert_registered(waiting)


def test_reloading(waiting):
    waiting.install()
    light = importlib.reload(importlib.import_module("plugin.light"))
    assert light.x == 1 and not waiting.calls
    importlib.import_module("library")
    importlib.reload(sys.modules["plugin.light"])
    assert waiting.calls == [1]
    assert_registered(waiting)


def test_threads(waiting, tmp_path):
    (tmp_path / "library/part.py").write_text("import time\ntime.sleep(0.2)\n")
    waiting.install()
    with ThreadPoolExecutor(3) as pool:
        started = [
            pool.submit(importlib.import_module, name) for name in ("library", "plugin.light", "library")
        ]
        for future in started:
            future.result(10)
    assert_registered(waiting)


def test_other_modules_are_left_alone(waiting, tmp_path):
    (tmp_path / "library_of_mine.py").write_text("")
    (tmp_path / "space").mkdir()
    waiting.install()
    assert waiting.find_spec("library_of_mine") is None and waiting.find_spec("plugins") is None
    with pytest.raises(ModuleNotFoundError, match="plugin.none"):
        importlib.import_module("plugin.none")
    assert importlib.util.find_spec("library") is not None  # looking is not importing
    assert "library" not in sys.modules and not waiting.calls
