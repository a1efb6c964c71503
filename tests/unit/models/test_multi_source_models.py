"""What every multi-source architecture must prove, on tiny sizes: context counts, absent context does not."""

import numpy as np
import pytest
import torch

from tests.helpers.multi_source_models import CASES, dataset, logits, make
from tests.helpers.random_models import (
    check_beam_search,
    check_step_by_step,
    cross_entropy,
    stock_twin,
    without_context,
)
from tests.helpers.window_datasets import EOS, PAD, VOCABULARY

LINES = [0, 1, 4, 8, 9, 11, 23, 24, 25, 30, 42]
every_case = pytest.mark.parametrize("case", CASES)


def batch_of(data, lines=LINES):
    return data.collater([data[line] for line in lines])


@every_case
def test_context_is_used_and_nothing_else_in_the_batch_is(case):
    model = make(case)
    data = dataset(model, target_context=0)
    together = logits(model, batch_of(data))
    other = logits(model, batch_of(dataset(model, target_context=0, context_selection="random")))
    for row, line in enumerate(LINES):
        alone = logits(model, batch_of(data, [line]))
        torch.testing.assert_close(together[row : row + 1, : alone.size(1)], alone, atol=1e-5, rtol=1e-5)
        assert (
            together[row] - other[row]
        ).abs().max() > 1e-3 or line == 9  # the only sentence of its document


@every_case
def test_without_context_it_is_the_stock_transformer(case):
    own = {"current_in_context": "no"} if case.startswith("caching") else {}  # else there always is context
    model = make(case, **own)
    stock = stock_twin(model)
    batch = batch_of(dataset(model, context_selection="absent"))
    with torch.no_grad():
        expected = stock(**without_context(batch)["net_input"])[0]
        torch.testing.assert_close(model(**batch["net_input"])[0], expected, atol=1e-6, rtol=1e-5)
    alone = batch_of(dataset(model), [9])  # no context in its document
    torch.testing.assert_close(logits(model, alone)[0], expected[batch["id"].tolist().index(9)][:
                               alone["target"].size(1)], atol=1e-5, rtol=1e-5)  # fmt: skip


@every_case
def test_a_step_at_a_time_is_all_at_once(case):
    model = make(case)
    check_step_by_step(model, batch_of(dataset(model)))


@pytest.mark.parametrize("case", ["context encoder", "dual hierarchical", "caching sentence"])
def test_a_decoder_narrower_than_the_encoder(case):
    model = make(case, decoder_embed_dim=64)
    data = dataset(model, target_context=0)
    check_step_by_step(model, batch_of(data))
    check_beam_search(model, batch_of(data), lambda line: batch_of(data, [line]))


@every_case
def test_beam_search_does_not_depend_on_the_batch(case):
    model = make(case)
    data = dataset(model, target_context=0)
    check_beam_search(model, batch_of(data, [1, 4, 9, 24]), lambda line: batch_of(data, [line]))


@every_case
@pytest.mark.parametrize("selection", ["document", "absent", "empty"])
def test_loss_and_gradients_are_finite(case, selection):
    model = make(case).train()
    batch = batch_of(dataset(model, context_selection=selection))
    loss = cross_entropy(model, batch)
    loss.backward()
    assert torch.isfinite(loss)
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert all(torch.isfinite(gradient).all() for gradient in gradients.values() if gradient is not None)
    if selection == "document":
        unused = [
            name for name, gradient in gradients.items() if gradient is None or not gradient.abs().sum()
        ]
        # The key's bias moves all scores alike; pads have no embedding.
        assert not [name for name in unused if not name.endswith("k_proj.bias")], unused


@every_case
@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("selection", ["document", "absent", pytest.param("empty", marks=pytest.mark.slow)])
def test_half_precision(case, precision, selection):
    model = make(case).to(precision)
    batch = batch_of(dataset(model, context_selection=selection), [4, 9, 11])  # the second has no context
    assert torch.isfinite(logits(model, batch)).all()
    cross_entropy(model.train(), batch).backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@every_case
def test_save_and_reload(case, tmp_path):
    model = make(case)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    again = make(case, seed=2)
    batch = batch_of(dataset(model))
    assert not torch.equal(logits(again, batch), logits(model, batch))
    again.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(logits(again, batch), logits(model, batch))


@pytest.mark.parametrize("case", [case for case in CASES if case != "dual joined"])
def test_encoding_each_sentence_once_changes_nothing(case):
    model = make(case).double()
    once = dataset(model, batch_runs=4)
    lines = list(range(10, 20))
    anew, shared = batch_of(dataset(model), lines), batch_of(once, lines)
    assert len(shared["windows"]["tokens"]) < len(anew["windows"]["tokens"])
    torch.testing.assert_close(logits(model, shared), logits(model, anew), atol=1e-5, rtol=1e-5)
    gradients = []
    for batch in (anew, shared):
        model.zero_grad()
        output = model(**batch["net_input"])[0]
        torch.nn.functional.cross_entropy(
            output.flatten(0, 1), batch["target"].flatten(), ignore_index=PAD, reduction="sum"
        ).backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, atol=1e-5, rtol=1e-5, msg=name)


