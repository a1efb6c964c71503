"""Sequence shortening against loops written from the paper, on rows with pads on any side."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.models.blocks.shortening import SHORTENINGS, build_shortening

DIM, HEADS = 8, 2
POOLING, LATENT = ("mean", "max", "linear"), ("group", "select")
ATTENDED = POOLING + LATENT
EVERY = [(kind, "sparsemax") for kind in SHORTENINGS] + [(kind, "softmax") for kind in LATENT]


def make(kind, size=3, activation="sparsemax", dtype=torch.float64, **arguments):
    """A block in evaluation mode all of whose parameters, biases too, are random."""
    torch.manual_seed(0)
    module = build_shortening(kind, DIM, HEADS, size=size, activation=activation, **arguments).eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=parameter.size(-1) ** -0.5)
    return module.to(dtype)


def make_batch(*rows, dtype=torch.float64):
    """Random rows of so many tokens behind so many pads, and their padding; pads hold NaN."""
    width = max(1, *(sum(row) for row in rows))
    padding = torch.ones(len(rows), width, dtype=torch.bool)
    for row, (length, pads) in enumerate(rows):
        padding[row, pads : pads + length] = False
    states = torch.randn(len(rows), width, DIM, generator=torch.Generator().manual_seed(1))
    return states.to(dtype).masked_fill(padding.unsqueeze(-1), torch.nan), padding


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def sparsemax(scores):
    """Martins and Astudillo (2016), algorithm 1."""
    ordered = sorted(scores, reverse=True)
    support = max(k for k in range(1, len(scores) + 1) if 1 + k * ordered[k - 1] > sum(ordered[:k]))
    return np.maximum(scores - (sum(ordered[:support]) - 1) / support, 0)


def equation_2(pooled, tokens, weights):
    """One query and one head at a time (Vaswani et al. 2017)."""

    def project(name, values):
        return (
            weights[f"attention.attention.{name}.weight"] @ values
            + weights[f"attention.attention.{name}.bias"]
        )

    result = []
    for query in pooled:
        heads = []
        for head in np.split(np.arange(DIM), HEADS):
            scores = [project("q_proj", query)[head] @ project("k_proj", token)[head] for token in tokens]
            probabilities = softmax(np.array(scores) / np.sqrt(DIM / HEADS))
            values = [project("v_proj", token)[head] for token in tokens]
            heads.append(probabilities @ np.array(values))
        total = query + project("out_proj", np.concatenate(heads))
        normal = (total - total.mean()) / np.sqrt(total.var() + 1e-5)
        result.append(normal * weights["attention.layer_norm.weight"] + weights["attention.layer_norm.bias"])
    return result


def equation_3(tokens, kind, activation, weights):
    def feed_forward(token):
        hidden = np.maximum(weights["categoriser.0.weight"] @ token + weights["categoriser.0.bias"], 0)
        assert hidden.shape == (512,)  # appendix A
        return weights["categoriser.2.weight"] @ hidden + weights["categoriser.2.bias"]

    scores = np.array([feed_forward(token) for token in tokens])
    normalise = {"softmax": softmax, "sparsemax": sparsemax}[activation]
    if kind == "group":
        return np.array([normalise(row) for row in scores])
    return np.array([normalise(column) for column in scores.T]).T


def expected_vectors(kind, tokens, size, activation, weights):
    """G of one sentence's real tokens (M, D); a sentence without tokens has no vectors."""
    if kind == "none" or len(tokens) == 0:
        return list(tokens)
    if kind == "sentence":
        return [sum(tokens) / len(tokens)]
    if kind in LATENT:
        c = equation_3(tokens, kind, activation, weights)
        pooled = [sum(c[i, k] * tokens[i] for i in range(len(tokens))) for k in range(size)]  # equation 4
        return equation_2(pooled, tokens, weights)
    groups = [tokens[start : start + size] for start in range(0, len(tokens), size)]
    if kind == "mean":
        pooled = [sum(group) / len(group) for group in groups]
    elif kind == "max":
        pooled = [np.array([max(column) for column in group.T]) for group in groups]
    else:
        filled = [np.concatenate([*group, *np.zeros((size - len(group), DIM))]) for group in groups]
        pooled = [weights["linear.weight"] @ group + weights["linear.bias"] for group in filled]
    return equation_2(pooled, tokens, weights)


