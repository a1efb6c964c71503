"""Fields of new text that the training's store lacks: models read their texts, too."""

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.metadata_text import is_prompt
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import checkpoint

NEW = "trained without the metadata fields plot, and reads them all the same; --metadata-fields {} leaves"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Translator.load(checkpoint(tmp_path_factory.mktemp("model"), "metadata_context"), device="cpu")


def test_new_fields_are_named_unless_some_are_chosen(model, caplog):
    fields = model.loaded.task.known["fields"]
    known = {field: "Drama" for field in fields}
    model.loaded.contexts_of(["a", "b"], [known, {"prompt 1": "Formal conversation"}])
    assert fields and not caplog.records
    found = model.loaded.contexts_of(["a", "b"], [known, {"plot": "A storm."}])
    assert "plot" in found.fields and NEW.format(",".join(fields)) in caplog.text
    caplog.clear()
    chosen = model.loaded.with_options(metadata_fields=",".join(fields))
    found = chosen.contexts_of(["a", "b"], [known, {"plot": "A storm."}])
    assert list(found.fields) == fields and not caplog.records


def test_what_says_something_to_the_model_is_no_field_of_the_text():
    names = ["", "prompt", "prompt 2", "prompt 12", "prompter", "prompt_level", "prompt x", "plot"]
    assert [name for name in names if is_prompt(name)] == names[:4]


def test_a_chosen_field_is_one_of_the_training_or_of_the_text(model):
    fields = ", ".join((*model.loaded.task.known["fields"], "plot"))
    wrong = model.loaded.with_options(metadata_fields="Plot")
    with pytest.raises(BadInput, match=f"^--metadata-fields Plot: .* which has {fields}$"):
        wrong.contexts_of(["a"], [{"plot": "A storm."}])
    model.loaded.with_options(metadata_fields="plot").contexts_of(["a"], [{"plot": "A storm."}])


def test_what_is_left_out_is_not_embedded(model):
    chosen = model.loaded.with_options(metadata_fields="plot")
    metadata = [{"plot": "A storm.", "genre": "Drama", "prompt": "Formal"}]
    found, plain = (
        chosen.contexts_of(["a"], each) for each in (metadata, [{"plot": "A storm.", "prompt": "Formal"}])
    )
    assert found.fields == plain.fields == ("plot", "prompt")
    assert found.vectors.shape == plain.vectors.shape and (found.vectors == plain.vectors).all()


def test_a_checkpoint_that_does_not_say_its_fields_is_read(model, caplog, monkeypatch):
    monkeypatch.delitem(model.loaded.task.known, "fields")
    assert "plot" in model.loaded.contexts_of(["a"], [{"plot": "A storm."}]).fields and not caplog.records


def test_a_training_goes_on_with_its_fields_alone(model):
    task = model.loaded.task
    fields = task.known["fields"]
    task.check_resumed({"store": {"fields": fields[::-1]}})
    task.check_resumed({"store": {}})  # an older checkpoint
    with pytest.raises(BadInput, match="had the metadata fields plot so far, and the store has .* now"):
        task.check_resumed({"store": {"fields": ["plot"]}})


def test_a_training_that_goes_on_with_another_text_says_so(model, caplog):
    task = model.loaded.task
    known = task.state_dict()["texts"]
    assert list(known) == ["train"]  # this folder has no other split
    for before in (known, {}, {"valid": "another"}, None, ["train"]):
        task.check_resumed({"texts": before})
    assert not caplog.records
    task.check_resumed({"texts": {"train": "another"}})
    assert "goes on with another text than before, of train; --reset-meters" in caplog.text


def test_no_training_starts_from_a_model_of_other_tags(tmp_path):
    def start(fields, *options):
        tags = ("--current-vector", "no", "--source-context", "0", "--metadata-fields", fields)
        return checkpoint(tmp_path, "metadata_context", *tags, *options, arch="tagging_transformer")

    model = ("--sentence-checkpoint", str(start("rating")))
    start("rating", *model)
    with pytest.raises(BadInput, match=r"model\.pt: --context-store: other tags than in the training"):
        start("formality", *model)  # as many


def test_values_that_a_model_has_no_tag_for_are_named(tmp_path, caplog):
    tags = ("--current-vector", "no", "--source-context", "0")
    path = checkpoint(tmp_path, "metadata_context", *tags, arch="tagging_transformer")
    (tmp_path / "store").rename(tmp_path / "data" / "contexts")
    model = Translator.load(path, device="cpu")
    known = model.loaded.task.known["tags"][0]
    model.translate([["a b"]], contexts=[[{"genre": known}]])
    assert "without a tag" not in caplog.text
    model.translate([["a b"]], contexts=[[{"genre": known.swapcase()}]])
    assert f"without a tag of the model, which reads nothing there: {known.swapcase()!r}" in caplog.text
