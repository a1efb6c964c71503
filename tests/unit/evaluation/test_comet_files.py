"""COMET's files are not trusted: what they may not name, hold or lack."""

import numpy as np
import pytest
import torch
import yaml

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.comet.comet_models import load_comet
from ctxmt_fairseq.evaluation.comet.comet_scoring import comet_score
from ctxmt_fairseq.evaluation.comet.inputs import CometText
from ctxmt_fairseq.text.documents import Documents

pytest.importorskip("comet", reason="the extra comet is not installed")
from tests.helpers.comet_models import write_comet, write_files  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model's."""
    return write_comet(tmp_path_factory.mktemp("comet") / "reference", "regression_metric")


def damaged(folder, tmp_path, **changes):
    """The model's folder with other options, parameters or further content."""
    options = yaml.safe_load((folder / "hparams.yaml").read_text())
    parameters = torch.load(folder / "checkpoints/model.ckpt")["state_dict"]
    more = changes.pop("more", {})
    parameters = changes.pop("parameters", lambda it: it)(parameters)
    (tmp_path / "encoder").symlink_to(folder / "encoder")
    write_files(tmp_path, {**options, **changes}, parameters, **more)
    return str(tmp_path)


class Payload:
    def __reduce__(self):
        import os

        return os.system, ("touch owned",)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"more": {"callbacks": Payload()}}, "is no checkpoint, or a damaged one: "),
        ({"class_identifier": ["regression_metric"]}, "class_identifier: expected one of "),
        ({"class_identifier": "os.system"}, "class_identifier: expected one of "),
        ({"pretrained_model": "/etc"}, "expected a name on the hub or of a folder beside it"),
        ({"pretrained_model": "../encoder"}, "pretrained_model: expected a name on the hub"),
        ({"encoder_model": "Nothing"}, "cannot be built as regression_metric: "),
        ({"hidden_sizes": "many"}, "cannot be built as regression_metric: "),
        ({"parameters": lambda it: dict(list(it.items())[:-1])}, "the parameter estimator."),
        ({"parameters": lambda it: {key: value[:1] for key, value in it.items()}}, "cannot be built as"),
        ({"parameters": lambda it: [1]}, "expected parameters at the key state_dict"),
    ],
)  # fmt: skip
def test_files_that_are_refused(folder, tmp_path, monkeypatch, changes, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=f"(?s).*{words}"):
        load_comet(damaged(folder, tmp_path, **changes))
    assert not (tmp_path / "owned").exists()


def test_options_of_a_file_that_would_run_something_are_ignored(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"_instantiator": "os.system", "load_pretrained_weights": True, "train_data": ["/etc/passwd"]}
    model = load_comet(damaged(folder, tmp_path, **options))
    lines = ["a b.", "c d e."]
    text = CometText(lines, lines[::-1], lines, Documents.from_lengths([2]), np.arange(2))
    scores = [comet_score(text, each, cpu=True).segments for each in (model, load_comet(str(folder)))]
    assert scores[0] == scores[1]


def test_a_name_on_the_hub_is_downloaded_only_if_it_is_not_here(folder, monkeypatch):
    asked = []

    def download(repository, allow_patterns, local_files_only):
        asked.append((repository, local_files_only))
        if local_files_only or repository.endswith("/none"):
            raise OSError("no network\nmore")
        return folder

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert load_comet("wmt22-comet-da").name == "wmt22-comet-da"
    assert asked == [("Unbabel/wmt22-comet-da", True), ("Unbabel/wmt22-comet-da", False)]
    with pytest.raises(BadInput, match="and x/none cannot be downloaded: no network$"):
        load_comet("x/none")