@pytest.mark.parametrize(("kind", "activation"), EVERY)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_row_has_the_papers_vectors_wherever_its_pads_stand(kind, activation, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), min_size=1, max_size=3))
    size = data.draw(st.integers(1, 5))
    module = make(kind, size, activation)
    weights = {name: values.detach().numpy() for name, values in module.named_parameters()}
    states, padding = make_batch(*rows)
    shortened, absent = module(states, padding)

    length = states.size(1)
    width = {"none": length, "sentence": 1, "group": size, "select": size}.get(kind, -(-length // size))
    assert shortened.shape == (len(rows), width, DIM) and absent.shape == (len(rows), width)
    for row in range(len(rows)):
        tokens = states[row][~padding[row]].numpy()
        expected = expected_vectors(kind, tokens, size, activation, weights)
        assert absent[row].tolist() == [place >= len(expected) for place in range(width)]
        assert not shortened[row, len(expected) :].any()
        if expected:
            np.testing.assert_allclose(shortened[row, : len(expected)].detach(), expected, atol=1e-9)
        if kind in LATENT and expected:
            c = module.assignment(states, padding)[row].detach()
            np.testing.assert_allclose(
                c[~padding[row]], equation_3(tokens, kind, activation, weights), atol=1e-9
            )
            assert not c[padding[row]].any()


@pytest.mark.parametrize(("kind", "activation"), EVERY)
def test_padding_and_batch_mates_change_nothing_in_single_precision(kind, activation):
    module = make(kind, 2, activation, torch.float32)
    states, padding = make_batch((5, 3), (9, 1), (0, 0), (1, 6), dtype=torch.float32)
    together, absent = module(states, padding)
    for row in (0, 1, 3):
        real = ~padding[row]
        alone, _ = module(states[row : row + 1, real], padding[row : row + 1, real])
        torch.testing.assert_close(together[row, ~absent[row]], alone[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["mean", "max"])
def test_pooling_by_one_is_the_sequence_before_attention(kind):
    states, padding = make_batch((4, 0), (2, 0))
    pooled, absent = make(kind, size=1).aggregate(states.nan_to_num(), padding)
    assert torch.equal(pooled.masked_fill(absent.unsqueeze(-1), 0), states.nan_to_num())
    assert torch.equal(absent, padding)


@pytest.mark.parametrize(("kind", "activation"), EVERY[-4:])
def test_equal_scores_weigh_all_equally(kind, activation):
    module = make(kind, 4, activation)
    for parameter in module.categoriser.parameters():
        torch.nn.init.zeros_(parameter)
    states, padding = make_batch((5, 2), (3, 0))
    groups, _ = module.aggregate(states.nan_to_num(), padding)
    for row in range(2):
        total = states[row][~padding[row]].sum(0)
        # Grouping shares each token out among 4 groups; selecting gives each group the mean of the tokens.
        expected = total / 4 if kind == "group" else total / (~padding[row]).sum()
        torch.testing.assert_close(groups[row], expected.expand(4, DIM))


def test_grouping_assigns_every_token_selecting_may_ignore_one():
    states, padding = make_batch((12, 2))
    grouped, selected = (make(kind).assignment(states, padding)[0, 2:] for kind in LATENT)
    torch.testing.assert_close(grouped.sum(1), torch.ones(12).double())
    torch.testing.assert_close(selected.sum(0), torch.ones(3).double())
    assert (grouped == 0).any() and (selected == 0).all(1).any()  # sparsemax
    assert (make("group", activation="softmax").assignment(states, padding)[0, 2:] > 0).all()


@pytest.mark.parametrize(("kind", "activation"), EVERY)
def test_gradients(kind, activation):
    """Right for real tokens, zero for pads, finite for a row of pads; every parameter learns."""
    module = make(kind, 4, activation)
    states, padding = make_batch((6, 1), (0, 0))
    states = states.requires_grad_()
    module(states, padding)[0].pow(3).sum().backward()
    assert states.grad.isfinite().all() and not states.grad[padding].any()
    assert states.grad[~padding].all()
    for name, parameter in module.named_parameters():
        assert parameter.grad.isfinite().all(), name
        # A key's bias adds the same to all scores of a query.
        assert parameter.grad.any() or name.endswith("k_proj.bias"), name
    clean = states.detach().nan_to_num().requires_grad_()
    assert torch.autograd.gradcheck(lambda values: module(values, padding)[0], clean)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("kind", "activation"), EVERY)
def test_half_precision_stays_half_and_near(kind, activation, dtype):
    states, padding = make_batch((6, 0), (0, 0), (9, 2), (2, 3), dtype=dtype)
    states.requires_grad_()
    module = make(kind, 2, activation, dtype)
    shortened, absent = module(states, padding)
    assert shortened.dtype == dtype
    expected, _ = make(kind, 2, activation)(states.detach().double(), padding)
    torch.testing.assert_close(shortened.double(), expected, rtol=0.05, atol=0.1)
    shortened.float().pow(2).sum().backward()
    assert all(values.grad.isfinite().all() for values in (states, *module.parameters()))
    if kind in LATENT:
        c = module.assignment(states, padding)[0, :6]
        sums = c.sum(1 if kind == "group" else 0)
        assert c.dtype == torch.float32
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", SHORTENINGS)
def test_mixed_precision(kind):
    states, padding = make_batch((6, 0), (0, 0), (2, 3), dtype=torch.float32)
    module = make(kind, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        shortened, _ = module(states, padding)
    torch.testing.assert_close(shortened.float(), module(states, padding)[0], rtol=0.05, atol=0.1)


@pytest.mark.parametrize("kind", ATTENDED)
def test_dropout_is_that_of_equation_2(kind):
    states, padding = make_batch((5, 0))
    module = make(kind, dropout=1.0).train()
    alone = module.attention.layer_norm(module.aggregate(states, padding)[0])
    torch.testing.assert_close(module(states, padding)[0], alone)
    module = make(kind, attention_dropout=1.0).train()
    bias = module.attention.attention.out_proj.bias
    expected = module.attention.layer_norm(module.aggregate(states, padding)[0] + bias)
    torch.testing.assert_close(module(states, padding)[0], expected)


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("median", 2, "a shortening from none, sentence"),
        ("mean", 0, "--shortening-size 0: --shortening mean needs 1 or more"),
        ("select", -1, "select needs 1 or more"),
    ],
)
def test_bad_input(kind, size, message):
    with pytest.raises(BadInput, match=message):
        build_shortening(kind, DIM, HEADS, size=size)


@pytest.mark.parametrize("kind", SHORTENINGS)
def test_how_many_vectors_a_sentence_becomes_is_known_from_its_tokens(kind):
    module, sizes = make(kind), np.arange(9)
    _, absent = module(*make_batch(*((int(size), 8 - int(size)) for size in sizes)))
    known = module.vectors(sizes)
    assert known is not None and known.tolist() == (~absent).sum(1).tolist()


@pytest.mark.parametrize("kind", ["mean", "max"])
def test_zeros_in_a_last_group_as_in_the_authors_program(kind):
    """Of five tokens in groups of three the last group has two: their sum is divided by three, and their
    maximum is at least 0, however wide the batch is."""
    module = make(kind, filled=True)
    states, padding = make_batch((5, 0), (2, 5), (7, 2))
    with torch.no_grad():
        found, absent = module.aggregate(states.nan_to_num(0), padding)
    for row in range(len(states)):
        tokens = states[row][~padding[row]].numpy()
        filled = np.concatenate([tokens, np.zeros((-len(tokens) % 3, DIM))]).reshape(-1, 3, DIM)
        expected = filled.mean(1) if kind == "mean" else filled.max(1)
        np.testing.assert_allclose(found[row, : len(expected)].numpy(), expected, atol=1e-12)
        assert absent[row].tolist() == [place >= len(expected) for place in range(absent.size(1))]
