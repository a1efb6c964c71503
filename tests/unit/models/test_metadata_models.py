"""What the architectures for ``metadata_context`` must prove, on tiny sizes."""

import copy

import numpy as np
import pytest
import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, build_model
from fairseq.modules import MultiheadAttention

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.qk_norm_attention import QKNormAttention
from tests.helpers.context_stores import make_store, write_lines, write_split
from tests.helpers.metadata_models import (
    CASES,
    DISTANCES,
    ROWS,
    TASK,
    VECTORS,
    WITHOUT,
    batch_of,
    has_context,
    make,
    tag_of,
)
from tests.helpers.random_models import (
    STOCK_TASK,
    arguments,
    check_beam_search,
    check_step_by_step,
    cross_entropy,
    logits,
    stock_twin,
    without_context,
)
from tests.helpers.saved_models import data_folder, trained

every_case = pytest.mark.parametrize("case", CASES)
vector_cases = pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("tagging")])


def same(found, expected, tolerance=1e-5):
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)


def replaced(rows, row, values):
    return [values if number == row else old for number, old in enumerate(rows)]


# ---- what the logits depend on ---------------------------------------------------------------------------


@every_case
def test_context_is_used_and_nothing_else_in_the_batch_is(case):
    model = make(case)
    together = logits(model, batch_of(model))
    other = logits(model, batch_of(model, vectors=[vectors * -2 + 1 for vectors in VECTORS]))
    for row in ROWS:
        alone = logits(model, batch_of(model, [row]))
        same(together[row : row + 1, : alone.size(1)], alone)
        moved = (together[row] - other[row]).abs().max()
        assert moved > 1e-3 if has_context(model, row) else moved == 0


@every_case
def test_every_context_is_used(case):
    model = make(case)
    expected = logits(model, batch_of(model, [0]))
    for place, distance in enumerate(DISTANCES[0]):
        vectors = VECTORS[0].copy()
        vectors[place] = vectors[place] * -2 + 1
        assert tag_of(vectors[place]) != tag_of(VECTORS[0][place])
        found = logits(model, batch_of(model, [0], vectors=replaced(VECTORS, 0, vectors)))
        unseen = case.startswith("tagging") and distance != -1
        assert (found - expected).abs().max() == 0 if unseen else (found - expected).abs().max() > 1e-4


@every_case
def test_neither_the_place_of_a_context_nor_padding_matters(case):
    """Metadata in another order, sentences after it or before it, nothing in between: all the same."""
    model = make(case)
    expected = logits(model, batch_of(model))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(9)
        same(logits(model, batch_of(model, columns=3, order=order)), expected)


@vector_cases
def test_distances_matter_unless_positions_are_switched_off(case):
    model = make(case)
    expected = logits(model, batch_of(model, [0]))
    for distances in ([-1, -1, 2, 3, 1, 0], [-1, 0, 3, 2, 1, -1]):  # two sentences swapped; metadata or not
        found = logits(model, batch_of(model, [0], distances=replaced(DISTANCES, 0, distances)))
        difference = (found - expected).abs().max()
        assert difference < 1e-5 if case == "mtcue no positions" else difference > 1e-4


@vector_cases
def test_distances_beyond_the_table_share_its_last_row(case):
    model = make(case)

    def at(distance):
        return logits(model, batch_of(model, [4], distances=replaced(DISTANCES, 4, [distance])))

    same(at(4), at(3))
    same(at(1000), at(3))
    if case != "mtcue no positions":
        assert (at(2) - at(3)).abs().max() > 1e-4


# ---- no context ------------------------------------------------------------------------------------------


@every_case
def test_without_context_it_is_the_stock_transformer_in_any_batch(case):
    model = make(case)
    # The program's decoder normalises queries and keys, as no stock decoder does.
    stock = model if case == "mtcue as its program" else stock_twin(model)
    expected = logits(stock, without_context(batch_of(model)))
    same(logits(model, batch_of(model, absent=True, columns=4)), expected, 1e-6)
    assert torch.equal(logits(model, without_context(batch_of(model))), expected)
    mixed = logits(model, batch_of(model))
    for row in WITHOUT:
        same(mixed[row], expected[row], 1e-6)
        assert (mixed[0] - expected[0]).abs().max() > 1e-3


