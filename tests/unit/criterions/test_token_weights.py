"""``--token-weights`` in the criterions: against NumPy, and exactly the plain loss with weight 1."""

import numpy as np
import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.logging import metrics

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.symbols import SEPARATOR
from tests.helpers.steps import batch, build, criterion

EPSILON = 0.1


def weighted(system="concat", ones=False):
    """A model, its task, and a batch with random weights of target tokens, or 1 everywhere."""
    task, model = build(system, dropout=0.0)
    sample = batch(task)
    real = sample["target"].ne(task.target_dictionary.pad())
    drawn = torch.rand(real.shape, generator=torch.Generator().manual_seed(3)) * 5
    given = torch.ones(real.shape) if ones else drawn
    return task, model.eval(), {**sample, "token_weights": given * real}


def step(loss, model, sample):
    model.zero_grad()
    found = loss(model, sample)
    found[0].backward()
    gradients = torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None])
    return (*found, gradients)


def in_numpy(task, model, sample, discount):
    """The sum of weight times smoothed loss, token by token; the sum of weights; that of the current
    sentences' own weights; and the gradient of the first by the logits."""
    with torch.no_grad():
        logits = model(**sample["net_input"])[0].double().numpy()
    words = task.target_dictionary
    loss = total = own = 0.0
    gradient = np.zeros_like(logits)
    for row, tokens in enumerate(sample["target"].tolist()):
        window = [token for token in tokens if token != words.pad()]
        first = max((at + 1 for at, token in enumerate(window) if token == words.index(SEPARATOR)), default=0)
        for at, token in enumerate(window):
            given = float(sample["token_weights"][row, at])
            weight = given * (1 if at >= first else discount)
            scores = logits[row, at] - logits[row, at].max()
            log_probs = scores - np.log(np.exp(scores).sum())
            wanted = np.full(len(scores), EPSILON / (len(scores) - 1))
            wanted[token] = 1 - EPSILON
            loss -= weight * (wanted * log_probs).sum()
            gradient[row, at] = weight * (np.exp(log_probs) - wanted)
            total, own = total + weight, own + given * (at >= first)
    return loss, total, own, gradient


@pytest.mark.parametrize(("name", "discount"), [("discounted", 0.01), ("margin", 1.0)])
def test_sums_and_gradients(name, discount):
    task, model, sample = weighted()
    expected, total, own, gradient = in_numpy(task, model, sample, discount)
    loss = criterion(task, name)
    found, size, logged, _ = step(loss, model, sample)  # in validation mode there is no margin loss to add
    if name == "margin":
        margins = sum(loss.weights[level] * logged[f"margin_{level}"] for level in ("sentence", "token"))
        found = found - margins
    assert found.item() == pytest.approx(expected, rel=1e-5)
    assert float(size) == pytest.approx(total if name == "discounted" else sample["ntokens"], rel=1e-6)
    assert logged["token_weight"].item() == pytest.approx(own, rel=1e-5)
    if name == "discounted":
        # The loss as a function of the logits: d loss / d logits, at the model's output.
        logits = model(**sample["net_input"])[0].detach().requires_grad_()
        model.forward = lambda **_: (logits, {})
        loss(model, sample)[0].backward()
        np.testing.assert_allclose(logits.grad.numpy(), gradient, rtol=1e-5, atol=3e-5)  # float32


@pytest.mark.parametrize("system", ["concat", "gated", "mtcue"])
@pytest.mark.parametrize("name", ["discounted", "margin"])
def test_weight_one_everywhere_is_the_plain_loss_bit_for_bit(system, name):
    task, model, sample = weighted(system, ones=True)
    plain = {key: value for key, value in sample.items() if key != "token_weights"}
    one, other = (step(criterion(task, name), model, each) for each in (sample, plain))
    assert torch.equal(one[0], other[0]) and torch.equal(one[3], other[3]) and one[1] == other[1]
    assert one[2].pop("token_weight") == one[2]["current_ntokens"]
    assert one[2].keys() == other[2].keys()
    assert all(torch.equal(torch.as_tensor(one[2][key]), torch.as_tensor(other[2][key])) for key in other[2])


def test_weight_one_without_discount_is_fairseqs_loss():
    task, model, sample = weighted("gated", ones=True)
    ours, theirs = criterion(task, "discounted"), criterion(task)
    ours.context_discount, ours.discount_normalisation = 1.0, "tokens"
    one, other = (step(loss, model, sample) for loss in (ours, theirs))
    assert isinstance(theirs, LabelSmoothedCrossEntropyCriterion)
    assert torch.equal(one[0], other[0]) and torch.equal(one[3], other[3]) and one[1] == other[1]


def test_large_weights_in_half_precision_have_their_mean():
    """fairseq's --fp16 makes them half precision, which ends at 65,504."""
    task, model, sample = weighted(ones=True)
    logged = criterion(task, "discounted")(
        model, {**sample, "token_weights": 1000 * sample["token_weights"].half()}
    )[2]
    assert logged["token_weight"] == 1000 * logged["current_ntokens"] > 65504


def test_the_mean_weight_is_logged():
    task, model, sample = weighted()
    loss = criterion(task, "discounted")
    _, _, own, _ = in_numpy(task, model, sample, 0.01)
    with metrics.aggregate(new_root=True) as meters:
        logged = loss(model, sample)[2]
        type(loss).reduce_metrics([logged, logged])
    tokens = int(logged["current_ntokens"])
    assert meters.get_smoothed_values()["token_weight"] == pytest.approx(own / tokens, abs=1e-3)


def test_a_worker_without_a_batch_of_its_own_logs_the_same_names():
    """fairseq gives it one of the last validation, without weights, and adds up what all have logged."""
    task, model, sample = weighted()
    task.cfg.token_weights = "tags"
    loss = criterion(task, "discounted")
    plain = {key: value for key, value in sample.items() if key != "token_weights"}
    own, other = (loss(model, each)[2] for each in (sample, plain))
    assert list(own) == list(other) and other["token_weight"] == other["current_ntokens"]
    assert "token_weight" not in loss.eval()(model, plain)[2]  # a validation


def test_pads_and_the_ignored_prefix_have_no_weight():
    task, model, sample = weighted("gated")
    loss = criterion(task, "discounted")
    before = loss(model, sample)[0]
    pads = sample["target"].eq(task.target_dictionary.pad())
    first = torch.zeros_like(sample["token_weights"])
    first[:, 0] = 100

    def with_more(more):
        return loss(model, {**sample, "token_weights": sample["token_weights"] + more})[0]

    assert pads.any() and torch.equal(before, with_more(9 * pads))
    assert not torch.equal(before, with_more(first))
    loss.ignore_prefix_size = 1
    assert torch.equal(with_more(0), with_more(first))


def test_a_criterion_without_weights_is_refused():
    task, _ = build("gated")
    task.cfg.token_weights = "tags"
    name = "label_smoothed_cross_entropy"
    cfg = LabelSmoothedCrossEntropyCriterionConfig(_name=name, sentence_avg=False)
    with pytest.raises(BadInput, match=f"--token-weights: --criterion {name} has no weights"):
        task.build_criterion(cfg)
