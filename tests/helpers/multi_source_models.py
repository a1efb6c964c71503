"""Tiny models and batches of the task ``multi_source``, for tests."""

from ctxmt_fairseq.data.context_format import ContextFormat
from ctxmt_fairseq.data.context_options import RowsOptions
from ctxmt_fairseq.data.multi_source_dataset import MultiSourceDataset
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.random_models import STOCK_TASK, build_random, logits  # noqa: F401
from tests.helpers.window_datasets import VOCABULARY, options_in, requesting, sentences

DUAL = "dual_encoder_transformer"
CACHING = "caching_transformer"
CASES = {
    "gated": ("gated_context_transformer", {}),
    "gated pre-norm": (
        "gated_context_transformer",
        {"encoder_normalize_before": True, "decoder_normalize_before": True},
    ),
    "dual serial": (DUAL, {}),
    "dual serial pre-norm": (DUAL, {"encoder_normalize_before": True, "decoder_normalize_before": True}),
    "dual parallel": (DUAL, {"context_fusion": "parallel"}),
    "dual parallel gate": (DUAL, {"context_fusion": "parallel", "context_gate": "branch"}),
    "dual separate": (DUAL, {"context_fusion": "separate"}),
    "dual separate gate pre-norm": (
        DUAL,
        {
            "context_fusion": "separate",
            "context_gate": "branch",
            "encoder_normalize_before": True,
            "decoder_normalize_before": True,
        },
    ),
    "dual hierarchical": (DUAL, {"context_fusion": "hierarchical"}),
    "dual concat": (DUAL, {"context_fusion": "concat"}),
    "dual shared": (DUAL, {"context_encoder": "shared"}),
    "dual shared token": (DUAL, {"context_encoder": "shared-token", "context_fusion": "flat"}),
    "dual joined": (DUAL, {"context_layout": "joined"}),
    "context encoder": ("context_encoder_transformer", {}),
    "context encoder zhang": (
        "context_encoder_transformer",
        {"context_gate": "zhang", "context_order": "source-first", "context_layers": 2},
    ),
    "context encoder source first": ("context_encoder_transformer", {"context_order": "source-first"}),
    "caching tokens": (CACHING, {}),
    "caching concat": (CACHING, {"context_fusion": "concat", "current_in_context": "yes"}),
    "caching sentence": (CACHING, {"shortening": "sentence"}),
    "caching sentence parallel": (CACHING, {"shortening": "sentence", "context_fusion": "parallel"}),
    "caching mean": (CACHING, {"shortening": "mean"}),
    "caching max": (CACHING, {"shortening": "max", "shortening_size": 3}),
    "caching linear": (CACHING, {"shortening": "linear"}),
    "caching group": (CACHING, {"shortening": "group", "context_gradient_sentences": 1}),
    "caching select": (CACHING, {"shortening": "select", "shortening_activation": "softmax"}),
    "caching all gradients": (CACHING, {"shortening": "mean", "context_gradient_encoder": "yes"}),
    "context encoder no gate": ("context_encoder_transformer", {"context_gate": "none"}),
}


def make(case="dual serial", seed=1, size="tiny", **options):
    """A model of a case, or of an architecture, with random weights."""
    arch, more = CASES[case] if isinstance(case, str) and case in CASES else (case, {})
    return build_random(f"{arch}_{size}", STOCK_TASK, seed, **{"dropout": 0.1, **more, **options})


def dataset(model=None, lengths=(9, 1, 14, 2, 17), longest=9, **options):
    """Documents of random sentences; the batch has what ``model`` reads."""
    window = dict(source_context=2, source_context_after=1, target_context_on_source=1, target_context=1)
    window.update(options)
    n = sum(lengths)
    form = window.pop("form", {})
    if model is not None:
        form = dict(vars(getattr(model, "context_format", ContextFormat())))
    request = requesting(form.pop("kind", "rows"), **form)
    builder = WindowBuilder(Documents.from_lengths(lengths), options_in(RowsOptions, window), 1)
    return MultiSourceDataset(
        sentences(n, 4, longest), VOCABULARY, sentences(n, 210, longest), VOCABULARY,
        builder, request, name="split", **window,
    )  # fmt: skip
