"""Memory against context: which sentences are measured with which context, and that it grows with it."""

import json

import numpy as np
import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments
from scripts.benchmark import document_memory as memory
from tests.helpers.probed_models import checkpoint, randomised, write_text

LENGTHS = (4, 1, 6)
SEARCH = SearchSettings(beam=1, max_len_b=3, min_len=3)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {
        "caching": checkpoint(root / "caching", "multi_source", arch="caching_transformer"),
        "windows": checkpoint(root / "windows", "document_window"),
        "sentence": randomised(root / "sentence", "transformer"),
    }


@pytest.fixture
def prefix(tmp_path):
    return str(write_text(tmp_path, LENGTHS))


def read(prefix, path):
    loaded = load_models(str(path), device="cpu")
    return loaded, read_probed_text(prefix, loaded)


def test_lines_have_as_much_context(models, prefix):
    _, text = read(prefix, models["caching"])
    assert memory.lines_with_context(text, 3, 9) == [3, 8, 9, 10]
    assert memory.lines_with_context(text, 3, 2) == [3, 10]
    with pytest.raises(BadInput, match="documents of more than 6 sentences"):
        memory.lines_with_context(text, 6, 1)


@pytest.mark.parametrize("name", ["caching", "windows"])
def test_each_line_is_read_with_its_own_context(models, prefix, monkeypatch, name):
    loaded, text = read(prefix, models[name])
    counted = []
    batch = RunningDocuments.batch

    def spied(self, lines, forced):
        made = batch(self, lines, forced)
        inputs, pad = made[0]["net_input"], loaded.task.source_dictionary.pad()
        counted.append(
            sum(
                int(tokens.ne(pad).sum())
                for tokens in (inputs["src_tokens"], inputs.get("context", {}).get("tokens"))
                if tokens is not None
            )
        )
        return made

    monkeypatch.setattr(RunningDocuments, "batch", spied)
    monkeypatch.setattr(memory, "peak_allocated", lambda work, device: (work(), float(counted.pop()))[1])
    lines = [3, 9]
    found = memory.document_memory(loaded, text, [1, 3], lines, SEARCH)
    for size, tokens in found.peaks.items():
        # A window has separators where the sentences have </s>; a caching model's batch every sentence once.
        assert tokens == [sum(map(len, text.sources[line - size : line + 1])) for line in lines]


def test_memory_grows_with_the_context_of_models_that_read_it(models, prefix, tmp_path, capsys):
    named = [f"{name}={path}" for name, path in models.items()]
    options = ["--sizes", "1", "5", "--sentences", "2", "--beam", "1", "--max-len-b", "3", "--cpu"]
    files = ["--json", str(tmp_path / "j"), "--output", str(tmp_path / "memory.png")]
    assert not memory.main([prefix, *named, *options, *files])
    record = json.loads((tmp_path / "j").read_text())
    peaks = {one["name"]: one["peaks"] for one in record["models"]}
    for name in ("caching", "windows"):
        assert np.mean(peaks[name]["5"]) > 1.2 * np.mean(peaks[name]["1"]) > 0
    assert peaks["sentence"]["1"] == peaks["sentence"]["5"]
    shown = {(point["system"], point["context sentences"]): point["value"] for point in record["points"]}
    assert shown["caching", 5] == pytest.approx(np.mean(peaks["caching"]["5"]))
    assert "the model itself" in capsys.readouterr().out and (tmp_path / "memory.csv").exists()


@pytest.mark.parametrize(
    "wrong, expected",
    [
        (["--json", "missing/out"], "missing/out: cannot be written: no such folder"),
        (["--output", "a.png", "--json", "a.csv"], "a.csv: cannot be written: two outputs"),
        (["same=model.pt", "same=other.pt"], "expected models of different names"),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_loaded(tmp_path, monkeypatch, capsys, wrong, expected):
    monkeypatch.chdir(tmp_path)
    assert memory.main(["text", "model.pt", *wrong]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line and not list(tmp_path.iterdir())