@every_case
def test_a_batch_without_context_reaches_every_parameter(case):
    """With a gradient of zero: a worker with such a batch must take part in the exchange of gradients."""
    model = make(case).train()
    cross_entropy(model, batch_of(model, absent=True)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name
        assert "context_" not in name or not parameter.grad.any(), name


# ---- gradients, precision --------------------------------------------------------------------------------


@every_case
def test_loss_and_gradients_are_finite_and_reach_every_parameter(case):
    model = make(case).train()
    loss = cross_entropy(model, batch_of(model))
    loss.backward()
    assert torch.isfinite(loss)
    unused = []
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name
        if not parameter.grad.any() and not name.endswith("k_proj.bias"):  # it moves all scores alike
            unused.append(name)
    assert not unused


@every_case
@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(case, precision):
    model = make(case)
    expected, batch = logits(model, batch_of(model)), batch_of(model, absent=True)
    stock, model = stock_twin(model).to(precision), copy.deepcopy(model).to(precision)
    same(logits(model, batch_of(model)).float(), expected, 0.25)
    same(logits(model, batch), logits(stock, without_context(batch)), 0.05)


# ---- decoding --------------------------------------------------------------------------------------------


@every_case
def test_a_step_at_a_time_is_all_at_once(case):
    model = make(case)
    check_step_by_step(model, batch_of(model))


@every_case
def test_beam_search_does_not_depend_on_the_batch(case):
    model = make(case)
    check_beam_search(model, batch_of(model, [0, 1, 4, 7]), lambda row: batch_of(model, [row]))


# ---- options and checkpoints -----------------------------------------------------------------------------


KNOWN = {"vector_dimension": 12, "contexts_per_sample": 5.0, "farthest_context": 3, "tag_count": 50}


@every_case
def test_save_and_reload_without_a_store(case, tmp_path):
    """What the task knew stays in ``args``, so that a task without a store builds the same model."""
    arch, options = CASES[case]
    args = arguments(f"{arch}_tiny", **options)
    model = build_model(args, TASK).eval()
    torch.save(model.state_dict(), tmp_path / "model.pt")
    found = {name: getattr(args, name) for name in KNOWN if hasattr(args, name)}
    assert found == {name: KNOWN[name] for name in type(model).measured}
    again = build_model(copy.deepcopy(args), STOCK_TASK).eval()
    batch = batch_of(model)
    assert not torch.equal(logits(again, batch), logits(model, batch))
    again.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(logits(again, batch), logits(model, batch))


OPTIONS = [
    ("context_layers", -1), ("context_ffn_dim", 0), ("farthest_context", -1), ("checkpoint_activations", True)
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "option", "value"),
    [*((case, *each) for case in ("mtcue", "cue") for each in OPTIONS), ("cue", "context_qk_norm", "all")],
)
def test_options_that_cannot_work_are_refused(case, option, value):
    with pytest.raises(BadInput, match="--" + option.replace("_", "-")):
        make(case, **{option: value})


def test_a_gate_needs_an_attention_of_its_own():
    with pytest.raises(BadInput, match="--context-gate"):
        make("mtcue flat", context_gate="branch")


def test_paper_sizes():
    """Table 3: the context encoder has the source encoder's dimensions; TAGGING is wider and deeper."""
    for case, layers, width in (("mtcue", 6, 2048), ("cue", 6, 2048), ("tagging", 10, 4096)):
        args = arguments(f"{CASES[case][0]}_base")
        assert (args.encoder_layers, args.encoder_ffn_embed_dim) == (layers, width)
        assert getattr(args, "decoder_ffn_embed_dim", width) == 2048 and args.decoder_layers == 6
        assert case == "tagging" or (args.context_layers, args.context_ffn_dim) == (6, 2048)
        big = arguments(f"{CASES[case][0]}_big")
        assert (big.encoder_embed_dim, big.encoder_ffn_embed_dim, big.encoder_attention_heads) == (
            1024, 4096, 16
        )  # fmt: skip
        assert big.encoder_layers == big.decoder_layers == 6
    assert "concat_transformer_big" not in ARCH_CONFIG_REGISTRY


def test_defaults():
    """QK-norm only in MTCue's context encoder; parallel attention (sections 2.2 and 2.3)."""
    mtcue, cue = (arguments(f"{arch}_tiny") for arch in ("mtcue_transformer", "cue_transformer"))
    assert (mtcue.context_qk_norm, mtcue.context_fusion, mtcue.context_gate) == ("yes", "parallel", "none")
    assert cue.context_qk_norm == "yes"
    assert mtcue.context_positions == cue.context_positions == "yes"
    program = [type(module) for module in make("mtcue as its program").decoder.modules()]
    assert program.count(QKNormAttention) == 3 * mtcue.decoder_layers and MultiheadAttention not in program
    own = {type(module).__name__ for module in make("mtcue").modules() if "QKNorm" in type(module).__name__}
    assert own == {"QKNormAttention", "QKNormEncoderLayer"}


@pytest.mark.parametrize("case", ["mtcue", "mtcue as its program"])
def test_a_decoder_narrower_than_the_encoder(case):
    model = make(case, decoder_embed_dim=64)
    check_step_by_step(model, batch_of(model))


def test_tags_are_those_of_all_data_folders(tmp_path):
    folders = []
    for genre in ("Drama", "Crime"):
        root = tmp_path / genre
        root.mkdir()
        folders.append(str(data_folder(root / "data")))
        write_split(root, "train", ["a", "b"], [{"genre": genre}] * 2)
        write_lines(root / "data" / "train.en-fr.docids", "01")
        make_store(root, "train", out="data/contexts")
    options = dict(arch="tagging_transformer", task="metadata_context", data=":".join(folders))
    state, _ = trained(tmp_path, **options)
    assert state["task_state"]["store"]["tags"] == ["Drama", "Crime"]
    assert len(state["model"]["encoder.context_tags.weight"]) == 3  # and <unk>
