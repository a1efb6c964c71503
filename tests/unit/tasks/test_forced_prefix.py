"""The forced prefix against fairseq's own ``prefix_tokens``, which decodes it step by step."""

import random

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from tests.helpers.concat_models import EOS, OPTIONS, PAD, TASK, TGT_SEP, batch, make, wanted

SIZES = {
    f"{side}_{name}": value
    for side in ("encoder", "decoder")
    for name, value in {"embed_dim": 32, "ffn_embed_dim": 48, "layers": 2, "attention_heads": 4}.items()
}
LEARNED = {"encoder_learned_pos": True, "decoder_learned_pos": True}
MODELS = {
    "stock": {"arch": "transformer"},
    "stock learned positions": {"arch": "transformer", **LEARNED},
    "stock with normalisation before": {"arch": "transformer", "decoder_normalize_before": True},
    "recurrent": {"arch": "context_gru_tiny"},
    **OPTIONS,
}
LONGEST = 9


def models_of(options, members):
    models = [make(**{**SIZES, **options}, seed=seed) for seed in range(1, members + 1)]
    for model in models:  # sentences of several lengths: sharp probabilities, and </s> among the likely words
        words, features = model.decoder.output_projection.weight.shape
        sharp = torch.nn.Linear(features, words)
        sharp.weight.data = 4 * model.decoder.output_projection.weight.data
        sharp.bias.data = 3.0 * torch.arange(words).eq(EOS)
        model.decoder.output_projection = sharp
    return models


def windows(rows, seed=0):
    """Random source windows, and target contexts of 0 to 3 sentences, some of them empty."""
    draw = random.Random(seed)

    def sentences(count, shortest):
        return [[draw.randrange(1, 10) for _ in range(draw.randrange(shortest, 5))] for _ in range(count)]

    contexts = [row % 4 for row in range(rows)]
    return [sentences(1 + count, 1) for count in contexts], [sentences(count, 0) for count in contexts]


def net_input(model, sources, contexts):
    targets = [[*context, [1]] for context in contexts]  # only the number of sentences is used
    inputs = wanted(model, batch(sources, targets)) if hasattr(model, "context_format") else batch_of(sources)
    return {name: value for name, value in inputs.items() if name != "prev_output_tokens"}


def batch_of(sources):
    inputs = batch(sources, [[[1]]] * len(sources))
    return {name: inputs[name] for name in ("src_tokens", "src_lengths")}


def prefix(context):
    tokens = [token for sentence in context for token in [*(10 + word for word in sentence), TGT_SEP]]
    return torch.tensor(tokens, dtype=torch.long)


def texts(nbest):
    return [hypothesis["tokens"].tolist() for hypothesis in nbest]


def forced(models, sources, contexts, beam, separator=None, **options):
    ensemble = ForcedPrefixEnsemble(models, EOS, PAD)
    ensemble.separator, ensemble.end = separator, EOS
    settings = {"len_penalty": 0.0, "max_len_b": LONGEST, **options}
    generator = SequenceGenerator(ensemble, TASK.target_dictionary, beam_size=beam, **settings)
    ensemble.prefixes = [prefix(context) for context in contexts]
    return generator.generate(models, {"net_input": net_input(models[0], sources, contexts)})


def stock(models, source, context, beam):
    """One window, its prefix decoded token by token; hypotheses without the prefix and its scores."""
    before = prefix(context)
    generator = SequenceGenerator(
        models,
        TASK.target_dictionary,
        beam_size=beam,
        len_penalty=0.0,
        max_len_b=len(before) + LONGEST,
        min_len=len(before) + 1,
    )
    sample = {"net_input": net_input(models[0], [source], [context])}
    (nbest,) = generator.generate(models, sample, prefix_tokens=before[None] if len(before) else None)
    for hypothesis in nbest:
        assert hypothesis["tokens"][: len(before)].tolist() == before.tolist()
        scores = hypothesis["positional_scores"]
        yield (
            hypothesis["tokens"][len(before) :].tolist(),
            scores[len(before) :],
            float(hypothesis["score"] - scores[: len(before)].sum()),
        )


@pytest.mark.parametrize(("beam", "members"), [(1, 1), (4, 2)])
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_hypotheses_and_scores_are_those_of_stock_prefix_tokens(options, beam, members):
    models = models_of(options, members)
    sources, contexts = windows(8)
    lengths = set()
    for row, nbest in enumerate(forced(models, sources, contexts, beam)):
        expected = list(stock(models, sources[row], contexts[row], beam))
        assert texts(nbest) == [tokens for tokens, _, _ in expected]
        for hypothesis, (tokens, scores, score) in zip(nbest, expected, strict=True):
            torch.testing.assert_close(hypothesis["positional_scores"], scores, atol=1e-4, rtol=1e-4)
            assert float(hypothesis["score"]) == pytest.approx(score, abs=2e-4)
            lengths.add(len(tokens))
    assert beam == 1 or len(lengths) > 1  # rows leave the batch at different times


