"""One batch through every architecture: a step of training, of validation, of decoding; for tests."""

from argparse import Namespace

import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.models import ARCH_CONFIG_REGISTRY
from fairseq.sequence_generator import EnsembleModel

from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from ctxmt_fairseq.criterions.context_margin import ContextMarginCriterion, ContextMarginCriterionConfig
from ctxmt_fairseq.models.blocks.fusions import FUSIONS
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS
from ctxmt_fairseq.tasks.metadata_context import MetadataContextTask
from ctxmt_fairseq.tasks.search.beams import beams
from tests.helpers import synthetic

BEAM, VECTOR_DIM, HEIGHT = 2, 16, 8  # sentences in a document
CACHING, CONCAT, DUAL, MTCUE = (
    f"{name}_transformer" for name in ("caching", "concat", "dual_encoder", "mtcue")
)
STOCK: tuple = ("windows", "transformer", {})
# name -> task, architecture, options
SYSTEMS = {
    "concat": ("windows", CONCAT, {}),
    "concat shift": ("windows", CONCAT, {"segment_positions": "shift", "segment_shift": 20}),
    "concat avg-sequence": (
        "windows",
        CONCAT,
        {"segment_positions": "shift", "segment_shift": "avg-sequence"},
    ),
    "concat learned": ("windows", CONCAT, {"segment_positions": "learned"}),
    "concat sinusoidal": ("windows", CONCAT, {"segment_positions": "sinusoidal"}),
    "concat types": ("windows", CONCAT, {"segment_positions": "learned", "segment_types": "context"}),
    "concat flag": ("windows", CONCAT, {"segment_positions": "flag"}),
    "gru": ("windows", "context_gru", {"gru_embed_dim": 32, "gru_size": 32}),
    "gated": ("rows", "gated_context_transformer", {}),
    "context encoder": ("rows", "context_encoder_transformer", {}),
    "context encoder zhang": ("rows", "context_encoder_transformer", {"context_gate": "zhang"}),
    **{f"dual {name}": ("rows", DUAL, {"context_fusion": name}) for name in FUSIONS},
    "dual gate": ("rows", DUAL, {"context_fusion": "separate", "context_gate": "branch"}),
    "dual shared-token": ("rows", DUAL, {"context_encoder": "shared-token"}),
    "dual joined": ("rows", DUAL, {"context_layout": "joined"}),
    **{
        f"caching {name}": ("rows", CACHING, {"shortening": name, "shortening_size": 3})
        for name in SHORTENINGS
        if name != "first-words"
    },
    "caching softmax": ("rows", CACHING, {"shortening": "select", "shortening_activation": "softmax"}),
    "caching runs": ("runs", CACHING, {"shortening": "mean", "context_gradient_encoder": "yes"}),
    "dual runs": ("runs", DUAL, {}),
    "mtcue": ("vectors", MTCUE, {}),
    "mtcue layernorm": ("vectors", MTCUE, {"context_input": "layernorm"}),
    "cue": ("vectors", "cue_transformer", {}),
    "cue no QK-norm": ("vectors", "cue_transformer", {"context_qk_norm": "no"}),
    "tagging": ("vectors", "tagging_transformer", {}),
}
# One of each mechanism, for what need not be seen in all of them.
CHOSEN = (
    "concat shift",
    "gated",
    "context encoder",
    "dual hierarchical",
    "caching none",
    "caching select",
    "caching runs",
    "mtcue",
    "tagging",
)


def _task(kind, size):
    if kind == "windows":
        return synthetic.make_task(size)
    if kind == "vectors":
        return synthetic.make_metadata_task(size, synthetic.CONTEXT)
    return synthetic.make_multi_source_task(size, batch_runs=4 if kind == "runs" else 0)


def build(system, size="tiny", layers=1, **more):
    """Task and model."""
    kind, arch, options = SYSTEMS[system] if isinstance(system, str) else system
    task = _task(kind, size)
    numbers = {"max_source_positions": 1024, "max_target_positions": 1024, "share_all_embeddings": True}
    if kind == "vectors":
        numbers.update(vector_dimension=VECTOR_DIM, contexts_per_sample=10.0, tag_count=60)
    if layers:
        numbers.update(encoder_layers=layers, decoder_layers=layers)
    options = {**numbers, **options, **more}
    if arch == "transformer":
        options = {**synthetic.SIZES[size], **options}
    args = Namespace(arch=arch if arch == "transformer" else f"{arch}_{size}", **options)
    ARCH_CONFIG_REGISTRY[args.arch](args)
    torch.manual_seed(1)
    return task, task.build_model(args)


def dataset(task, documents=3, height=HEIGHT):
    """Random documents for the task."""
    more = {}
    if isinstance(task, MetadataContextTask):
        more["contexts"] = synthetic.contexts(documents * height, VECTOR_DIM)
        task.known["tags"] = [str(row) for row in range(60)]
    return synthetic.dataset(task, documents, height, **more)


def batch(task, lines=tuple(range(3, 11))):
    """These lines of random documents, as the task makes a batch of them."""
    data = dataset(task)
    return data.collater([data[line] for line in lines])


def criterion(task, name="label_smoothed"):
    if name == "margin":
        cfg = ContextMarginCriterionConfig(
            sentence_avg=False, label_smoothing=0.1, margin_sentence_weight=1.0, margin_contexts=2
        )
        return ContextMarginCriterion(cfg, task)
    if name == "discounted":
        return ContextDiscountedCriterion(task, False, 0.1, discount_normalisation="weights")
    return LabelSmoothedCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.1)


def train(model, loss, sample):
    """Forward and backward; the summed loss."""
    model.train()
    total, _, logged = loss(model, sample)
    assert all(not torch.is_tensor(value) or value.dim() == 0 for value in logged.values())
    total.backward()
    return total.detach()


@torch.no_grad()
def decoder(model, sample, beam=BEAM):
    """What makes a step of decoding: (B * beam, t) tokens and the hypotheses' order -> log-probabilities."""
    model.eval()
    model.make_generation_fast_(need_attn=False)
    ensemble = EnsembleModel([model])
    state = [{}]
    with beams([model], beam):
        outs = ensemble.forward_encoder(sample["net_input"])
        rows = torch.arange(len(sample["id"]), device=sample["net_input"]["src_tokens"].device)
        outs = ensemble.reorder_encoder_out(outs, rows.repeat_interleave(beam, output_size=beam * len(rows)))

    @torch.no_grad()
    def step(tokens, order=None):
        nonlocal outs
        with beams([model], beam):
            if order is not None:
                ensemble.reorder_incremental_state(state, order)
                outs = ensemble.reorder_encoder_out(outs, order)
            return ensemble.forward_decoder(tokens, outs, state)[0]

    return step


def first_steps(sample, beam=BEAM, steps=3):
    """The tokens (B * beam, t) of the first steps, t = 1 ... steps."""
    rows = sample["net_input"]["prev_output_tokens"][:, :steps]
    whole = rows.unsqueeze(1).expand(-1, beam, -1).flatten(0, 1)
    return [whole[:, : step + 1] for step in range(steps)]
