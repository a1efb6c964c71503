"""What a new architecture that reads context gets by filling in the steps of the contract."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY, register_model
from torch import nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_format import ContextFormat, ContextRequest
from ctxmt_fairseq.models.blocks.context_rows import gather_context
from ctxmt_fairseq.models.context_model import ContextEncoder, MultiSourceModel
from ctxmt_fairseq.models.initialisation import load_sentence_model, sentence_model_shapes
from ctxmt_fairseq.models.sizes import register_sizes
from tests.helpers.multi_source_models import dataset, logits, make
from tests.helpers.random_models import (
    STOCK_TASK,
    build_random,
    check_beam_search,
    check_step_by_step,
    check_whole_after_a_step,
    saved,
    stock_model,
)


class WordsEncoder(ContextEncoder):
    """The context's words, embedded and mapped, are the context."""

    def __init__(self, args, dictionary, embed_tokens):
        super().__init__(args, dictionary, embed_tokens)
        self.extra = nn.Linear(embed_tokens.embedding_dim, embed_tokens.embedding_dim)

    def encode_context(self, context):
        tokens = context["tokens"]
        return gather_context(self.extra(self.embed_tokens(tokens)), tokens.eq(self.padding_idx), context)


@pytest.fixture(scope="module", autouse=True)
def architecture():
    @register_model("words_of_context")
    class WordsOfContext(MultiSourceModel):
        encoder_class = WordsEncoder

    register_sizes("words_of_context")
    yield
    for registry in (ARCH_MODEL_REGISTRY, ARCH_CONFIG_REGISTRY):
        for name in [name for name in registry if name.startswith("words_of_context")]:
            del registry[name]


def batch_of(model, **options):
    data = dataset(model, **options)
    return data.collater([data[line] for line in (0, 1, 4, 9, 23)])


def test_a_new_architecture_reads_its_context_and_decodes():
    model = make("words_of_context")
    source_only = {"target_context": 0}
    present, absent = (
        batch_of(model, **source_only, context_selection=selection) for selection in ("document", "absent")
    )
    assert (logits(model, present) - logits(model, absent)).abs().max() > 1e-3
    data = dataset(model, **source_only)
    check_step_by_step(model, present)
    check_beam_search(model, present, lambda line: data.collater([data[line]]))


def test_its_parameters_are_the_contexts_whatever_their_names(tmp_path):
    stock, model = stock_model(), make("words_of_context", seed=2, train_context_only=True)
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert trained == {"encoder.extra.weight", "encoder.extra.bias"}
    load_sentence_model(model, saved(stock, tmp_path / "sentence.pt"))
    absent, present = batch_of(model, context_selection="absent"), batch_of(model)
    check_whole_after_a_step(model, stock, absent, present)


def test_what_is_recorded_of_the_sentence_model_is_a_stock_model():
    for options in ({}, {"share_all_embeddings": True}, {"encoder_normalize_before": True}):
        stock, model = stock_model(**options), make("words_of_context", **options)
        shapes = {name: parameter.shape for name, parameter in stock.named_parameters()}
        assert model.sentence_parameters == shapes


def test_two_dictionaries_share_no_embeddings():
    task = SimpleNamespace(**{**vars(STOCK_TASK), "target_dictionary": Dictionary()})
    with pytest.raises(
        BadInput, match="needs a joined dictionary, found two .--arch concat.*_base may set it"
    ):
        build_random("concat_transformer_base", task)


def test_recording_draws_no_random_number():
    model = make("words_of_context")
    before = torch.random.get_rng_state()
    assert sentence_model_shapes(model.args, STOCK_TASK) == model.sentence_parameters
    assert torch.equal(torch.random.get_rng_state(), before)


def model_of(kind, **form):
    return SimpleNamespace(context_format=ContextFormat(kind, **form))


def test_a_task_gives_what_its_models_read():
    request = ContextRequest(("rows", "tags"))
    assert request.format == ContextFormat()
    request.adopt(model_of("rows", bos=True), "arch")
    request.adopt(model_of("rows", bos=True), "arch")
    assert request.format == ContextFormat("rows", bos=True)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (model_of("tags", bos=True), "same kind of context, found rows and tags"),
        (SimpleNamespace(), "same kind of context, found rows and none"),
        (model_of("rows"), "read the context alike"),
        (model_of("rows", bos=True, joined=True), "read the context alike"),
        (model_of("vectors"), "--arch arch needs --task metadata_context"),
        (model_of("window"), "--arch arch needs --task document_window"),
        (model_of("row"), "of the kinds rows, tags, vectors, window, found .*'row'"),
    ],
)
def test_models_that_read_something_else_are_refused_and_change_nothing(other, message):
    request = ContextRequest(("rows", "tags"))
    request.adopt(model_of("rows", bos=True), "arch")
    with pytest.raises(BadInput, match=message):
        request.adopt(other, "arch")
    assert request.format == ContextFormat("rows", bos=True)
