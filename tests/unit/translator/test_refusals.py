"""What ``Translator`` refuses."""

import math

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.given_documents import GivenDocuments
from ctxmt_fairseq.generation.input_documents import separators_in_text
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import TASKS

SEARCH = {"beam": 3, "max_len_b": 8, "device": "cpu"}
DOCUMENTS = [["a b c", "d"], ["e f"]]


def refused(call, *arguments, **options):
    """The line with which a call refuses its arguments."""
    with pytest.raises(BadInput) as refusal:
        call(*arguments, **options)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"source_kontext": 1}, "--source-kontext: the models' task has no such option; it has"),
        ({"metadata_fields": "all"}, "--metadata-fields: the models' task has no such option"),
        ({"encoder_layers": 1}, "--encoder-layers: the models' task has no such option"),
        ({"data": "nowhere"}, "nowhere: no such data folder"),
        ({"source_context": "2"}, "--source-context: expected int, found '2'"),
        ({"source_context": True}, "--source-context: expected int, found True"),
        ({"source_context": -1}, "--source-context"),
        ({"context_selection": "nearest"}, "--context-selection nearest"),
        ({"beam": 0}, "--beam: expected a whole number from 1 to 1000, found 0"),
        ({"beam": 2.5}, "--beam: expected a whole number"),
        ({"lenpen": math.nan}, "--lenpen: expected a number from -100 to 100, found nan"),
        ({"lenpen": "1"}, "--lenpen: expected a number"),
        ({"decoding": "both"}, "--decoding: expected prefix or window, found 'both'"),
        ({"keep_sentence": "first"}, "--keep-sentence first needs --decoding window"),
        ({"documents_at_once": 0}, "documents_at_once: expected a whole number of at least 1, found 0"),
        ({"device": "gpu"}, "device: expected cpu, cuda"),
        ({"device": "cuda:99"}, "device: there is no 'cuda:99'"),
        ({"device": "mps"}, "device: there is no 'mps'"),
        ({"user_dir": "nowhere"}, "nowhere: no such folder"),
    ],
)
def test_loading_refuses(models, options, line):
    options = {"device": "cpu", **options}
    assert refused(Translator.load, models["document_window"], **options).startswith(line)


@pytest.mark.parametrize("paths", [[], "", None, 7, [None], ["a.pt", ""], b"a.pt"])
def test_loading_refuses_what_are_no_paths(paths):
    assert "expected the path of a checkpoint" in refused(Translator.load, paths)


def test_loading_refuses_other_files(tmp_path):
    assert refused(Translator.load, tmp_path / "none.pt") == f"{tmp_path}/none.pt: no such checkpoint"
    (tmp_path / "run/checkpoints").mkdir(parents=True)
    assert refused(Translator.load, tmp_path / "run").endswith(f" are in {tmp_path}/run/checkpoints")
    torch.save({"model": {}}, tmp_path / "empty.pt")
    assert "no parameters of a model" in refused(Translator.load, tmp_path / "empty.pt")


@pytest.mark.parametrize(
    ("documents", "line"),
    [
        ("a b", "documents: expected a list of documents, each a list of sentences, found a str"),
        (["a b"], "documents[0]: expected a list of sentences, found a str"),
        ([["a"], None], "documents[1]: expected a list of sentences, found a NoneType"),
        ([["a", 3]], "documents[0][1]: expected a text, found a int"),
        ([["a\nb"]], "documents[0][0]: expected one sentence on one line"),
        ([["a\0b"]], "documents[0][0]: expected text, found a NUL character"),
        ([["\udcff"]], "documents[0][0]: expected text, found half a character"),
        (
            [["a"], ["b", "a " * 1100]],
            "longer than the 1024 tokens that the models read: documents[1][1] (1101)",
        ),
    ],
)
def test_documents_that_are_none(loaded, documents, line):
    for task in TASKS:
        assert refused(loaded[task].translate, documents).startswith(line)
    shape = documents if isinstance(documents, list) else [documents]
    if all(isinstance(document, list) for document in shape):
        given = [["a" for _ in document] for document in shape]
        assert refused(loaded["document_window"].score, documents, given).startswith(
            line.partition("1024 tokens")[0]
        )


