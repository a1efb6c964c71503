"""``--user-dir``: code of users' own, imported because the caller names it and for no other reason."""

import os
import sys

import pytest

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.user_code import import_user_dir
from ctxmt_fairseq.translator import Translator
from tests.helpers.evaluations import evaluate
from tests.helpers.probed_models import checkpoint, write_text
from tests.helpers.saved_models import named, save, section, trained

CODE = """
from pathlib import Path

from fairseq.models import register_model, register_model_architecture

from ctxmt_fairseq.models.concat_transformer import ConcatTransformer

Path(__file__).with_name("imported").touch()


@register_model("{name}")
class Own(ConcatTransformer):
    pass


@register_model_architecture("{name}", "{name}")
def own(args):
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """``folder(name, code)``: a folder of code, forgotten after the test (what it registers stays)."""
    modules = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(name, code, parent=tmp_path):
        path = parent / name
        path.mkdir(parents=True)
        (path / "__init__.py").write_text(code)
        return path

    yield write
    for name in set(sys.modules) - modules:
        if name.startswith("outside"):
            del sys.modules[name]


def test_no_checkpoint_says_what_is_imported(folder, tmp_path):
    code = folder("outside_one", CODE.format(name="outside_one"))
    state, _ = trained(tmp_path, "--source-context", "1")
    named(state, "model", "outside_one")
    section(state, "common")["user_dir"] = section(state, "model")["user_dir"] = str(code)
    path = save(tmp_path / "own.pt", state)
    with pytest.raises(
        BadInput,
        match="--arch 'outside_one': expected a registered model; if it is yours, give its --user-dir",
    ):
        Translator.load(path, device="cpu")
    assert not (code / "imported").exists()

    model = Translator.load(path, user_dir=code, device="cpu")
    assert (code / "imported").exists() and type(model.loaded.models[0]).__name__ == "Own"
    assert [len(document) for document in model.translate([["a b", "c"]])] == [2]


def test_other_code_and_another_data_folder_make_results_anew(folder, tmp_path, monkeypatch, capsys, refusal):
    """What the former ones have translated is neither gone on with nor kept."""
    code = folder("outside_again", "A = 1\n")
    model = checkpoint(tmp_path / "model", "document_window")
    text, output, out = write_text(tmp_path), tmp_path / "output", tmp_path / "out"
    given = ("--user-dir", str(code))
    command = ["translate", str(model), f"{text}.en", "--output", str(output), "--cpu", *given]
    translate = DocumentTranslator.translate

    def stopped(self, running, wanted):
        yield next(iter(translate(self, running, wanted)))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DocumentTranslator, "translate", stopped)
        assert main(command) == 130
    for file, one, other in (
        ("model/data/dict.fr.txt", b"a 1", b"a 2"),
        ("outside_again/__init__.py", b"1", b"2"),
    ):
        evaluate(model, text, out, *given)
        file = tmp_path / file
        before, times = file.read_bytes(), file.stat()
        file.write_bytes(before.replace(one, other))
        assert f"{output}.partial: is of another run" in refusal(main, command)
        evaluate(model, text, out, *given)
        assert "is there already" not in capsys.readouterr().err
        file.write_bytes(before)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert main(command) == 0 and output.exists()


def test_every_command_that_loads_a_model_takes_it(folder, tmp_path, capsys, refusal):
    code = folder("outside_two", CODE.format(name="outside_two"))
    state, _ = trained(tmp_path)
    (tmp_path / "checkpoint_best.pt").parent.mkdir(exist_ok=True)
    path = str(save(tmp_path / "checkpoint_best.pt", named(state, "model", "outside_two")))
    (tmp_path / "text").write_text("a b\nc\n")
    given = ("--user-dir", str(code))
    assert "outside_two" in refusal(main, ["average", str(tmp_path), "--count", "1"])
    main(["average", str(tmp_path), "--count", "1", *given])
    assert "averaged.pt" in capsys.readouterr().out
    main(["translate", path, str(tmp_path / "text"), "--cpu", *given])
    assert len(capsys.readouterr().out.splitlines()) == 2
    for command in (
        ["contrast", path, "set"],
        ["probe", path, "text"],
        ["control", "formality", path, "--source", "s", "--formal", "f", "--informal", "i"],
        ["control", "attributes", path, "set"],
        ["analyse", "attention", path, "--sentence", "a"],
        ["analyse", "groups", path, "--sentence", "a"],
        ["analyse", "contexts", path, "--split", "test"],
    ):  # parsed before the other files are found missing
        assert "user-dir" not in refusal(main, [*command, "--cpu", *given])


FORMAT = """
from ctxmt_fairseq.text.json_files import Place
from ctxmt_fairseq.evaluation.contrastive_sets import (
    FORMATS, Candidate, ContrastiveFormat, ContrastiveSet, Convention,
)
from ctxmt_fairseq.evaluation.contrastive_sets.examples import make_example


@FORMATS.register("outside-pairs")
class Pairs(ContrastiveFormat):
    @classmethod
    def recognises(cls, path, content):
        return path.suffix == ".outside"

    @classmethod
    def read(cls, path, documents=None):
        example = make_example(
            Place(path), id="1", source_before=[], source="a", correct=0, phenomenon="own", distance=0,
            candidates=[Candidate((), "b"), Candidate((), "c")],
        )
        return ContrastiveSet(path.stem, "outside-pairs", (example,), Convention("sum", "current"))
"""


def test_a_format_of_contrastive_sets_is_known_before_they_are_read(folder, tmp_path, capsys, refusal):
    code = folder("outside_format", FORMAT)
    state, _ = trained(tmp_path)
    path = save(tmp_path / "checkpoint_best.pt", state)
    (tmp_path / "set.outside").touch()
    command = ["contrast", str(path), str(tmp_path / "set.outside"), "--cpu"]
    assert "expected JSON" in refusal(main, command)
    assert main([*command, "--user-dir", str(code), "--format", "outside-pairs"]) == 0
    assert main([*command, "--user-dir", str(code)]) == 0
    assert "own" in capsys.readouterr().out


def test_imported_once(folder):
    code = folder("outside_once", CODE.format(name="outside_once"))
    import_user_dir(code)
    (code / "imported").unlink()
    import_user_dir(str(code))
    assert not (code / "imported").exists()
    import_user_dir(ctxmt_fairseq.__path__[0])  # the plugin itself, as for fairseq's commands


def test_mistakes_in_the_code_are_shown_and_can_be_mended(folder):
    code = folder("outside_broken", "import outside_no_such_module")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="outside_no_such_module"):
            import_user_dir(code)
    (code / "__init__.py").write_text(CODE.format(name="outside_broken"))
    import_user_dir(code)
    assert (code / "imported").exists()


def test_refusals(folder, tmp_path):
    first = folder("outside_same", CODE.format(name="outside_same"), tmp_path / "a")
    import_user_dir(first)
    second = folder("outside_same", CODE.format(name="outside_other"), tmp_path / "b")
    registered = folder("outside_again", CODE.format(name="outside_same"))
    torch_named = folder("torch", "")
    for path, line in (
        (tmp_path / "nowhere", "no such folder; --user-dir names one with Python code"),
        (first / "__init__.py", "no such folder"),
        (second, f"rename the folder: another module outside_same of {first} is imported"),
        (torch_named, "rename the folder: another module torch of "),
        (registered, "Cannot register duplicate model"),
    ):
        with pytest.raises(BadInput) as refusal:
            import_user_dir(path)
        assert str(refusal.value).startswith(f"{path}: {line}")