def test_the_rows_of_a_batch_are_its_sentences():
    data = dataset(context_selection="document")
    batch = batch_of(data, [4, 9])
    windows = batch["windows"]
    tokens = windows["tokens"][windows["index"]].masked_fill(windows["index"].lt(0)[..., None], PAD)
    assert tokens.shape[:2] == (2, 4)
    row = batch["id"].tolist().index(4)
    expected = [data.target[3], data.source[2], data.source[3], data.source[5]]
    for found, sentence in zip(tokens[row], expected, strict=True):
        assert found[found != PAD].tolist() == sentence.tolist()
    assert windows["distances"][row].tolist() == [1, 2, 1, 1]
    assert windows["roles"][row].tolist() == [2, 0, 0, 1]
    assert tokens[1 - row].eq(PAD).all()  # line 9 is alone in its document


def test_bos_stands_before_context_only_and_joined_context_is_one_row():
    model = make("gated")
    batch = batch_of(dataset(model), [4])
    assert batch["net_input"]["context"]["tokens"][:, 0].eq(VOCABULARY.bos()).all()
    assert not batch["net_input"]["src_tokens"].eq(VOCABULARY.bos()).any()
    joined = batch_of(dataset(make("dual joined")), [4])["net_input"]["context"]["tokens"]
    assert len(joined) == 1
    assert (joined == VOCABULARY.index("<sep>")).sum() == 3 and (joined == EOS).sum() == 1


@pytest.mark.parametrize(
    "selection,row", [("empty", [EOS]), ("absent", []), ("swapped", None), ("reference", None)]
)
def test_selections(selection, row):
    data = dataset(context_selection=selection)
    example = data[4]
    if row is not None:
        texts = [[] if text is None else text.tolist() for text in example["context"]]
        assert texts == [row] * (4 if selection == "empty" else 1)
    elif selection == "swapped":
        assert example["context"][0].tolist() == data.source[4].tolist() == example["current"].tolist()
        assert example["source"].tolist() != data.source[4].tolist()
    else:
        assert [text.tolist() for text in example["context"]] == [data.target[4].tolist()]


@pytest.mark.parametrize("lines", [1, 5, 43])
@pytest.mark.parametrize("batch_runs", [0, 1, 4, 100])
def test_no_sentence_is_lost(lines, batch_runs):
    data = dataset(lengths=(lines,), batch_runs=batch_runs)
    indices = data.ordered_indices()
    batches = data.batch_by_size(indices, max_tokens=200, max_sentences=8, required_batch_size_multiple=8)
    assert sorted(np.concatenate(batches).tolist()) == list(range(lines))
    assert all(len(batch) <= 8 for batch in batches)


def test_runs_are_consecutive_and_differ_between_epochs():
    data = dataset(lengths=(40, 3, 40), batch_runs=8, training=True)
    cuts = []
    for epoch in (1, 2, 3, 4):
        data.set_epoch(epoch)
        batches = data.batch_by_size(data.ordered_indices(), max_tokens=10**6, max_sentences=8)
        assert sorted(np.concatenate(batches).tolist()) == list(range(83))
        cuts.append(sorted(tuple(np.diff(sorted(batch))) for batch in batches))
        assert sum((np.diff(sorted(batch)) == 1).sum() for batch in batches) >= 83 - 2 * len(batches) - 3
    assert len({str(cut) for cut in cuts}) > 1


def test_runs_of_equal_size_come_in_an_order_drawn_for_each_epoch():
    def batches(epoch, training):
        data = dataset(
            lengths=(4,) * 20, longest=0, batch_runs=1, training=training, context_selection="absent"
        )
        data.set_epoch(epoch)
        found = data.batch_by_size(data.ordered_indices(), max_tokens=10**6, max_sentences=4)
        return [batch.tolist() for batch in found]

    in_order = np.arange(80).reshape(20, 4).tolist()
    assert batches(1, training=False) == batches(2, training=False) == in_order
    assert batches(1, training=True) == batches(1, training=True) != batches(2, training=True)
    assert batches(1, training=True) != in_order


def test_a_limit_holds_for_each_sentence_not_for_their_sum():
    data = dataset(longest=9)
    kept, left_out = data.filter_indices_by_size(np.arange(len(data)), (10, 1000))
    assert not left_out and data.window_sizes.source.max() > 10
    assert (data.window_sizes.source == data.whole_sizes.source).all()
    long = int(np.argmax(data.source.sizes))
    limit = int(data.source.sizes[long]) - 1
    kept, left_out = data.filter_indices_by_size(np.arange(len(data)), (limit, 1000))
    assert set(left_out) == {line for line in range(len(data)) if data.source.sizes[line] > limit}
    for line in kept.tolist():
        assert all(text is None or len(text) <= limit for text in data[line]["context"])