@pytest.mark.parametrize(
    ("translations", "line"),
    [
        ([["a", "b"]], "translations: expected 2 documents, found 1"),
        ([["a"], ["b"]], "translations[0]: expected 2 sentences, found 1"),
        ([["a", "b"], "c"], "translations[1]: expected a list of sentences, found a str"),
    ],
)
def test_translations_of_another_shape(loaded, translations, line):
    assert refused(loaded["multi_source"].score, DOCUMENTS, translations) == line


@pytest.mark.parametrize(
    ("contexts", "line"),
    [
        ([[{}]], "contexts: expected 2 documents, found 1"),
        ([[{}], [{}]], "contexts[0]: expected 2 sentences, found 1"),
        ([{}, {}], "contexts[0]: expected a list of contexts, one for each sentence, found a dict"),
        (
            [[{}, {"year": True}], [{}]],
            "contexts[0][1]: expected a JSON object of strings, found another value of",
        ),
        ([[{}, {3: "x"}], [{}]], "contexts[0][1]: expected a dictionary of texts by field"),
        ([[{}, 7], [{}]], "contexts[0][1]: expected a list of texts, found a int"),
        ([[{}, [7]], [{}]], "contexts[0][1]: expected a text, found a int"),
        (7, "contexts: expected a list of documents, as in documents, found a int"),
    ],
)
def test_contexts_that_are_none(loaded, contexts, line):
    for call in (loaded["metadata_context"].translate, loaded["multi_source"].translate):
        assert refused(call, DOCUMENTS, contexts).startswith(line)


def test_what_a_model_cannot_do(loaded, models):
    model = loaded["document_window"]
    assert refused(model.translate, DOCUMENTS, "Formal talk") == (
        "contexts: leave them out; only models of the task metadata_context read them"
    )
    reference = model.with_options(context_selection="reference")
    assert "needs references" in refused(reference.translate, DOCUMENTS)
    assert reference.score(DOCUMENTS, DOCUMENTS) != model.score(DOCUMENTS, DOCUMENTS)
    assert "no such option" in refused(model.with_options, source_kontext=1)
    assert refused(model.translate, DOCUMENTS, width=3).startswith("width: expected a setting of the search")
    assert "--beam" in refused(model.translate, DOCUMENTS, beam=0)
    random = model.with_options(context_selection="random")
    assert "needs at least two documents" in refused(random.translate, DOCUMENTS[:1])
    assert "no such file or folder" in refused(model.contrast, "nowhere")
    for wrong in ((3,), (None,), ("nowhere", None, 3)):
        assert refused(model.contrast, *wrong).startswith("expected the path of a file or folder, found ")


def test_terms_that_are_none(loaded):
    translate = loaded["document_window"].translate
    assert refused(translate, DOCUMENTS, keep="ACME") == "keep: expected a list of terms, found a str"
    assert refused(translate, DOCUMENTS, keep=[3]) == "keep[0]: expected a text, found a int"
    assert "glossary['a']: expected a text" in refused(translate, DOCUMENTS, glossary={"a": 3})
    assert "glossary: expected text, found half" in refused(translate, DOCUMENTS, glossary={"\ud800": "a"})
    assert "glossary: expected a file, or target" in refused(translate, DOCUMENTS, glossary=[("a", "b")])


@pytest.mark.timeout(10)
def test_many_documents_are_named_in_linear_time():
    said = separators_in_text(GivenDocuments.of([["a <sep> b"]] * 8000))
    assert said.startswith("<sep> is read as text in 8000 sentences: documents[0][0], documents[1][0]")


def test_no_documents_one_after_the_other(loaded):
    each = loaded["document_window"].translate_each
    assert refused(lambda: list(each(None))).startswith("documents: expected a list of documents")


@pytest.mark.parametrize("task", TASKS)
def test_a_model_whose_probabilities_are_no_numbers(models, task):
    model = Translator.load(models[task], **SEARCH)
    model.loaded.model.decoder.output_projection.weight.data.fill_(math.inf)
    assert "probabilities are no numbers" in refused(model.translate, DOCUMENTS)