@pytest.mark.parametrize("options", [MODELS["stock learned positions"], MODELS["shift"], MODELS["flag"]])
def test_batch_mates_change_nothing(options):
    models = models_of(options, 1)
    sources, contexts = windows(8, seed=1)
    for row, nbest in enumerate(forced(models, sources, contexts, beam=3)):
        (alone,) = forced(models, sources[row : row + 1], contexts[row : row + 1], beam=3)
        assert texts(nbest) == texts(alone)
        for ours, theirs in zip(nbest, alone, strict=True):
            scores = theirs["positional_scores"]
            torch.testing.assert_close(ours["positional_scores"], scores, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["stock", "stock learned positions", "shift", "learned"])
def test_a_batch_mate_s_prefix_takes_no_room(name):
    """Each row ends where its own prefix leaves no position."""
    models = models_of({**MODELS[name], "max_target_positions": 24}, 1)
    models[0].decoder.output_projection.bias.data[EOS] = -100.0
    sources, contexts = windows(8, seed=1)
    generator = SequenceGenerator(
        ForcedPrefixEnsemble(models, EOS, PAD), TASK.target_dictionary, beam_size=3, max_len_b=50
    )

    def lengths(rows):
        generator.model.prefixes = [prefix(contexts[row]) for row in rows]
        generator.max_len = max(generator.model.rooms()) + 1
        inputs = net_input(models[0], [sources[row] for row in rows], [contexts[row] for row in rows])
        return [texts(nbest) for nbest in generator.generate(models, {"net_input": inputs})]

    together = lengths(range(8))
    assert together == [lengths([row])[0] for row in range(8)]
    for row, nbest in enumerate(together):
        assert {len(tokens) for tokens in nbest} == {24 - len(prefix(contexts[row]))}


def test_attention_to_source_and_target_at_once_is_refused():
    """fairseq's: there would be no keys of the target context alone."""
    models = models_of({"arch": "transformer", "cross_self_attention": True, "no_cross_attention": True}, 1)
    with pytest.raises(BadInput, match="cannot read a target context at once"):
        forced(models, *windows(2), beam=2)


def test_a_sentence_ends_with_a_separator_where_that_is_likelier():
    models = models_of(MODELS["flag"], 1)
    models[0].decoder.output_projection.bias.data[[EOS, TGT_SEP]] = torch.tensor([1.0, 3.0])
    sources, contexts = windows(32)
    found, short = forced(models, sources, contexts, 1, TGT_SEP), 0
    for row, (best,) in enumerate(found):
        ((tokens, scores, _),) = stock(models, sources[row], contexts[row], 1)
        end = tokens.index(TGT_SEP) if TGT_SEP in tokens else len(tokens) - 1
        if end:  # else stock fairseq begins with a separator
            assert best["tokens"].tolist() == [*tokens[:end], EOS]
            torch.testing.assert_close(best["positional_scores"], scores[: end + 1], atol=1e-4, rtol=1e-4)
            short += end + 1 < len(tokens)
    assert 4 < short < 20 and all(TGT_SEP not in best["tokens"] for (best,) in found)


def test_no_row_has_a_prefix():
    models = models_of(MODELS["stock"], 1)
    sources, _ = windows(3)
    for row, nbest in enumerate(forced(models, sources, [[]] * 3, beam=2)):
        assert texts(nbest) == [tokens for tokens, _, _ in stock(models, sources[row], [], 2)]


def test_lengths_and_scores_count_the_current_sentence_only():
    models = models_of(MODELS["shift"], 1)
    sources, contexts = windows(6)
    for nbest in forced(models, sources, contexts, beam=3, len_penalty=0.6, min_len=3, max_len_b=5):
        for hypothesis in nbest:
            length = len(hypothesis["tokens"])
            assert 3 < length <= 6  # with </s>
            total = float(hypothesis["positional_scores"].sum())
            assert float(hypothesis["score"]) == pytest.approx(total / length**0.6, abs=1e-4)


def test_the_ensemble_is_reused_and_leaves_no_trace_in_its_models():
    models = models_of(MODELS["stock learned positions"], 1)
    positions = models[0].decoder.embed_positions
    sources, contexts = windows(4)
    first = forced(models, sources, contexts, beam=2)
    assert models[0].decoder.embed_positions is positions
    for module in models[0].modules():
        assert not module._forward_pre_hooks and not module._forward_hooks and "forward" not in vars(module)
    again = forced(models, sources, contexts, beam=2)
    for ours, theirs in zip(first, again, strict=True):
        assert torch.equal(ours[0]["positional_scores"], theirs[0]["positional_scores"])
